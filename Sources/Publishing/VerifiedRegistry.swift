import Manifest
import Names
package import Transfer
package import Trust

/// What a publisher or an auditor sees of a registry: its chain, verified as a device verifies it.
package struct VerifiedRegistry {
    private var updater: MetadataUpdater
    private let renewing: MetadataUpdater
    private let fetcher: any Fetching
    private let location: RepositoryLocation

    /// - Parameters:
    ///   - updater: Follows the chain as a device does.
    ///   - renewing: Follows it by a clock at which nothing has ended yet, for those who renew what has.
    ///   - fetcher: Gets documents and old roots.
    ///   - location: Where they are.
    package init(
        updater: MetadataUpdater,
        renewing: MetadataUpdater,
        fetcher: any Fetching,
        location: RepositoryLocation
    ) {
        self.updater = updater
        self.renewing = renewing
        self.fetcher = fetcher
        self.location = location
    }

    /// As of the last refresh.
    var currentRoot: Verified<RootDocument>? { updater.root }
    var currentSnapshot: Verified<SnapshotDocument>? { updater.snapshot }
    var currentTimestamp: Verified<TimestampDocument>? { updater.timestamp }

    /// Brings the chain up to date.
    package mutating func refresh() async throws(PublishingError) {
        do { try await updater.refresh() } catch { throw .chain(error) }
    }

    /// As ``refresh()``, also while root or targets have ended: whoever signs them must be able to build on them.
    ///
    /// All but the end of signatures is checked. Nothing that is read here is
    /// used on a device, and what is signed on top is judged by the rehearsal
    /// and by the registry.
    package mutating func refreshToRenew() async throws(PublishingError) {
        do { try await updater.refresh() } catch {
            guard case .refused(.expired(let role, _, _)) = error, role == .root || role == .targets else {
                throw .chain(error)
            }
            var tolerant = renewing
            do { try await tolerant.refresh() } catch { throw .chain(error) }
            updater = tolerant
        }
    }

    /// What a change of this scope builds on, as of the last refresh.
    package mutating func state(of scope: StateScope) async throws(PublishingError) -> RegistryState {
        guard let root = updater.root, let snapshot = updater.snapshot else {
            throw .usage("the registry's chain was not read yet")
        }
        let wanted: [SealiftRole]
        switch scope {
        case .model(let model):
            wanted = [.targets, .namespace(model.namespace), .release(model), .live(model)]
        case .everything: wanted = snapshot.document.roles.keys.sorted().compactMap { SealiftRole($0) }
        }
        var roles: [SealiftRole: Verified<TargetsDocument>] = [:]
        for role in wanted.sorted(by: { $0.depth < $1.depth }) {
            do { roles[role] = try await updater.role(role) } catch {
                guard case .refused(.expired) = error else { throw .chain(error) }
                let parent = role.delegator.flatMap { roles[$0] }
                roles[role] = try await expired(
                    role,
                    under: parent,
                    as: snapshot.document.roles[role.roleName]
                )
            }
            guard let document = roles[role]?.document else { continue }
            do { try SealiftShapes.check(role, document: document) } catch { throw .chain(.refused(error)) }
        }
        var contents: [String: [UInt8]] = [:]
        if case .model(let model) = scope {
            let path = LiveDocument.targetPath(model: model)
            contents[path] = try await content(of: path, in: roles[.live(model)]?.document)
            return RegistryState(roots: [root], roles: roles, isComplete: false, contents: contents)
        }
        let path = SettingsDocument.targetPath
        contents[path] = try await content(of: path, in: roles[.targets]?.document)
        let settings = try RegistryState.settings(contents[path])
        let roots = try await roots(from: settings.oldestRoot, to: root)
        return RegistryState(roots: roots, roles: roles, isComplete: true, contents: contents)
    }

    /// The registry's holds; `nil` where there are none, or they have ended.
    mutating func holdRole() async throws(PublishingError) -> TargetsDocument? {
        do { return try await updater.role(.hold)?.document } catch {
            guard case .refused(.expired) = error else { throw .chain(error) }
            return nil
        }
    }

    /// A role that devices no longer use, so that it can be renewed: all is checked but its end.
    private func expired(
        _ role: SealiftRole,
        under parent: Verified<TargetsDocument>?,
        as listed: MetaFile?
    ) async throws(PublishingError) -> Verified<TargetsDocument>? {
        guard let parent, let listed, parent.document.delegations?[role.roleName] != nil else { return nil }
        let url = location.metadata("\(listed.version).\(role).json")
        do {
            let request = FetchRequest(url: url, maximumLength: role.roleName.maximumLength)
            guard case .bytes(let bytes, _) = try await fetcher.fetch(request) else {
                throw FetchError.outage(.absent, url: url)
            }
            let quorum = try parent.document.quorum(for: role.roleName, named: parent.role)
            let file = try Untrusted<TargetsDocument>(bytes).verified(by: quorum)
            try SealiftShapes.check(role, document: file.document)
            guard file.document.version == listed.version else {
                throw TrustError.versionMismatch(
                    role: role.roleName,
                    expected: listed.version,
                    found: file.document.version
                )
            }
            return file
        } catch let error as FetchError { throw .transfer(error) } catch let error as TrustError {
            throw .chain(.refused(error))
        } catch { throw .usage("\(error)") }
    }

    /// The published roots that devices may be pinned to, each of which must lead to the present one.
    private func roots(
        from oldest: Int64,
        to newest: Verified<RootDocument>
    ) async throws(PublishingError) -> [Verified<RootDocument>] {
        var roots = [newest]
        var version = newest.document.version
        while version > max(1, oldest), let next = roots.first {
            version -= 1
            let url = location.metadata(RoleName.root.fileName(version: version))
            do {
                let request = FetchRequest(url: url, maximumLength: Limits.root)
                guard case .bytes(let bytes, _) = try await fetcher.fetch(request) else {
                    throw FetchError.outage(.absent, url: url)
                }
                let root = try Untrusted<RootDocument>(bytes).verifiedByItself()
                let quorum = try root.document.quorum(for: .root)
                _ = try Untrusted<RootDocument>(next.bytes).verified(by: quorum)
                roots.insert(root, at: 0)
            } catch let error as FetchError { throw .transfer(error) } catch {
                throw .unpublishable(
                    "the registry's root \(version) does not lead to the present one: \(error)"
                )
            }
        }
        return roots
    }

    /// The file of a version of a role, as the registry keeps it; `nil` where it does not give it.
    func published(_ role: RoleName, _ version: Int64) async -> [UInt8]? {
        let url = location.metadata(role.fileName(version: version))
        let request = FetchRequest(url: url, maximumLength: role.maximumLength)
        guard case .bytes(let bytes, _)? = try? await fetcher.fetch(request) else { return nil }
        return bytes
    }

    /// Adds to a proposal the channels and settings that it lists unchanged, so that whoever signs can read them.
    package func complete(
        _ proposal: inout Proposal,
        on state: RegistryState
    ) async throws(PublishingError) {
        for (role, path) in proposal.unreadDocuments {
            if let known = state.contents[path] {
                proposal.add(path, known)
            } else if let read = try await content(of: path, in: state.roles[role]?.document) {
                proposal.add(path, read)
            }
        }
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
}
