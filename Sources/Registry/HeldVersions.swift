package import Manifest
package import Names
import Trust

/// A hold with the name of the version that it stops.
package struct HeldVersion: Sendable, Equatable {
    package let model: ModelName

    /// `nil` for a manifest that is not published here.
    package let version: ModelVersion?
    package let hold: Hold
}

extension Registry {
    /// Every hold that has not ended, by model and version.
    ///
    /// - Parameters:
    ///   - store: Where the registry is kept.
    ///   - model: Only of this one; of all with `nil`.
    ///   - now: The local time.
    /// - Returns: What devices skip now.
    /// - Throws: `RegistryError`, for a stored document that cannot be read.
    package static func holds(
        in store: any RegistryStore,
        of model: ModelName? = nil,
        at now: UnixTime
    ) throws(RegistryError) -> [HeldVersion] {
        guard let file = try store.newest(SealiftRole.hold.name) else { return [] }
        let published = try store.publishedVersions()
        var held: [HeldVersion] = []
        do {
            let role: TargetsDocument = try Claim.document(in: file.bytes, role: SealiftRole.hold.roleName)
            for (path, target) in role.targets.sorted(by: { $0.key < $1.key }) {
                guard let digest = target.sha256, let content = try store.document("\(path)", digest) else {
                    continue
                }
                let document = try HoldDocument(canonical: content.bytes, at: "\(path)")
                guard model == nil || document.model == model else { continue }
                for hold in document.holds where now < hold.until {
                    let named = published.first { $0.model == document.model && $0.manifest == hold.manifest }
                    held.append(HeldVersion(model: document.model, version: named?.version, hold: hold))
                }
            }
        } catch let error as RegistryError { throw error } catch {
            throw .damaged(what: "role \(SealiftRole.hold.name)", reason: "\(error)")
        }
        return held
    }
}
