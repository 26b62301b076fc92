import Durable
import Generations
import Glibc
import Manifest
import Names
import Testing

@Suite("Versions that an app could not load")
struct CondemnationTests {
    private let fixture: DeviceFixture

    init() throws { fixture = try DeviceFixture() }

    private var device: DeviceDirectory { fixture.device }
    private var now: UnixTime { DeviceFixture.start }

    private func activate(_ versions: [(model: String, version: String)]) throws -> [VersionIdentity] {
        let models = try versions.map { try DeviceFixture.install($0.version, of: $0.model, on: device) }
        _ = try device.activate(models, created: now)
        return models.map(\.identity)
    }

    private func active() throws -> [String] {
        let generation = try require(try device.activeGeneration())
        return generation.record.models.map { "\($0.identity.model) \($0.identity.version)" }
    }

    @Test("the one before is active again, no other model moves, and the note says why")
    func earlier() throws {
        _ = try activate([("a/one", "1.0.0"), ("a/two", "1.0.0")])
        let second = try activate([("a/one", "1.1.0"), ("a/two", "1.1.0")])
        try device.condemn(second[0], reason: "it is broken", at: now)
        #expect(try active() == ["a/one 1.0.0", "a/two 1.1.0"])
        let entry = try device.note(Quarantine.self)[second[0].manifest]
        #expect(entry?.reason == "it is broken" && entry?.version == second[0].version)
        let one = try device.activeModel(second[0].model)
        #expect(one.reason.contains("1.1.0 is quarantined on this device: it is broken"))
    }

    @Test("with nothing good before it stays active, and the note alone says that nobody loads it")
    func alone() throws {
        let first = try activate([("a/one", "1.0.0")])
        let second = try activate([("a/one", "1.1.0")])
        try device.condemn(first[0], reason: "no good", at: now)
        #expect(try active() == ["a/one 1.1.0"])
        try device.condemn(second[0], reason: "no better", at: now)
        #expect(try active() == ["a/one 1.1.0"], "what is quarantined is no way back")
        #expect(try device.note(Quarantine.self).entries.map(\.reason) == ["no good", "no better"])
    }

    @Test("one that was condemned since a sync chose it is not made active")
    func chosenBefore() throws {
        let first = try activate([("a/one", "1.0.0")])
        let place = try device.activeGeneration()?.place
        let chosen = try DeviceFixture.install("1.1.0", of: "a/one", on: device)
        try device.condemn(chosen.identity, reason: "it is broken", at: now)
        func take(_ forbidden: Set<Digest>) throws -> ActiveGeneration? {
            try device.activate(
                [chosen],
                chosenOver: place,
                created: now,
                forbidden: forbidden,
                bounds: { _ in nil }
            )
        }
        #expect(throws: GenerationError.condemned(chosen.identity, reason: "it is broken")) {
            try take([])
        }
        #expect(try active() == ["a/one 1.0.0"])
        // What was known before, as of one that stays for want of another, is the sync's own business.
        #expect(try take([chosen.identity.manifest]) != nil)
        #expect(try take([chosen.identity.manifest]) == nil, "another became active")
        #expect(try device.note(Quarantine.self)[first[0].manifest] == nil)
    }

    @Test("one that is condemned at the moment of the switch is left again at once")
    func condemnedAtSwitch() throws {
        _ = try activate([("a/one", "1.0.0"), ("a/two", "1.0.0")])
        let place = try device.activeGeneration()?.place
        let chosen = try ["a/one", "a/two"].map { try DeviceFixture.install("1.1.0", of: $0, on: device) }
        let app = FailingApp(device: device, identity: chosen[0].identity, time: now)
        Disk.$probe.withValue(app) {
            #expect(throws: GenerationError.condemned(chosen[0].identity, reason: "it is broken")) {
                try device.activate(
                    chosen,
                    chosenOver: place,
                    created: now,
                    forbidden: [],
                    bounds: { _ in nil }
                )
            }
        }
        #expect(try active() == ["a/one 1.0.0", "a/two 1.1.0"])
    }

    @Test("where nothing can be written it is an error, and nothing changed")
    func readOnly() throws {
        _ = try activate([("a/one", "1.0.0")])
        let second = try activate([("a/one", "1.1.0")])
        Disk.$probe.withValue(NoDisk()) {
            #expect(throws: GenerationError.self) {
                try device.condemn(second[0], reason: "it is broken", at: now)
            }
        }
        #expect(try active() == ["a/one 1.1.0"])
        #expect(try device.note(Quarantine.self).entries.isEmpty)
    }
}

