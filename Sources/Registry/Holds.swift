package import Manifest
package import Names
import Signing
import Trust

/// The brake: what the registry's own key may say about a model without anybody else.
///
/// It only ever subtracts, only from new activations, and for seven days at
/// most; whoever has the online key can delay a release and never make one.
extension Registry {
    /// Holds a published version, or prolongs its hold.
    ///
    /// - Returns: The model's hold document as devices see it from now on.
    /// - Throws: `RegistryError.badDocument` for a version that is not published, or a hold that devices would ignore.
    package func hold(
        _ version: ModelVersion,
        of model: ModelName,
        reason: String,
        seconds: Int64,
        now: UnixTime
    ) async throws(RegistryError) -> HoldDocument {
        try await changeHolds(of: model, now: now) { view, document, time throws(RegistryError) in
            let manifest = try published(version, of: model, view)
            let hold = Hold(
                manifest: manifest,
                reason: reason,
                since: time,
                until: time.adding(seconds: seconds)
            )
            if let excess = hold.excess(at: time) {
                throw .badDocument(path: document.targetPath, reason: "\(excess); devices would ignore it")
            }
            document.holds.removeAll { $0.manifest == manifest }
            document.holds.append(hold)
        }
    }

    /// Takes a hold back.
    ///
    /// - Throws: `RegistryError.badDocument` for a version that is not held.
    package func unhold(
        _ version: ModelVersion,
        of model: ModelName,
        now: UnixTime
    ) async throws(RegistryError) -> HoldDocument {
        try await changeHolds(of: model, now: now) { view, document, _ throws(RegistryError) in
            let manifest = try published(version, of: model, view)
            guard document.holds.contains(where: { $0.manifest == manifest }) else {
                throw .badDocument(path: document.targetPath, reason: "\(model) \(version) is not held")
            }
            document.holds.removeAll { $0.manifest == manifest }
        }
    }

    private func published(
        _ version: ModelVersion,
        of model: ModelName,
        _ view: any RegistryView
    ) throws(RegistryError) -> Digest {
        guard let manifest = try view.manifest(model, version) else {
            throw .badDocument(
                path: HoldDocument.targetPath(model: model),
                reason: "\(model) \(version) is not published here"
            )
        }
        return manifest
    }

    private func changeHolds(
        of model: ModelName,
        now: UnixTime,
        _ change: @Sendable (any RegistryView, inout HoldDocument, UnixTime) throws(RegistryError) -> Void
    ) async throws(RegistryError) -> HoldDocument {
        let keys = keys
        let path = HoldDocument.targetPath(model: model)
        _ = try await store.commit { view throws(RegistryError) in
            let online = try keys.roles(view, now: now)
            let time = try online.issueTime(view, now: now)
            let stored = try view.newest(SealiftRole.hold.name)
            var document = try Self.holds(of: model, in: stored, view)
            // What has ended has no effect any more, so it does not pile up.
            document.holds.removeAll { $0.until <= time }
            try change(view, &document, time)
            let bytes: [UInt8]
            do { bytes = try document.encoded() } catch { throw .badDocument(path: path, reason: "\(error)") }
            let target = TargetDocument(path: path, sha256: SHA256.digest(of: bytes), bytes: bytes)
            var builder = RevisionBuilder(
                after: try view.versions(),
                logSize: try view.logSize(),
                time: time
            )
            if try view.document(path, target.sha256) == nil { builder.add(document: target) }
            try builder.add(
                try online.hold(after: stored, listing: target, issued: time),
                changes: ["hold \(model): \(document.holds.count) held"]
            )
            try builder.close(signedBy: online)
            return builder.revision
        }
        _ = try await publish(now: now)
        return try store.read { view throws(RegistryError) in
            try Self.holds(of: model, in: try view.newest(SealiftRole.hold.name), view)
        }
    }

    private static func holds(
        of model: ModelName,
        in stored: RoleFile?,
        _ view: any RegistryView
    ) throws(RegistryError) -> HoldDocument {
        let path = HoldDocument.targetPath(model: model)
        guard let stored else { return HoldDocument(model: model) }
        do {
            let role: TargetsDocument = try Claim.document(in: stored.bytes, role: SealiftRole.hold.roleName)
            guard let digest = role.targets[TargetPath(path)]?.sha256,
                let content = try view.document(path, digest)
            else { return HoldDocument(model: model) }
            return try HoldDocument(canonical: content.bytes, at: path)
        } catch let error as RegistryError { throw error } catch {
            throw .damaged(what: path, reason: "\(error)")
        }
    }
}
