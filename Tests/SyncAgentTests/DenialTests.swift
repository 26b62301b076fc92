import Durable
import Generations
import Manifest
import Names
import Signing
import Support
import Testing
import Trust

@testable import SyncAgent

@Suite("Denials")
struct DenialTests {
    private let model: ModelName

    init() throws { model = try require(ModelName("vision/detector")) }

    private func denial(_ version: String) throws -> Denial {
        Denial(
            model: model,
            subject: .versions([try require(ModelVersion(version))]),
            reason: "stolen key",
            since: DeviceRegistry.start
        )
    }

    @Test("a denial is added by a file that is only signed, and lifted only through the whole chain")
    func ledger() throws {
        let (one, two) = (try denial("1.0.0"), try denial("1.1.0"))
        var ledger = DenialLedger()
        ledger.accept([one], of: .targets, version: 3, by: .chain)
        ledger.accept([], of: .targets, version: 4, by: .signatures)
        #expect(ledger.denials(of: model) == [one])
        ledger.accept([two], of: .targets, version: 5, by: .signatures)
        #expect(Set(ledger.denials(of: model).map(\.subject.shown)) == ["1.0.0", "1.1.0"])
        ledger.accept([], of: .targets, version: 4, by: .chain)
        #expect(ledger.denials(of: model).count == 2, "older than what is known")
        ledger.accept([two], of: .targets, version: 5, by: .chain)
        #expect(ledger.denials(of: model) == [two])
        ledger.accept([one], of: .delegated("vision"), version: 1, by: .chain)
        ledger.accept([], of: .targets, version: 6, by: .chain)
        #expect(ledger.denials(of: model) == [one])
    }

    @Test("the ledger is read back as written")
    func note() throws {
        let scratch = Scratch()
        let device = try DeviceDirectory.create(scratch.path("device"))
        var ledger = DenialLedger()
        ledger.accept([try denial("1.0.0")], of: .targets, version: 3, by: .chain)
        try device.save(ledger)
        #expect(try device.note(DenialLedger.self) == ledger)
    }

    @Test("more denials than a note holds leave those that concern what is on the device")
    func longNote() async throws {
        let fixture = try SyncFixture()
        let manifest = try fixture.registry.release("1.0.0")
        try await fixture.sync()
        let device = try fixture.device
        let active = try device.activeModel(model)
        let many = (0..<60_000).map { number in
            Denial(
                model: model,
                subject: .manifest(SHA256.digest(of: Array("\(number)".utf8))),
                reason: "one of many",
                since: DeviceRegistry.start
            )
        }
        var ledger = DenialLedger()
        ledger.accept(many + [try denial("1.0.0")], of: .targets, version: 3, by: .signatures)
        try ledger.save(on: device)
        let kept = try device.note(DenialLedger.self)
        let identity = VersionIdentity(
            model: model,
            version: active.version,
            variant: active.variant,
            manifest: active.manifestDigest
        )
        #expect(kept.denial(of: identity)?.reason == "stolen key" && kept.denials(of: model).count == 1)
        #expect(manifest.version == active.version)
        // What is kept of a role is of the same version of it.
        #expect(kept.roles["targets"]?.version == 3)
    }

    /// A device that runs 1.1.0 and ran 1.0.0 before, whose registry signs no new timestamp any more.
    private func staleDevice() async throws -> SyncFixture {
        let fixture = try SyncFixture()
        try fixture.registry.release("1.0.0")
        try await fixture.sync()
        try fixture.registry.release("1.1.0")
        try await fixture.sync()
        return fixture
    }

    @Test(
        "a denial in a file of administrators or of the team is obeyed although the chain has expired",
        arguments: ["administrators", "team"]
    )
    func expiredChain(_ signers: String) async throws {
        let role = signers == "team" ? SealiftRole.namespace(model.namespace) : .targets
        let fixture = try await staleDevice()
        try fixture.registry.metadata.change { $0.roles[role.roleName]?.deny = [try denial("1.1.0")] }
        try fixture.registry.publish()
        fixture.clock.advance(seconds: 4 * 86_400)
        let failure = try await fixture.failure()
        #expect(failure?.exitCode == 4)
        #expect(try fixture.activeVersion() == "1.0.0")
        // It stays so: nothing that is only signed lifts it.
        fixture.registry.metadata.change { $0.roles[role.roleName]?.deny = [] }
        try fixture.registry.publish()
        _ = try await fixture.failure()
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test("what is denied is not gone back to either, although the chain has expired")
    func expiredWayBack() async throws {
        let fixture = try await staleDevice()
        let device = try fixture.device
        let before = try require(try device.activeGeneration())
        #expect(device.fallback(of: before)?.record.models.count == 1)
        try fixture.registry.metadata.change { $0.roles[.targets]?.deny = [try denial("1.0.0")] }
        try fixture.registry.publish()
        fixture.clock.advance(seconds: 4 * 86_400)
        #expect(try await fixture.failure()?.exitCode == 4)
        #expect(try fixture.activeVersion() == "1.1.0")
        let after = try require(try device.activeGeneration())
        #expect(device.fallback(of: after)?.record.models.isEmpty == true)
    }

    @Test("a denial that not enough keys signed is not obeyed")
    func forged() async throws {
        let fixture = try await staleDevice()
        let other = try DeviceRegistry()
        // The very version that the device looks for, so that nothing but the signature is wrong.
        let next = try require(fixture.registry.metadata.repository.roles[.targets]?.version) + 1
        let denials = [try denial("1.1.0")]
        other.metadata.change { repository in
            repository.roles[.targets]?.deny = denials
            repository.roles[.targets]?.version = next
        }
        try other.publish()
        let name = "\(next).targets.json"
        let forged = try require(other.metadata.repository.files[name])
        fixture.registry.metadata.change { $0.files[name] = forged }
        _ = fixture.registry.takeRequests()
        fixture.clock.advance(seconds: 4 * 86_400)
        #expect(try await fixture.failure()?.exitCode == 4)
        #expect(fixture.registry.takeRequests().contains { $0.hasSuffix(name) })
        #expect(try fixture.activeVersion() == "1.1.0")
    }
}

extension Denial.Subject {
    fileprivate var shown: String {
        switch self {
        case .versions(let versions): versions.map(\.description).joined(separator: " ")
        case .manifest(let digest): digest.hex
        }
    }
}
