package import Manifest
package import Names
package import Transfer
package import Trust

/// What a publisher or an auditor sees of a registry: its chain, verified as a device verifies it.
package struct VerifiedRegistry {
    private var updater: MetadataUpdater
    private let fetcher: any Fetching
    private let location: RepositoryLocation

    package init(updater: MetadataUpdater, fetcher: any Fetching, location: RepositoryLocation) {
        self.updater = updater
        self.fetcher = fetcher
        self.location = location
    }

    /// Brings the chain up to date.
    package mutating func refresh() async throws(PublishingError) {
        do { try await updater.refresh() } catch { throw .chain(error) }
    }

    /// The verified top-level targets role.
    package func targets() throws(PublishingError) -> TargetsDocument {
        guard let targets = updater.targets else { throw .usage("the registry's chain was not read yet") }
        return targets.document
    }

    /// The three roles that speak for a model.
    package mutating func roles(of model: ModelName) async throws(PublishingError) -> ModelRoles {
        let namespace = try await role(.namespace(model.namespace))
        guard let delegations = namespace?.delegations else {
            return ModelRoles(namespace: namespace, release: nil, live: nil)
        }
        let release = SealiftRole.release(model)
        let live = SealiftRole.live(model)
        return ModelRoles(
            namespace: namespace,
            release: delegations[release.roleName] == nil ? nil : try await role(release),
            live: delegations[live.roleName] == nil ? nil : try await role(live)
        )
    }

    /// The document at `path` as `role` lists it; `nil` when it lists none.
    package func content(of path: String, in role: TargetsDocument?) async throws(PublishingError) -> [UInt8]?
    {
        guard let file = role?.targets[TargetPath(path)] else { return nil }
        guard let digest = file.sha256 else {
            throw .unpublishable("\(path) is listed without a SHA-256 digest")
        }
        let url = location.target(path, digest: digest)
        do {
            let request = FetchRequest(url: url, maximumLength: Limits.manifest)
            guard case .bytes(let bytes, _) = try await fetcher.fetch(request) else {
                throw FetchError.outage(.absent, url: url)
            }
            guard file.describes(bytes) else {
                throw FetchError.refused(.malformedAnswer(detail: "not the bytes that are signed"), url: url)
            }
            return bytes
        } catch let error as FetchError { throw .transfer(error) } catch { throw .usage("\(error)") }
    }

    /// The verified `live.json` of a model; one without channels when none is published.
    package func live(
        of model: ModelName,
        in role: TargetsDocument?
    ) async throws(PublishingError) -> LiveDocument {
        let path = LiveDocument.targetPath(model: model)
        guard let bytes = try await content(of: path, in: role) else { return LiveDocument(model: model) }
        do { return try LiveDocument(canonical: bytes, at: path) } catch {
            throw .unpublishable("the registry's \(path) cannot be used: \(error)")
        }
    }

    private mutating func role(_ role: SealiftRole) async throws(PublishingError) -> TargetsDocument? {
        do { return try await updater.role(role)?.document } catch { throw .chain(error) }
    }
}
