import Durable
import Generations
import Glibc
import Manifest
import Names
import Support
import SyncAgent
import Testing

/// What the agent keeps on the device, and what files of the configuration may keep it from.
@Suite("The agent's own files and directories")
struct OwnFilesTests {
    private let fixture: SyncFixture

    init() async throws {
        fixture = try SyncFixture(["vision/detector", "vision/tracker"])
        try fixture.registry.release("1.0.0")
        try fixture.registry.release("1.0.0", of: "vision/tracker")
    }

    private let both = ["vision/detector", "vision/tracker"]
    private var secret: String { "\(fixture.directory)/device/rollout" }

    private func mode(_ path: String) -> UInt32 {
        var status = stat()
        return lstat(path, &status) == 0 ? UInt32(status.st_mode & 0o7777) : 0
    }

    private func bytes(_ path: String) throws -> [UInt8] {
        try Durable.readFile(path, maximum: .kibibytes(4))
    }

    @Test(
        "a secret that others could read is kept, one that they could change is made anew, and both are private again",
        arguments: [(0o644, true), (0o620, false), (0o2660, false), (0o600, true)] as [(UInt32, Bool)]
    )
    func openSecret(_ open: UInt32, _ isKept: Bool) async throws {
        try await fixture.sync(both)
        let before = try bytes(secret)
        #expect(chmod("\(fixture.directory)/device", 0o2730) == 0)
        #expect(chmod(secret, mode_t(open)) == 0)
        let report = try await fixture.sync(both)
        #expect(report.exitCode == 0)
        #expect(mode(secret) == 0o600 && mode("\(fixture.directory)/device") == 0o700)
        #expect((try bytes(secret) == before) == isKept)
        #expect(report.warnings.contains { $0.contains(secret) } == (open != 0o600))
        #expect(try await fixture.sync(both).warnings.allSatisfy { !$0.contains(secret) })
    }

    @Test("an empty secret, whatever its mode, is none and is made")
    func emptySecret() async throws {
        try await fixture.sync(both)
        try Durable.writeAtomically(secret, [], mode: 0o644)
        #expect(try await fixture.sync(both).exitCode == 0)
        #expect(try bytes(secret).count == 32 && mode(secret) == 0o600)
    }

    @Test("in a directory that its group may write, the group may write what is made in it")
    func groupDirectory() async throws {
        try Durable.makeDirectory(fixture.directory)
        #expect(chmod(fixture.directory, 0o2775) == 0)
        try await fixture.sync(both)
        for part in ["generations", "generations/000001", "generations/000001/vision", "versions", "trust"] {
            #expect(mode("\(fixture.directory)/\(part)") == 0o2775, "\(part)")
        }
        for file in ["lock", "trials.json", "decisions.json"] {
            #expect(mode("\(fixture.directory)/\(file)") == 0o664, "\(file)")
        }
        #expect(mode(secret) == 0o600 && mode("\(fixture.directory)/device") == 0o700)
    }

    @Test("a recall is obeyed while an expectation is not there or is none, and only its model stands still")
    func expectationFault() async throws {
        try await fixture.sync(both)
        try fixture.registry.release("1.1.0")
        try await fixture.sync(both)
        let state = VersionState(kind: .recalled, reason: "unsafe", time: DeviceRegistry.start)
        try fixture.registry.changeLive { $0.withdrawing(try require(ModelVersion("1.1.0")), state) }
        try fixture.registry.release("1.2.0")
        try fixture.registry.release("1.1.0", of: "vision/tracker")
        let file = fixture.scratch.path("app.json")
        let report = try await fixture.sync(both) {
            $0.models[0].readExpectation(file, namedBy: "--expectation")
        }
        #expect(report.exitCode == 2)
        let message = try require(report.models[0].failure?.message)
        #expect(message.contains(file) && message.contains("sealift schema expectation"), "\(message)")
        #expect(try fixture.activeVersion() == "1.0.0", "the recalled one was left")
        #expect(try fixture.activeVersion("vision/tracker") == "1.1.0")
    }

    @Test(
        "a link to a directory in the place of one of the device's is refused, and nothing is written through it",
        arguments: [
            "trust", "device", "versions", "generations", "fallback", "incoming", "receipts", "loading",
        ]
    )
    func links(_ part: String) async throws {
        let elsewhere = fixture.scratch.path("elsewhere")
        try Durable.makeDirectory(elsewhere)
        try Durable.makeDirectory(fixture.directory)
        #expect(symlink(elsewhere, "\(fixture.directory)/\(part)") == 0)
        let error = try await fixture.failure()
        #expect(
            error?.code == "place" && error?.message.contains("\(part) is a link to \(elsewhere)") == true
        )
        #expect(try Durable.names(in: elsewhere).isEmpty)
    }

    @Test("a plan of what would be collected takes no lock")
    func planWithoutLock() async throws {
        try await fixture.sync(both)
        let lock = try DirectoryLock("\(fixture.directory)/lock")
        defer { withExtendedLifetime(lock) {} }
        let device = try SyncedDevice(directory: fixture.directory)
        _ = try await device.collect(.dryRun)
        await #expect(throws: SyncError.self) { try await device.collect() }
    }

    @Test("going back from a version behind which none was confirmed names that one and the way to it")
    func noWayBack() async throws {
        let confirm: (inout SyncConfiguration) -> Void = {
            $0.models[0].confirmation = .app(starts: 3, seconds: 86_400)
        }
        try await fixture.sync(adjust: confirm)
        try fixture.registry.release("1.1.0")
        try await fixture.sync(adjust: confirm)
        let clock = fixture.clock
        let device = try SyncedDevice(directory: fixture.directory, clock: { clock.now })
        let error = #expect(throws: SyncError.self) { try device.rollback(reason: "slow") }
        let message = error?.message ?? ""
        #expect(
            message.contains("sealift pin vision/detector 1.0.0") && message.contains("confirmed"),
            "\(message)"
        )
        try device.pin("vision/detector", to: "1.0.0")
        try await fixture.sync(adjust: confirm)
        #expect(try fixture.activeVersion() == "1.0.0", "as it says")
    }

    @Test("a pin to a lower version that never ran here says that it changes nothing by itself")
    func lowerPin() async throws {
        try fixture.registry.release("1.1.0")
        try await fixture.sync()
        let device = try SyncedDevice(directory: fixture.directory)
        #expect(try device.pin("vision/detector", to: "1.0.0") == .lower(active: "1.1.0"))
        try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    @Test("status says what waits, and why")
    func waiting() async throws {
        try await fixture.sync()
        try fixture.registry.release("1.1.0")
        _ = try? await fixture.sync { $0.reserve = 1 << 60 }
        let model = try require(try SyncedDevice(directory: fixture.directory).status().models.first)
        #expect(model.version == "1.0.0" && model.waitingCode == "disk-full")
        #expect(model.waiting?.contains("not enough room") == true)
    }
}
