import Names
import Signing
import Support
import Testing
import Transfer
import Trust

/// A registry with the model `vision/detector`, and one client that has synchronised with it.
struct World {
    static let start = UnixTime(rawValue: 1_796_000_000)
    static let detector = ModelName("vision/detector")

    let registry: RegistrySimulator
    let store = MemoryMetadataStore()
    let policy: TrustPolicy

    /// A Sealift repository.
    init() throws {
        let model = try #require(Self.detector)
        registry = RegistrySimulator(try SimulatedRepository.sealift(model, now: Self.start))
        policy = .sealift
    }

    /// A plain TUF repository with nothing but its top-level roles.
    init(plain: Void) throws {
        registry = RegistrySimulator(try SimulatedRepository(now: Self.start, sealift: nil))
        policy = .plainTUF
    }

    func updater(now: UnixTime? = nil) -> MetadataUpdater {
        registry.updater(store, now: now, policy: policy)
    }

    /// Brings the client up to date, with every role of the model.
    @discardableResult
    func synchronise(now: UnixTime? = nil) async throws -> MetadataUpdater {
        var updater = updater(now: now)
        try await updater.refresh()
        if policy == .sealift {
            _ = try await updater.role(.hold)
            _ = try await updater.target("vision/detector/live.json")
            _ = try await updater.target("vision/detector/1.0.0.json")
        }
        _ = registry.takeRequests()
        return updater
    }

    /// Expects an update to be refused with exactly `error`, and the store to stay as it was.
    ///
    /// - Parameters:
    ///   - error: The refusal.
    ///   - now: The client's clock; by default the registry's.
    ///   - advancing: Roles whose genuine news come before the lie, and are stored.
    ///   - sourceLocation: Of the test.
    ///   - update: What the client does; by default it refreshes.
    /// - Throws: What the update throws besides.
    func expectRefusal(
        _ error: TrustError,
        now: UnixTime? = nil,
        advancing: Set<RoleName> = [],
        sourceLocation: SourceLocation = #_sourceLocation,
        _ update: (inout MetadataUpdater) async throws -> Void = { try await $0.refresh() }
    ) async throws {
        try await expectFailure(
            .refused(error),
            now: now,
            advancing: advancing,
            sourceLocation: sourceLocation,
            update
        )
    }

    /// ``expectRefusal(_:now:advancing:sourceLocation:_:)`` for errors of the driver too.
    func expectFailure(
        _ error: UpdateError,
        now: UnixTime? = nil,
        advancing: Set<RoleName> = [],
        sourceLocation: SourceLocation = #_sourceLocation,
        _ update: (inout MetadataUpdater) async throws -> Void = { try await $0.refresh() }
    ) async throws {
        let before = store.contents
        var updater = updater(now: now)
        await #expect(throws: error, sourceLocation: sourceLocation) { try await update(&updater) }
        let after = store.contents
        let free = Set(advancing.map(\.fileName)).union(["poll-state"])
        for name in Set(before.keys).union(after.keys).subtracting(free) {
            #expect(after[name] == before[name], "\(name) changed", sourceLocation: sourceLocation)
        }
    }

    /// Refreshes, and loads the role of Sealift with this name.
    static func loading(_ role: RoleName) -> (inout MetadataUpdater) async throws -> Void {
        { updater in
            try await updater.refresh()
            if let role = SealiftRole(role) { _ = try await updater.role(role) }
        }
    }
}

extension RoleName {
    static let hold = RoleName("sealift~hold")
    static let vision = RoleName("vision")
    static let release = RoleName("vision~detector")
    static let live = RoleName("vision~detector~live")
}

extension RoleName: ExpressibleByStringLiteral {
    package init(stringLiteral name: String) { self.init(name) }
}
