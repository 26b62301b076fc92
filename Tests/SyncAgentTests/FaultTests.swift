import Durable
import Generations
import Glibc
import Manifest
import Names
import Signing
import Support
import SyncAgent
import Testing
import Transfer
import Trust

/// Each fault: one clear message, the exit code of the table, and the old generation still active.
@Suite("Sync faults")
struct SyncFaultTests {
    private let fixture: SyncFixture
    private let day: Int64 = 86_400

    init() async throws {
        fixture = try SyncFixture()
        try fixture.registry.release("1.0.0")
        try await fixture.sync()
    }

    private func expectOld() throws {
        #expect(try fixture.activeVersion() == "1.0.0")
        #expect(try fixture.device.activeGeneration()?.number == 1)
    }

    @Test("a blob with one changed byte is refused and named")
    func tamperedBlob() async throws {
        let manifest = try fixture.registry.release("1.1.0")
        let file = manifest.variants[0].files[0]
        fixture.registry.tamper(file.sha256) { $0[10] ^= 1 }
        let report = try await fixture.sync()
        let failure = try require(report.models[0].failure)
        #expect(failure.kind == .refused && report.exitCode == 1 && report.outcome == .unchanged)
        #expect(failure.message.contains("model.onnx") && failure.message.contains(file.sha256.hex))
        #expect(report.models[0].active == "1.0.0")
        try expectOld()
        fixture.registry.tamper(file.sha256) { $0[10] ^= 1 }
        #expect(try await fixture.sync().exitCode == 0)
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    @Test("a changed block list is refused")
    func tamperedBlockList() async throws {
        let manifest = try fixture.registry.release("1.1.0", weights: 200_000)
        let list = try require(manifest.variants[0].files[0].blocks?.list.sha256)
        fixture.registry.tamper(list) { $0[0] ^= 1 }
        let report = try await fixture.sync()
        #expect(report.exitCode == 1)
        #expect(report.models[0].failure?.message.contains(list.hex) == true)
        try expectOld()
    }

    @Test(
        "a changed manifest, and a changed list of live versions, are refused",
        arguments: ["1.1.0.json", "live.json"]
    )
    func tamperedTarget(_ part: String) async throws {
        try fixture.registry.release("1.1.0")
        fixture.registry.tamperTargets(containing: part) { $0[5] ^= 1 }
        let report = try await fixture.sync()
        #expect(report.exitCode == 1)
        #expect(report.models[0].failure?.message.contains(part) == true)
        try expectOld()
    }

    @Test("a changed timestamp or snapshot stops the sync", arguments: ["timestamp.json", "snapshot.json"])
    func tamperedMetadata(_ part: String) async throws {
        try fixture.registry.release("1.1.0")
        fixture.registry.metadata.change { repository in
            for name in repository.files.keys where name.hasSuffix(part) {
                guard let bytes = repository.files[name] else { continue }
                let text = String(decoding: bytes, as: UTF8.self)
                let changed = text.split(separator: "\"version\":", omittingEmptySubsequences: false)
                    .joined(separator: "\"version\":1")
                repository.files[name] = Array(changed.utf8)
            }
        }
        let failure = try await fixture.failure()
        #expect(failure?.kind == .refused)
        try expectOld()
    }

    @Test("a signature that could not be checked for want of memory is an outage, not a wrong one")
    func noMemory() async throws {
        try fixture.registry.release("1.1.0")
        let failure = try await VerificationFault.$lacksMemory.withValue(true) { try await fixture.failure() }
        #expect(failure?.exitCode == 75 && failure?.code == "temporary")
        #expect(failure?.message.contains("could not be checked") == true)
        #expect(failure?.message.contains("signed by") == false)
        try expectOld()
        #expect(try await fixture.sync().exitCode == 0)
    }

    @Test("another registry's root is refused, and the message asks about the root file")
    func wrongRoot() async throws {
        let other = try DeviceRegistry()
        let root = try require(other.metadata.repository.files["1.root.json"])
        let file = try fixture.scratch.write("other.json", root)
        let failure = try await fixture.failure { $0.rootFile = file }
        #expect(failure?.kind == .refused && failure?.exitCode == 1)
        #expect(failure?.message.contains(file) == true)
        try expectOld()
    }

    @Test("a root file that is missing or no root is said before anything is asked")
    func noRoot() async throws {
        _ = fixture.registry.takeRequests()
        #expect(try await fixture.failure { $0.rootFile = "/nowhere/root.json" }?.kind == .usage)
        let text = try fixture.scratch.write("text", Array("not a root".utf8))
        #expect(try await fixture.failure { $0.rootFile = text }?.kind == .refused)
        #expect(fixture.registry.takeRequests().isEmpty)
    }

    @Test("after expiry nothing new is accepted; within the grace the exit code is 4, after it 1")
    func expired() async throws {
        try fixture.registry.release("1.1.0")
        fixture.clock.advance(seconds: 4 * day)
        let stale = try await fixture.failure()
        #expect(stale?.kind == .expired && stale?.exitCode == 4)
        #expect(stale?.message.contains("timestamp") == true)
        try expectOld()
        let device = try SyncedDevice(directory: fixture.directory)
        #expect(try device.status(at: fixture.clock.now).freshness == .stale)
        fixture.clock.advance(seconds: 20 * day)
        #expect(try await fixture.failure()?.kind == .refused)
        #expect(try device.status(at: fixture.clock.now).freshness == .overdue)
        try expectOld()
    }

    @Test("an expired chain with nothing active is refused")
    func expiredWithNothing() async throws {
        let fixture = try SyncFixture()
        try fixture.registry.release("1.0.0")
        fixture.clock.advance(seconds: 4 * day)
        #expect(try await fixture.failure()?.kind == .refused)
    }

    @Test("one expired role stops what is below it and nothing else")
    func expiredRole() async throws {
        let fixture = try SyncFixture(["vision/detector", "vision/tracker"])
        let both = ["vision/detector@stable", "vision/tracker@stable"]
        try fixture.registry.release("1.0.0")
        try fixture.registry.release("1.0.0", of: "vision/tracker")
        try await fixture.sync(both)
        try fixture.registry.release("1.1.0")
        try fixture.registry.release("1.1.0", of: "vision/tracker")
        let live = SealiftRole.live(try require(ModelName("vision/tracker"))).roleName
        fixture.registry.metadata.change {
            $0.roles[live]?.expires = DeviceRegistry.start.adding(seconds: day)
        }
        fixture.clock.advance(seconds: 2 * day)
        fixture.registry.metadata.change { $0.now = DeviceRegistry.start.adding(seconds: 2 * day) }
        try fixture.registry.publish()
        let report = try await fixture.sync(both)
        #expect(report.models.map(\.active) == ["1.1.0", "1.0.0"])
        #expect(report.exitCode == 4)
        #expect(report.models[1].failure?.message.contains("vision~tracker~live") == true)
    }

    @Test("a place where no directory can be is a mistake in the call, not an outage")
    func wrongPlace() async throws {
        let file = try fixture.scratch.write("file", [])
        let failure = try await fixture.failure { $0.directory = file + "/device" }
        #expect(failure?.kind == .usage && failure?.message.contains(file) == true)
    }

    @Test("a server that goes away is an outage, and what came stays for the next sync")
    func cutOff() async throws {
        let manifest = try fixture.registry.release("1.1.0", weights: 100_000)
        fixture.registry.cutOff(after: 50_000)
        let report = try await fixture.sync()
        #expect(report.models[0].failure?.kind == .temporary && report.exitCode == 75)
        try expectOld()
        let partial = "\(fixture.directory)/incoming/\(manifest.variants[0].files[0].sha256.hex)"
        #expect(try Durable.readFile(partial, maximum: .mebibytes(1)).count == 50_000)
        fixture.registry.cutOff(after: nil)
        let second = try await fixture.sync()
        #expect(second.bytesFetched < 60_000)
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    @Test("a registry that cannot be reached is an outage, and opening the model needs none")
    func outage() async throws {
        fixture.registry.setOutage(true)
        let failure = try await fixture.failure()
        #expect(failure?.kind == .temporary && failure?.exitCode == 75)
        #expect(failure?.message.contains(DeviceRegistry.url) == true)
        try expectOld()
    }

    @Test("a mirror that cannot be reached is passed over")
    func mirror() async throws {
        try fixture.registry.release("1.1.0")
        try await fixture.sync { $0.registries = ["https://away.test/", DeviceRegistry.url] }
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    @Test("a file whose own interface is not the signed one is refused")
    func otherInterface() async throws {
        try fixture.registry.release("1.1.0", width: 4, signedWidth: 9)
        let report = try await fixture.sync()
        #expect(report.exitCode == 1)
        #expect(report.models[0].failure?.message.contains("inputs and outputs") == true)
        try expectOld()
    }

    @Test("one model that fails does not hold the others up")
    func otherModels() async throws {
        let fixture = try SyncFixture(["vision/detector", "vision/tracker"])
        let manifest = try fixture.registry.release("1.0.0")
        try fixture.registry.release("1.0.0", of: "vision/tracker")
        fixture.registry.tamper(manifest.variants[0].files[0].sha256) { $0[0] ^= 1 }
        let report = try await fixture.sync(["vision/detector", "vision/tracker"])
        #expect(report.models.map(\.outcome) == [.failed, .activated] && report.exitCode == 1)
        #expect(try fixture.activeVersion("vision/tracker") == "1.0.0")
    }

    @Test("without room for the download nothing is fetched")
    func noRoom() async throws {
        try fixture.registry.release("1.1.0")
        _ = fixture.registry.takeRequests()
        let report = try await fixture.sync { $0.reserve = .max }
        #expect(report.models[0].failure?.kind == .temporary)
        #expect(!fixture.registry.takeRequests().contains { $0.hasPrefix("blobs/") })
        try expectOld()
    }

    @Test("a clock that is behind a signed time accepts nothing new")
    func clockBehind() async throws {
        try fixture.registry.release("1.1.0")
        fixture.clock.advance(seconds: -day)
        let failure = try await fixture.failure()
        #expect(failure?.kind == .refused)
        try expectOld()
    }

    @Test("a sync that finds another one running waits, and then says so")
    func locked() async throws {
        let lock = try DirectoryLock("\(fixture.directory)/lock")
        let failure = try await fixture.failure { $0.lockPatience = 0 }
        #expect(failure?.kind == .temporary)
        #expect(failure?.message.contains("another sync") == true)
        withExtendedLifetime(lock) {}
    }

    @Test("a version that is damaged and cannot be had again does not hold the others up")
    func damagedNeighbour() async throws {
        let fixture = try SyncFixture(["vision/detector", "vision/tracker"])
        let manifest = try fixture.registry.release("1.0.0")
        try fixture.registry.release("1.0.0", of: "vision/tracker")
        let both = ["vision/detector", "vision/tracker"]
        try await fixture.sync(both)
        let model = try fixture.device.activeModel(require(ModelName("vision/detector")))
        try fixture.overwrite(model.entryPath, [1])
        fixture.registry.tamper(manifest.variants[0].files[0].sha256) { $0[0] ^= 1 }
        try fixture.registry.release("1.1.0", of: "vision/tracker")
        let report = try await fixture.sync(both)
        #expect(report.models.map(\.outcome) == [.failed, .activated] && report.exitCode == 1)
        #expect(try fixture.activeVersion("vision/tracker") == "1.1.0")
        #expect(try fixture.device.activeGeneration()?.record.models.count == 2)
    }

    @Test("downloads of a model that failed stay, and others go")
    func incoming() async throws {
        let manifest = try fixture.registry.release("1.1.0", weights: 100_000)
        fixture.registry.cutOff(after: 50_000)
        try Durable.writeAtomically("\(fixture.directory)/incoming/junk", [1])
        try await fixture.sync()
        let file = manifest.variants[0].files[0]
        let list = try require(file.blocks?.list.sha256)
        let wanted = [file.sha256.hex, list.hex].sorted()
        #expect(try Durable.names(in: "\(fixture.directory)/incoming") == wanted)
    }

    @Test("an expectation that is none is the caller's mistake, and never exit code 0")
    func unsoundExpectation() async throws {
        try fixture.registry.release("1.1.0")
        let report = try await fixture.sync { $0.models[0].expectation = Array("no JSON".utf8) }
        #expect(report.exitCode == 2 && report.models[0].failure?.kind == .usage)
        try expectOld()
    }
}
