import Blobs
package import Manifest
package import Names
import Trust

/// A model as the registry's operator sees it; evidence is what a device verifies, not this.
package struct ModelOverview: Sendable, Equatable {
    package let model: ModelName

    /// Highest precedence first.
    package let versions: [PublishedVersion]

    /// What is in use; `nil` before the first live document.
    package let live: LiveDocument?

    package init(model: ModelName, versions: [PublishedVersion], live: LiveDocument?) {
        self.model = model
        self.versions = versions
        self.live = live
    }
}

/// A role and until when its signature lives.
package struct RoleLife: Sendable, Equatable {
    package let role: String
    package let expires: UnixTime
}

extension Registry {
    /// The published models, by name.
    package func overview() throws(RegistryError) -> [ModelOverview] {
        let versions = try store.publishedVersions()
        var overview: [ModelOverview] = []
        for (model, versions) in Dictionary(grouping: versions, by: \.model).sorted(by: { $0.key < $1.key }) {
            overview.append(ModelOverview(model: model, versions: versions, live: try live(model)))
        }
        return overview
    }

    private func live(_ model: ModelName) throws(RegistryError) -> LiveDocument? {
        let role = SealiftRole.live(model)
        guard let file = try store.newest(role.name) else { return nil }
        do {
            let document: TargetsDocument = try Claim.document(in: file.bytes, role: role.roleName)
            let path = LiveDocument.targetPath(model: model)
            guard let digest = document.targets[TargetPath(path)]?.sha256,
                let content = try store.document(path, digest)
            else { return nil }
            return try LiveDocument(canonical: content.bytes)
        } catch let error as RegistryError {
            throw error
        } catch {
            throw .damaged(what: "role \(role) version \(file.version)", reason: "\(error)")
        }
    }

    /// Until when the roles live that no single model's team signs.
    package func lives() throws(RegistryError) -> [RoleLife] {
        var lives: [RoleLife] = []
        let versions = try store.read { view throws(RegistryError) in try view.versions() }
        for name in versions.keys.sorted() {
            switch PostableRole(name) {
            case .targets(.release), .targets(.live): continue
            default: break
            }
            guard let file = try store.newest(name) else { continue }
            lives.append(RoleLife(role: name, expires: try expiry(of: file.bytes, role: RoleName(name))))
        }
        if let timestamp = try store.timestamp() {
            let expires = try expiry(of: timestamp.bytes, role: .timestamp)
            lives.append(RoleLife(role: "timestamp", expires: expires))
        }
        return lives
    }

    private func expiry(of bytes: [UInt8], role: RoleName) throws(RegistryError) -> UnixTime {
        do { return try Claim.expiry(of: bytes, role: role) } catch {
            throw .damaged(what: "role \(role)", reason: "\(error)")
        }
    }

    /// Below this the registry can neither sign again nor take a version.
    package static let leastSpace = ByteCount.mebibytes(16)

    /// Reads what every answer needs: the timestamp, the database, and a blob if there is one.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - space: What must be free on the disk.
    /// - Throws: What stands in the way of serving.
    package func checkReadiness(
        now: UnixTime,
        leaving space: ByteCount = leastSpace
    ) throws(RegistryError) {
        guard !store.isGone else {
            throw .storage(reason: "the database file was deleted, moved or replaced")
        }
        let free: ByteCount
        do { free = try blobs.freeSpace() } catch { throw .storage(reason: "\(error)") }
        guard free >= space else {
            throw .storage(reason: "only \(free) free where blobs are stored; \(space) are needed")
        }
        guard let timestamp = try store.timestamp() else { throw .notCreated }
        let expires = try expiry(of: timestamp.bytes, role: .timestamp)
        guard now < expires else {
            throw .lifetime(role: "timestamp", expires: expires, now: now, latest: expires)
        }
        guard let digest = try store.someBlob() else { return }
        guard blobs.contains(digest) else {
            throw .damaged(what: "the blob store", reason: "blob \(digest) is recorded but not there")
        }
    }
}
