import Names
import Registry
import RegistryAPI
import Signing
import Support
import Testing
import Transfer
import Trust

/// Serves some files in the place of the registry's, as a thief on the way would.
private struct LyingFetcher: Fetching {
    let service: TestService
    let lies: [String: [UInt8]]

    func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchOutcome {
        let name = request.url.split(separator: "/").last.map(String.init) ?? ""
        if let lie = lies[name] { return .bytes(lie, etag: nil) }
        return try await ServiceFetcher(service: service).fetch(request)
    }
}

@Suite("Another online key")
struct OnlineRotationTests {
    private let second: SoftwareKey
    private let service: TestService
    private let anchor: [UInt8]

    init() async throws {
        second = try SoftwareKey.generate(.ed25519)
        service = try await TestService(onlineKeys: [second])
        anchor = try #require(try service.test.store.file("root", version: 1)).bytes
    }

    /// One refresh of a device; what it trusts then.
    private func refreshed(
        _ store: MemoryMetadataStore,
        lies: [String: [UInt8]] = [:]
    ) async throws -> MetadataUpdater {
        var updater = MetadataUpdater(
            anchor: anchor,
            store: store,
            fetcher: LyingFetcher(service: service, lies: lies),
            mirrors: Mirrors([ServiceFetcher.location]),
            now: service.clock.now,
            policy: .sealift
        )
        try await updater.refresh()
        return updater
    }

    /// What the old key makes devices see that trust it: any version of what is there.
    private func forged(version: Int64) throws -> [String: [UInt8]] {
        let (test, now) = (service.test, service.clock.now)
        let versions = try test.store.read { view throws(RegistryError) in try view.versions() }
        var roles: [RoleName: MetaFile] = [:]
        for (name, version) in versions where name != "root" && name != "snapshot" {
            roles[RoleName(name)] = MetaFile(version: version)
        }
        let snapshot = try Authoring.envelope(
            signing: SnapshotDocument(
                version: version,
                expires: now.adding(seconds: OnlineLifetime.snapshot),
                issued: now,
                roles: roles
            ),
            by: [test.online]
        )
        let meta = MetaFile(
            version: version,
            length: UInt64(snapshot.count),
            hashes: ["sha256": SHA256.digest(of: snapshot).bytes]
        )
        let timestamp = try Authoring.envelope(
            signing: TimestampDocument(
                version: version,
                expires: now.adding(seconds: OnlineLifetime.timestamp),
                issued: now,
                snapshot: meta
            ),
            by: [test.online]
        )
        return ["timestamp.json": timestamp, "\(version).snapshot.json": snapshot]
    }

    private func rotate() async throws {
        let test = service.test
        let storedRoot = try #require(try test.store.newest("root"))
        var root = try Untrusted<RootDocument>(storedRoot.bytes).verifiedByItself().document
        let storedTargets = try #require(try test.store.newest("targets"))
        let quorum = try root.quorum(for: .targets)
        var targets = try Untrusted<TargetsDocument>(storedTargets.bytes).verified(by: quorum).document
        let key = KeyObject(second.publicKey)
        root.version += 1
        root.keys[key.id] = key
        for role in [RoleName.snapshot, .timestamp] {
            root.roles[role] = RoleKeys(keyIDs: [key.id], threshold: 1)
        }
        targets.version += 1
        targets.delegations?.keys[key.id] = key
        let hold = targets.delegations?.roles.firstIndex { $0.name == SealiftRole.hold.name }
        targets.delegations?.roles[try #require(hold)].roleKeys = RoleKeys(keyIDs: [key.id], threshold: 1)
        let request = CommitRequest(
            roles: [
                .init(role: "root", metadata: try Authoring.envelope(signing: root, by: [test.root])),
                .init(
                    role: "targets",
                    metadata: try Authoring.envelope(signing: targets, by: [test.targets])
                ),
            ],
            targets: []
        )
        _ = try await service.registry.commit(request, by: .administrator, now: service.clock.now)
    }

    @Test("after it, devices take what the new key signs and nothing that a thief signs with the old one")
    func thief() async throws {
        let honest = MemoryMetadataStore()
        let robbed = MemoryMetadataStore()
        _ = try await refreshed(honest)
        // With the key still valid, the thief may run ahead of the registry.
        let ahead = try await refreshed(robbed, lies: try forged(version: 1_000))
        #expect(ahead.timestamp?.document.version == 1_000)

        service.clock.advance(seconds: 60)
        try await rotate()
        let lies = try forged(version: 2_000)
        for store in [honest, robbed, MemoryMetadataStore()] {
            await #expect(
                throws: UpdateError.refused(.thresholdNotMet(role: .timestamp, valid: 0, needed: 1))
            ) { try await refreshed(store, lies: lies) }
            let found = try await refreshed(store)
            #expect(found.root?.document.version == 2)
            #expect((found.timestamp?.document.version ?? 1_000) < 1_000, "it came back to what is true")
            #expect(found.timestamp?.signers == [Authoring.keyID(of: second.publicKey)])
            var holds = found
            let hold = try await holds.role(.hold)
            #expect(hold?.signers == [Authoring.keyID(of: second.publicKey)])
        }
        let withoutNew = OnlineKeys { [service] () throws(RegistryError) in [service.test.online] }
        #expect(throws: RegistryError.wrongOnlineKey(role: "snapshot")) {
            try Registry(store: service.test.store, blobs: service.test.blobs, onlineKeys: withoutNew)
        }
        service.clock.advance(seconds: OnlineLifetime.timestampRenewal * 4)
        #expect(try await service.registry.refreshOnline(now: service.clock.now).timestamp != nil)
    }

    @Test(
        "under a root that has ended nothing is signed, by a clock far ahead or in truth, until the next root"
    )
    func endedRoot() async throws {
        let test = service.test
        let before = try test.state()
        let root = try Untrusted<RootDocument>(anchor).verifiedByItself().document
        let far = root.expires.adding(seconds: 1)
        await #expect(throws: RegistryError.rootExpired(expires: root.expires, now: far)) {
            try await service.registry.refreshOnline(now: far)
        }
        #expect(try test.state() == before)
        // The clock was wrong: all goes on.
        _ = try await service.registry.refreshOnline(now: service.clock.now)
        // The clock was right: the next root comes in, and is signed under.
        var next = root
        next.version = 2
        next.expires = far.adding(seconds: 86_400)
        let file = try Authoring.envelope(signing: next, by: [test.root])
        let request = CommitRequest(roles: [.init(role: "root", metadata: file)], targets: [])
        _ = try await service.registry.commit(request, by: .administrator, now: far)
        #expect(try test.store.timestamp()?.issued == far)
    }
}
