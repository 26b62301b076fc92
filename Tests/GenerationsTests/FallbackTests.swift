import Blocking
import Durable
import Generations
import Glibc
import Names
import Support
import Testing

@Suite("Fallback")
struct FallbackTests {
    private let fixture: DeviceFixture
    private let bounds = TrialBounds(starts: 3, seconds: 3_600)

    init() throws { fixture = try DeviceFixture() }

    private var device: DeviceDirectory { fixture.device }
    private var now: UnixTime { DeviceFixture.start }

    /// Installs and activates versions, all of them on trial.
    @discardableResult
    private func activate(_ versions: [(model: String, version: String)]) throws -> ActiveGeneration {
        let models = try versions.map { try DeviceFixture.install($0.version, of: $0.model, on: device) }
        return try device.activate(models, created: now, bounds: { _ in bounds })
    }

    private func confirm() throws {
        var trials = try device.note(Trials.self)
        for entry in trials.entries { trials.change(entry.manifest) { $0.state = .confirmed } }
        try device.save(trials)
    }

    private func active() throws -> [String] {
        let generation = try require(try device.activeGeneration())
        return try generation.record.models.map { model in
            _ = try generation.model(model.identity.model).verify()
            return "\(model.identity.model) \(model.identity.version)"
        }
    }

    @Test("a generation that fails is left by one rename, and what it changed is what is left")
    func oneRename() throws {
        try activate([("a/one", "1.0.0"), ("a/two", "1.0.0")])
        try confirm()
        let second = try activate([("a/one", "1.1.0"), ("a/two", "1.0.0")])
        #expect(try Durable.destination(ofLink: "\(device.fallbackPath)/000002.current") == "fallback/000002")
        let back = try device.fallBack(from: second)
        #expect(back.place == .fallback(2))
        #expect(try Durable.destination(ofLink: device.currentPath) == "fallback/000002")
        #expect(try Durable.kind(of: "\(device.fallbackPath)/000002.current") == nil)
        #expect(try active() == ["a/one 1.0.0", "a/two 1.0.0"])
        let left = device.versionsLeft(try require(try device.activeGeneration()))
        #expect(left.map(\.identity.version.description) == ["1.1.0"])
        #expect(throws: GenerationError.self) { try device.fallBack(from: back) }
    }

    @Test("what was never confirmed is not gone back to: an older good version is, or none")
    func lastGood() throws {
        try activate([("a/one", "1.0.0")])
        try confirm()
        try activate([("a/one", "1.1.0")])
        let third = try activate([("a/one", "1.2.0"), ("a/two", "1.0.0")])
        try device.fallBack(from: third)
        #expect(try active() == ["a/one 1.0.0"])
    }

    @Test("a version on trial that the next generation keeps is still gone back from")
    func carriedTrial() throws {
        try activate([("a/one", "1.0.0"), ("a/two", "1.0.0")])
        try confirm()
        try activate([("a/one", "1.1.0"), ("a/two", "1.0.0")])
        let third = try activate([("a/one", "1.1.0"), ("a/two", "1.1.0")])
        #expect(try device.note(Trials.self).entries.map(\.state) == [.trial, .trial])
        try device.fallBack(from: third)
        #expect(try active() == ["a/one 1.0.0", "a/two 1.0.0"])
    }

    @Test("what was gone back to is good, and is not on trial in the next generation")
    func goodAgain() throws {
        try activate([("a/one", "1.0.0")])
        try confirm()
        try device.fallBack(from: try activate([("a/one", "1.1.0")]))
        try activate([("a/one", "1.0.0")])
        #expect(try device.note(Trials.self).entries.map(\.state) == [.confirmed])
    }