/// An app that writes its note about a version just as that becomes active.
private struct FailingApp: DiskProbe {
    let device: DeviceDirectory
    let identity: VersionIdentity
    let time: UnixTime

    func willPerform(_ operation: DiskOperation) throws(DurableError) {}

    func didPerform(_ operation: DiskOperation) {
        guard case .rename(_, to: device.currentPath) = operation else { return }
        let entry = Quarantine.Entry(identity, reason: "it is broken", time: time)
        try? device.changeQuarantine { $0.add(entry) }
    }
}

/// A disk that takes nothing.
private struct NoDisk: DiskProbe {
    func willPerform(_ operation: DiskOperation) throws(DurableError) {
        throw .system(operation: "write", path: "the disk", code: 30)
    }

    func didPerform(_ operation: DiskOperation) {}
}

@Suite("Loads that a process did not survive")
struct LoadAttemptTests {
    private let fixture: DeviceFixture
    private let manifest: Digest

    init() throws {
        fixture = try DeviceFixture()
        manifest = try require(fixture.activate("1.0.0").record.models.first).identity.manifest
    }

    private var device: DeviceDirectory { fixture.device }

    /// A process ends while it loads, and the system lets go what it held.
    private func crash() { withExtendedLifetime(device.beginLoading(manifest)) {} }

    @Test(
        "the second load that is not survived counts, one that goes on does not, and one that ended is forgotten"
    )
    func first() throws {
        #expect(device.loadHistory(of: manifest).verdict == nil)
        let other = try require(device.beginLoading(manifest))
        #expect(device.loadHistory(of: manifest) == LoadHistory(crashes: 0, hasLoaded: false))
        other.end(hasLoaded: false)
        #expect(device.loadHistory(of: manifest) == LoadHistory(crashes: 0, hasLoaded: false))
        crash()
        #expect(device.loadHistory(of: manifest) == LoadHistory(crashes: 1, hasLoaded: false))
        #expect(device.loadHistory(of: manifest).verdict == nil)
        crash()
        #expect(device.loadHistory(of: manifest).verdict?.contains("2 processes in a row") == true)
        device.forgetCrashes(of: manifest)
        #expect(device.loadHistory(of: manifest).verdict == nil)
    }

    @Test("a version that was loaded before must fail three times in a row")
    func later() throws {
        try require(device.beginLoading(manifest)).end(hasLoaded: true)
        crash()
        crash()
        #expect(device.loadHistory(of: manifest) == LoadHistory(crashes: 2, hasLoaded: true))
        #expect(device.loadHistory(of: manifest).verdict == nil)
        crash()
        #expect(device.loadHistory(of: manifest).verdict?.contains("3 processes in a row") == true)
    }

    @Test("several processes that look at once count the same crashes")
    func lookers() throws {
        crash()
        crash()
        let name = try require(Durable.names(in: "\(device.path)/loading").first)
        let looker = open("\(device.path)/loading/\(name)", O_RDONLY | O_CLOEXEC)
        defer { close(looker) }
        #expect(flock(looker, LOCK_SH | LOCK_NB) == 0)
        #expect(device.loadHistory(of: manifest).crashes == 2)
    }

    @Test("what was in progress when the machine went down says nothing")
    func otherBoot() throws {
        crash()
        for name in try Durable.names(in: "\(device.path)/loading") {
            let file = "\(device.path)/loading/\(name)"
            try Durable.writeAtomically(file, Array("another boot".utf8))
        }
        #expect(device.loadHistory(of: manifest) == LoadHistory(crashes: 0, hasLoaded: false))
        #expect(try Durable.names(in: "\(device.path)/loading").isEmpty)
    }

    @Test("what is known of a version is collected with it")
    func collected() throws {
        try require(device.beginLoading(manifest)).end(hasLoaded: true)
        crash()
        for version in ["1.1.0", "1.2.0", "1.3.0"] { try fixture.activate(version) }
        _ = try device.collect(now: DeviceFixture.start.adding(seconds: 1), retain: 0) { _ in false }
        #expect(try Durable.names(in: "\(device.path)/loading").isEmpty)
    }
}
