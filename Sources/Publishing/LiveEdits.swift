package import Manifest
package import Names
import Trust

extension RegistryDraft {
    /// Changes the channels of a model; signed by whoever may put its versions into use.
    ///
    /// - Throws: `PublishingError.unpublishable` when the edit breaks a rule of live documents.
    package mutating func editLive(
        _ model: ModelName,
        _ note: String,
        _ change: (LiveDocument) throws(ManifestError) -> LiveDocument
    ) throws(PublishingError) {
        guard hasModel(model) else {
            throw .unpublishable("there is no model \(model) here; ‘sealift publish’ or ‘model add’ adds one")
        }
        let path = LiveDocument.targetPath(model: model)
        do {
            let before =
                try contents[path].map { bytes throws(ManifestError) in
                    try LiveDocument(canonical: bytes, at: path)
                } ?? base.live(of: model)
            let after = try change(before)
            guard after != before else { return }
            try list(path, try after.encoded(), in: .live(model), note)
        } catch let error as PublishingError { throw error } catch { throw .unpublishable("\(error)") }
    }

    /// A released version by name.
    package func listed(_ version: ModelVersion, of model: ModelName) throws(PublishingError) -> ListedVersion
    {
        guard let digest = base.released(of: model)[version] else {
            throw .unpublishable(
                "\(model) \(version) is not released; ‘sealift history \(model)’ lists what is"
            )
        }
        return ListedVersion(version: version, manifest: digest)
    }
}