    @Test("an activation that fails before the rename ends no trial of what stays active")
    func failedActivation() throws {
        try activate([("a/one", "1.0.0")])
        let second = try activate([("a/one", "1.1.0")])
        #expect(throws: GenerationError.self) {
            try Disk.$probe.withValue(FixedPointer(path: device.currentPath)) {
                _ = try activate([("a/one", "1.2.0")])
            }
        }
        #expect(try active() == ["a/one 1.1.0"])
        let manifest = second.record.models[0].identity.manifest
        #expect(try device.note(Trials.self)[manifest]?.state == .trial)
    }

    @Test("what an app confirms while the next generation is written stays confirmed")
    func confirmedMeanwhile() throws {
        try activate([("a/one", "1.0.0")])
        try Disk.$probe.withValue(ConfirmingApp(device: device)) {
            _ = try activate([("a/one", "1.0.0"), ("a/two", "1.0.0")])
        }
        #expect(try device.note(Trials.self).entries.map(\.state) == [.confirmed, .trial])
    }

    @Test("the next generation counts on, and collection keeps the way back and what it holds")
    func nextAndCollect() throws {
        try activate([("a/one", "1.0.0")])
        try confirm()
        let second = try activate([("a/one", "1.1.0")])
        _ = try device.collect(now: now.adding(seconds: 10_000), retain: 0, isWanted: { _ in false })
        try device.fallBack(from: second)
        _ = try device.collect(now: now.adding(seconds: 10_000), retain: 0, isWanted: { _ in false })
        #expect(try active() == ["a/one 1.0.0"])
        #expect(device.versionsLeft(try require(try device.activeGeneration())).count == 1)
        let third = try activate([("a/one", "1.0.0")])
        #expect(third.number == 3 && third.record.previous == 2 && third.record.leftFallback)
        _ = try device.collect(now: now.adding(seconds: 10_000), retain: 0, isWanted: { _ in false })
        #expect(try active() == ["a/one 1.0.0"])
        #expect(try Durable.names(in: device.fallbackPath) == ["000002", "000003", "000003.current"])
    }

    @Test("a recalled version leaves the way back, and the ready link still leads to a whole generation")
    func purge() throws {
        try activate([("a/one", "1.0.0"), ("a/two", "1.0.0")])
        try confirm()
        let second = try activate([("a/one", "1.1.0"), ("a/two", "1.1.0")])
        let fallback = try require(device.fallback(of: second)).record.models
        let recalled = try require(fallback.first).identity.manifest
        try device.purgeFallback(of: second) { $0 == recalled }
        try device.fallBack(from: second)
        #expect(try active() == ["a/two 1.0.0"])
    }

    @Test("a fallback that is damaged is not taken, and the generation stays")
    func damaged() throws {
        try activate([("a/one", "1.0.0")])
        try confirm()
        let second = try activate([("a/one", "1.1.0")])
        let old = try require(device.fallback(of: second)?.record.models.first).identity
        try DeviceFixture.overwrite("\(device.path)/\(old.relativePath)/model.onnx", [1, 2, 3])
        #expect(throws: GenerationError.self) { try device.fallBack(from: second) }
        #expect(try active() == ["a/one 1.1.0"])
    }

    @Test("the one whose trial was lost is to blame; without a lost trial, all that were left")
    func blame() throws {
        try activate([("a/one", "1.0.0"), ("a/two", "1.0.0")])
        try confirm()
        let second = try activate([("a/one", "1.1.0"), ("a/two", "1.1.0")])
        var trials = try device.note(Trials.self)
        trials.change(second.record.models[0].identity.manifest) { for _ in 0..<4 { $0.countStart() } }
        try device.save(trials)
        let back = try device.fallBack(from: second)
        #expect(try device.failedVersions(back, at: now).map(\.model.identity.model.description) == ["a/one"])
        try confirm()
        #expect(try device.failedVersions(back, at: now).count == 2)
    }

    @Test(
        "Python reads the fallback as well",
        .enabled(if: Python.path != nil, "no Python environment; ‘make setup’ makes it")
    )
    func python() async throws {
        try fixture.activate("1.0.0")
        try device.fallBack(from: try fixture.activate("1.1.0"))
        let script = "import sealift; print(sealift.active('vision/detector').version)"
        let result = try await Python.run(script, device: device.path)
        #expect(result.outputText == "1.0.0\n", "\(result.errorText)")
    }
}

