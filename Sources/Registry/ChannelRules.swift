import Manifest
import Names
import Signing
import Trust

extension DocumentRules {
    /// What a live role says of the channels of a model; `nil` when it says nothing that can be read.
    func channels(of model: ModelName, _ role: TargetsDocument) throws(RegistryError) -> LiveDocument? {
        let path = TargetPath("\(model)/live.json")
        guard let file = role.targets[path], let content = try content(path, file) else { return nil }
        return try? LiveDocument(canonical: content)
    }

    /// Every version that a channel lists is one that the release role lists, with the same manifest.
    func checkChannels(
        of model: ModelName,
        live: TargetsDocument,
        release: TargetsDocument?
    ) throws(RegistryError) {
        let path = TargetPath("\(model)/live.json")
        guard let file = live.targets[path] else { return }
        guard let content = try content(path, file) else {
            throw .damaged(what: "\(path)", reason: "the role lists it but it is not stored")
        }
        let document: LiveDocument
        do { document = try LiveDocument(canonical: content) } catch {
            throw .badDocument(path: "\(path)", reason: "\(error)")
        }
        for (name, channel) in document.channels.sorted(by: { $0.key < $1.key }) {
            for listed in channel.versions {
                let manifest = TargetPath(ModelManifest.targetPath(model: model, version: listed.version))
                guard let released = release?.targets[manifest]?.sha256 else {
                    throw .unreleased(
                        model: model,
                        channel: name,
                        version: listed.version,
                        reason: "its release role does not list \(manifest); release the version first"
                    )
                }
                guard released == listed.manifest else {
                    throw .unreleased(
                        model: model,
                        channel: name,
                        version: listed.version,
                        reason: "expected manifest \(released) as released, found \(listed.manifest)"
                    )
                }
            }
        }
    }
}
