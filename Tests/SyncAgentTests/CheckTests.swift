import CanonicalJSON
import Checking
import Durable
import Generations
import Manifest
import Names
import Signing
import Support
import Testing

@testable import SyncAgent

@Suite("Golden vectors before activation")
struct CheckTests {
    private let fixture: SyncFixture

    init() async throws {
        fixture = try SyncFixture()
        try fixture.registry.release("1.0.0")
        try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    private static let checks: [JSONValue] = [
        .members([
            "inputs": .members(["x": .members(["base64": .text("AAAAAA==")])]),
            "outputs": .members(["y": .members(["base64": .text("AAAAAA==")])]),
        ])
    ]

    @discardableResult
    private func release(_ version: String) throws -> ModelManifest {
        try fixture.registry.release(version, checks: Self.checks)
    }

    /// Syncs with a shell script in the place of the program; each run of it leaves a folder.
    private func sync(
        _ script: String,
        seconds: Double = 30,
        mode: SyncMode = .activate
    ) async throws -> SyncReport {
        let text = "#!/bin/sh\nmkdir \"$0.run.$$\"\n\(script)\n"
        let path = try fixture.scratch.write("checker", Array(text.utf8), mode: 0o755)
        return try await fixture.sync(mode: mode) { configuration in
            configuration.checkProgram = path
            configuration.runtimeLibrary = "/usr/lib/libonnxruntime.so"
            configuration.checkLimits.seconds = seconds
        }
    }

    /// A script that opens its runtime, comes to the first vector, and then does `rest`.
    private func begun(_ rest: String) -> String { "printf 'opened fake 1.0\\nloaded\\ncheck 0\\n'\n\(rest)" }

    private func answering(_ outcome: CheckAnswer.Outcome) -> String {
        begun("printf '%s' '\(String(decoding: CheckAnswer(outcome).canonical, as: UTF8.self))'")
    }

    private var wrong: String { answering(.failed("check 0: the output y is 1 at element 2, expected 3")) }
    private var passing: String { answering(.passed) }

    private func runs() throws -> Int {
        try Durable.names(in: fixture.scratch.path).count { $0.hasPrefix("checker.run.") }
    }

    private func device() throws -> SyncedDevice {
        try SyncedDevice(directory: fixture.directory, clock: { [clock = fixture.clock] in clock.now })
    }

    private func quarantined() throws -> [String] { try device().quarantine().map(\.version) }

    @Test("a version that reproduces its vectors is activated, and they are run once, not at every sync")
    func passed() async throws {
        try release("1.1.0")
        let report = try await sync(passing)
        #expect(report.exitCode == 0 && report.warnings.isEmpty, "\(report)")
        #expect(report.models[0].checks == "its 1 golden vector reproduced with fake 1.0")
        #expect(try fixture.activeVersion() == "1.1.0")
        #expect(try device().status().models[0].checks == "its 1 golden vector reproduced with fake 1.0")
        for _ in 0..<3 { #expect(try await sync(wrong).exitCode == 0) }
        #expect(try runs() == 1)
    }

    @Test(
        "a version that does not is quarantined with its reason, the old one stays, and it is not tried again"
    )
    func failed() async throws {
        try release("1.1.0")
        let report = try await sync(wrong)
        #expect(report.exitCode == 1 && report.outcome == .unchanged, "\(report)")
        let failure = try require(report.models[0].failure)
        #expect(failure.code == "checks-failed" && failure.kind == .refused)
        #expect(failure.message.contains("vision/detector 1.1.0 does not reproduce its golden vectors"))
        #expect(
            failure.message.contains("with fake 1.0, check 0: the output y is 1 at element 2, expected 3")
        )
        #expect(try fixture.activeVersion() == "1.0.0")
        #expect(try quarantined() == ["1.1.0"])
        let status = try device().status().models[0]
        #expect(status.quarantined.first?.reason.contains("expected 3") == true, "\(status)")
        #expect(try device().why("vision/detector").failure?.code == "checks-failed")

        for _ in 0..<3 {
            let later = try await sync(passing)
            #expect(later.exitCode == 0 && later.models[0].active == "1.0.0", "\(later)")
            let passed = try require(later.models[0].passedOver.first)
            #expect(passed.version == "1.1.0" && passed.reason.contains("quarantined on this device"))
        }
        #expect(try runs() == 1)
        let why = try device().why("vision/detector")
        #expect(why.passedOver.first?.reason.contains("expected 3") == true, "\(why)")
    }

    @Test("after that a newer version is tried, and the operator's word lets the old one be tried again")
    func afterwards() async throws {
        try release("1.1.0")
        #expect(try await sync(wrong).exitCode == 1)
        #expect(try device().clearQuarantine() == 1)
        #expect(try await sync(wrong).exitCode == 1)
        #expect(try runs() == 2)
        try release("1.2.0")
        let report = try await sync(passing)
        #expect(report.exitCode == 0 && report.models[0].active == "1.2.0", "\(report)")
        #expect(try runs() == 3)
        #expect(try quarantined() == ["1.1.0"])
    }

    @Test(
        "a crash, a hang, silence and nonsense that come twice are failures of the version",
        arguments: [
            ("kill -SEGV $$", "in check 0, the process that ran it was ended by signal 11"),
            ("sleep 60", "did not end within 1.0 seconds"),
            ("while :; do :; done", "did not end within 1.0 seconds"), ("exit 0", "gave no sound answer"),
            ("echo yes", "gave no sound answer"), ("exit 70", "ended with exit code 70"),
        ]
    )
    func broken(_ rest: String, _ text: String) async throws {
        try release("1.1.0")
        let report = try await sync(begun(rest), seconds: text.contains("1.0 s") ? 1 : 30)
        #expect(report.exitCode == 1, "\(report)")
        #expect(report.models[0].failure?.message.contains(text) == true, "\(report)")
        #expect(try fixture.activeVersion() == "1.0.0")
        #expect(try quarantined() == ["1.1.0"])
    }

    @Test(
        "without a runtime nothing is known and nothing refused, and that is told",
        arguments: [nil, "kill -SEGV $$", "echo obstacle it is too old"]
    )
    func unknown(_ script: String?) async throws {
        try release("1.1.0")
        let report =
            if let script { try await sync(script) } else { try await fixture.sync() }
        #expect(report.exitCode == 0, "\(report)")
        #expect(report.warnings.contains { $0.contains("1.1.0: its 1 golden vector not run") }, "\(report)")
        #expect(report.models[0].checks?.contains("not run") == true)
        #expect(try fixture.activeVersion() == "1.1.0")
        #expect(try quarantined() == [])
        #expect(try await fixture.sync().warnings.isEmpty, "told once")
    }

    @Test("where the system kills that process twice the old version stays, and the next sync tries again")
    func killed() async throws {
        try release("1.1.0")
        for count in 1...4 {
            let report = try await sync(begun("kill -KILL $$"))
            let failure = try require(report.models[0].failure)
            #expect(report.exitCode == 75 && failure.kind == .temporary, "\(report)")
            #expect(failure.message.contains("so 1.0.0 stays; see that there is memory"), "\(failure)")
            #expect(try fixture.activeVersion() == "1.0.0" && quarantined() == [])
            #expect(try device().why("vision/detector").failure?.message == failure.message)
            #expect(try runs() == 2 * count)
        }
        #expect(try await sync(passing).exitCode == 0)
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    @Test("a device on which nothing works yet takes what was killed, and tells it")
    func killedFirst() async throws {
        let fixture = try SyncFixture()
        try fixture.registry.release("1.0.0", checks: Self.checks)
        let path = try fixture.scratch.write(
            "checker",
            Array("#!/bin/sh\n\(begun("kill -KILL $$"))\n".utf8),
            mode: 0o755
        )
        let report = try await fixture.sync { configuration in
            configuration.checkProgram = path
            configuration.runtimeLibrary = "/usr/lib/libonnxruntime.so"
        }
        #expect(report.exitCode == 0 && report.models[0].checks?.contains("not run: with fake") == true)
        #expect(report.warnings.contains { $0.contains("ended by the system") }, "\(report)")
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test("a version without vectors is not tried, and a dry run tries none")
    func nothing() async throws {
        try fixture.registry.release("1.1.0")
        #expect(try await sync(wrong).exitCode == 0)
        try release("1.2.0")
        #expect(try await sync(wrong, mode: .dryRun).exitCode == 0)
        #expect(try runs() == 0)
        #expect(try quarantined() == [])
    }

    @Test("what the system could not run is tried again, however often, and quarantines nothing")
    func outage() async throws {
        try release("1.1.0")
        for _ in 0...4 {
            let report = try await fixture.sync { configuration in
                configuration.checkProgram = "/nowhere/sealift"
                configuration.runtimeLibrary = "/usr/lib/libonnxruntime.so"
            }
            #expect(report.exitCode == 75, "\(report)")
        }
        #expect(try fixture.activeVersion() == "1.0.0" && quarantined() == [])
        #expect(try await sync(answering(.unreadable("the disk"))).exitCode == 75)
        #expect(try await sync(passing).exitCode == 0)
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    @Test(
        "vectors that never come to an end are begun three times in a row, then once a day, and condemn nothing"
    )
    func endless() async throws {
        let manifest = try release("1.1.0")
        func note(_ begun: Int) throws {
            let digest = SHA256.digest(of: manifest.canonical).hex
            let text =
                #"{"type":"sealift/checked@1","versions":[{"begun":\#(begun),"manifest":"\#(digest)","#
                + #""last":"\#(fixture.clock.now)","variant":"fp32"}]}"#
            try Durable.writeAtomically(fixture.directory + "/checked.json", Array(text.utf8))
        }
        try note(3)
        let report = try await sync(passing)
        #expect(report.models[0].failure?.message.contains("begun 3 times") == true, "\(report)")
        #expect(try report.exitCode == 75 && quarantined() == [] && runs() == 0)
        fixture.clock.advance(seconds: 86_399)
        #expect(try await sync(passing).exitCode == 75)
        fixture.clock.advance(seconds: 2)
        #expect(try await sync(answering(.unreadable("the disk"))).exitCode == 75)
        #expect(try runs() == 1)
        try note(3)
        fixture.clock.advance(seconds: -100)
        #expect(try await sync(passing).exitCode == 0, "a clock that was set back holds nothing up")
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    private func released(_ version: String) throws -> VersionIdentity {
        let manifest = try release(version)
        return VersionIdentity(
            model: manifest.model,
            version: manifest.version,
            variant: manifest.variants[0].name,
            manifest: SHA256.digest(of: manifest.canonical)
        )
    }

    @Test("beginnings are counted as they were, and one that is taken back is no reason to wait a day")
    func beginnings() throws {
        let identity = try released("1.1.0")
        let now = fixture.clock.now
        var checked = CheckedVersions()
        for _ in 0..<5 { checked.begin(identity, at: now) }
        #expect(checked[identity]?.begun == 5)
        #expect(checked.rest(of: identity, at: now) == now.adding(seconds: 86_400))
        checked.interrupt(identity)
        #expect(checked[identity]?.begun == 4)
        #expect(checked.rest(of: identity, at: now) == nil)
    }

    @Test("vectors that never came to an end are begun at once when a person says so")
    func endlessCleared() async throws {
        let identity = try released("1.1.0")
        var checked = CheckedVersions()
        for _ in 0..<3 { checked.begin(identity, at: fixture.clock.now) }
        try fixture.device.save(checked)
        #expect(try await sync(passing).exitCode == 75)
        #expect(try device().clearQuarantine() == 0)
        #expect(try await sync(passing).exitCode == 0)
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    @Test("models of one group wait for one that fails, and others move")
    func groups() async throws {
        let fixture = try SyncFixture(["vision/detector", "vision/other"])
        for model in ["vision/detector", "vision/other"] { try fixture.registry.release("1.0.0", of: model) }
        let requests = ["vision/detector@stable", "vision/other@stable"]
        try await fixture.sync(requests)
        try fixture.registry.release("1.1.0", checks: Self.checks)
        try fixture.registry.release("1.1.0", of: "vision/other")
        let text = "#!/bin/sh\n\(wrong)\n"
        let path = try fixture.scratch.write("checker", Array(text.utf8), mode: 0o755)
        let report = try await fixture.sync(requests) { configuration in
            configuration.checkProgram = path
            configuration.runtimeLibrary = "/usr/lib/libonnxruntime.so"
            for index in configuration.models.indices { configuration.models[index].group = "pair" }
        }
        #expect(report.exitCode == 1, "\(report)")
        #expect(try fixture.activeVersion("vision/other") == "1.0.0")
        let alone = try await fixture.sync(requests)
        #expect(alone.exitCode == 0, "\(alone)")
        #expect(try fixture.activeVersion("vision/other") == "1.1.0")
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test("a damaged note is an empty one, and what is active is in nobody's way")
    func damaged() async throws {
        try release("1.1.0")
        #expect(try await sync(passing).exitCode == 0)
        try Durable.writeAtomically(fixture.directory + "/checked.json", Array("{}".utf8))
        #expect(try await sync(wrong).exitCode == 0)
        #expect(try fixture.activeVersion() == "1.1.0" && runs() == 1)
    }
}