/// A disk on which one name cannot be replaced.
private struct FixedPointer: DiskProbe {
    let path: String

    func willPerform(_ operation: DiskOperation) throws(DurableError) {
        guard case .rename(_, let to) = operation, to == path else { return }
        throw .system(operation: "replace", path: path, code: EIO)
    }

    func didPerform(_ operation: DiskOperation) {}
}

/// An app that confirms what it runs as soon as the record of a next generation is there.
private struct ConfirmingApp: DiskProbe {
    let device: DeviceDirectory

    func willPerform(_ operation: DiskOperation) {}

    func didPerform(_ operation: DiskOperation) {
        guard case .rename(_, let to) = operation, to.hasSuffix("/generation.json") else { return }
        try? device.changeTrials { trials in
            for entry in trials.entries { trials.change(entry.manifest) { $0.state = .confirmed } }
        }
    }
}

@Suite("Trials")
struct TrialTests {
    private let start = DeviceFixture.start

    private func entry(_ bounds: TrialBounds?) throws -> Trials.Entry {
        let record = try DeviceFixture.record(of: DeviceFixture.manifest("a/one", "1.0.0"))
        return Trials.Entry(record.identity, since: start, bounds: bounds)
    }

    @Test(
        "a trial is lost by one start too many or one second too late, and by no clock that cannot be believed",
        arguments: [
            (3, 3_600, false), (4, 0, true), (0, 3_600, false), (0, 3_601, true), (0, -86_400, false),
            (3, nil, false), (4, nil, true),
        ] as [(Int, Int64?, Bool)]
    )
    func bounds(_ starts: Int, _ seconds: Int64?, _ isLost: Bool) throws {
        var entry = try entry(try require(TrialBounds(starts: 3, seconds: 3_600)))
        for _ in 0..<starts { entry.countStart() }
        #expect((entry.failure(at: seconds.map { start.adding(seconds: $0) }) != nil) == isLost)
    }

    @Test("what was confirmed is not lost any more, and without bounds nothing is on trial")
    func confirmed() throws {
        var bounded = try entry(try require(TrialBounds(starts: 1, seconds: 1)))
        bounded.state = .confirmed
        var free = try entry(nil)
        for _ in 0..<99 {
            bounded.countStart()
            free.countStart()
        }
        #expect(bounded.failure(at: start.adding(seconds: 99)) == nil)
        #expect(free.state == .confirmed && free.failure(at: start.adding(seconds: 99)) == nil)
    }

    @Test("notes are read back as written, and damaged ones count as empty")
    func notes() throws {
        let fixture = try DeviceFixture()
        let device = fixture.device
        let identity = try DeviceFixture.record(of: DeviceFixture.manifest("a/one", "1.0.0")).identity
        var trials = Trials()
        trials.entries = [try entry(nil), try entry(try require(TrialBounds(starts: 2, seconds: 9)))]
        var quarantine = Quarantine()
        quarantine.add(Quarantine.Entry(identity, reason: "crash \"loop\"", time: start))
        quarantine.add(Quarantine.Entry(identity, reason: "again", time: start))
        quarantine.settled = 7
        var pins = Pins()
        pins.versions[identity.model] = identity.version
        try device.save(trials)
        try device.save(quarantine)
        try device.save(pins)
        #expect(try device.note(Trials.self) == trials)
        #expect(try device.note(Quarantine.self) == quarantine)
        #expect(quarantine.entries.count == 1)
        #expect(try device.note(Pins.self) == pins)
        for name in [Trials.fileName, Quarantine.fileName, Pins.fileName] {
            try Durable.writeAtomically("\(device.path)/\(name)", Array("{\"models\":[{}]".utf8))
        }
        #expect(try device.note(Trials.self) == Trials())
        #expect(try device.note(Quarantine.self) == Quarantine())
        #expect(try device.note(Pins.self) == Pins())
    }
}
