import Durable
import Generations
import Glibc
import Manifest
import Names
import Support
import SyncAgent
import Testing

/// What others did to the device's own files: the next sync puts it right.
@Suite("Sync faults: the device's own files")
struct SyncDamageTests {
    private let fixture: SyncFixture

    init() async throws {
        fixture = try SyncFixture()
        try fixture.registry.release("1.0.0")
        try await fixture.sync()
    }

    @Test("a damaged pointer is replaced by the next sync")
    func damagedPointer() async throws {
        try Durable.replaceLink("\(fixture.directory)/current", destination: "elsewhere")
        let report = try await fixture.sync()
        #expect(report.outcome == .activated && !report.warnings.isEmpty)
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test(
        "what stands in the place of a file of the device directory is replaced by the next sync",
        arguments: [
            "current", "lock", "decisions.json", "device/rollout", "trust/state.json", "trust/checked",
            "trust/timestamp.json",
            "trust/vision.json", "trust/poll-state",
        ],
        ["directory", "link", "pipe"]
    )
    func somethingElse(_ name: String, _ kind: String) async throws {
        let path = "\(fixture.directory)/\(name)"
        try Durable.removeTree(path)
        switch kind {
        case "directory": try Durable.makeDirectory(path + "/below")
        case "link": #expect(symlink("/nonexistent/place", path) == 0)
        default: #expect(mkfifo(path, 0o600) == 0)
        }
        #expect(try await fixture.sync().exitCode == 0)
        #expect(try await fixture.sync().exitCode == 0)
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test(
        "what stands in the place of a directory of the device is replaced by the next sync",
        arguments: [
            "generations", "fallback", "versions", "versions/vision", "versions/vision/detector", "incoming",
            "trust", "trust/targets", "trust/root_history", "device", "receipts", "loading",
        ],
        ["file", "link", "pipe"]
    )
    func noDirectory(_ name: String, _ kind: String) async throws {
        let path = "\(fixture.directory)/\(name)"
        try Durable.removeTree(path)
        switch kind {
        case "file": try Durable.writeAtomically(path, [1])
        case "link": #expect(symlink("/nonexistent/place", path) == 0)
        default: #expect(mkfifo(path, 0o600) == 0)
        }
        #expect(try await fixture.sync().exitCode == 0)
        #expect(try await fixture.sync().exitCode == 0)
        #expect(try fixture.activeVersion() == "1.0.0")
        try fixture.registry.release("1.1.0")
        #expect(try await fixture.sync().exitCode == 0)
        #expect(try fixture.activeVersion() == "1.1.0")
    }

    @Test(
        "what stands in the place of a version's manifest is replaced by the next sync",
        arguments: ["directory", "link", "pipe", "long"]
    )
    func noManifest(_ kind: String) async throws {
        let model = try fixture.device.activeModel(try require(ModelName("vision/detector")))
        let path = model.directory + ".json"
        try Durable.removeTree(path)
        switch kind {
        case "directory": try Durable.makeDirectory(path + "/below")
        case "link": #expect(symlink("/nonexistent/place", path) == 0)
        case "pipe": #expect(mkfifo(path, 0o600) == 0)
        default: try Durable.writeAtomically(path, [UInt8](repeating: 32, count: 2 << 20))
        }
        #expect(try await fixture.sync().exitCode == 0)
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test(
        "a damaged note about recalls neither takes a good version away nor brings a recalled one back",
        arguments: ["flipped", "empty", "directory", "sound"]
    )
    func damagedState(_ kind: String) async throws {
        let name = try require(ModelName("vision/detector"))
        let manifest = try fixture.device.activeModel(name).manifestDigest
        let now = DeviceRegistry.start
        func damage(_ name: String) throws {
            let path = "\(fixture.directory)/trust/\(name)"
            var bytes = try Durable.readFile(path, maximum: .mebibytes(1))
            bytes[0] ^= 1
            try Durable.removeTree(path)
            switch kind {
            case "flipped": try Durable.writeAtomically(path, bytes)
            case "empty": try Durable.writeAtomically(path, [])
            case "sound":
                // Still a document of its kind, and no copy of the truth.
                bytes[0] ^= 1
                let text = String(decoding: bytes, as: UTF8.self)
                let other = text.replacing(manifest.hex, with: String(repeating: "0", count: 64))
                    .replacing("\"fresh_until\":\"2", with: "\"fresh_until\":\"1")
                try Durable.writeAtomically(path, Array(other.utf8))
            default: try Durable.makeDirectory(path + "/below")
            }
        }
        try damage("state.json")
        #expect(try fixture.device.obstacle(to: manifest) == nil)
        #expect(try SyncedDevice(directory: fixture.directory).status(at: now).freshness == .fresh)
        // One that says that the active version is recalled, as where it could not be left yet.
        let state = try require(try fixture.device.trustState())
        let recalling = TrustState(
            checked: state.checked,
            freshUntil: state.freshUntil,
            graceUntil: state.graceUntil,
            recalled: [manifest]
        )
        try fixture.device.save(recalling)
        try damage("state.json")
        #expect(try fixture.device.obstacle(to: manifest)?.contains("recalled") == true)
        try damage("state-copy.json")
        #expect(try fixture.device.obstacle(to: manifest) == nil, "as if no sync had finished")
        #expect(try await fixture.sync().exitCode == 0)
        #expect(try fixture.device.trustState() != nil)
    }

    @Test("the copy of the note about recalls is put right by a sync that finds nothing new")
    func damagedCopy() async throws {
        let trust = "\(fixture.directory)/trust"
        try Durable.writeAtomically("\(trust)/state-copy.json", [1])
        #expect(try await fixture.sync().exitCode == 0)
        try Durable.writeAtomically("\(trust)/state.json", [1])
        #expect(try fixture.device.trustState() != nil)
    }

    @Test("a file in incoming that has a second name elsewhere does not become the active one")
    func secondName() async throws {
        let model = try fixture.device.activeModel(try require(ModelName("vision/detector")))
        let file = try require(model.content.files.first { $0.path == model.entry })
        let outside = fixture.scratch.path("outside")
        try Durable.writeAtomically(outside, try Durable.readFile(model.entryPath, maximum: .mebibytes(1)))
        chmod(outside, 0o444)
        try Durable.removeTree(fixture.directory)
        try Durable.makeDirectory("\(fixture.directory)/incoming")
        #expect(link(outside, "\(fixture.directory)/incoming/\(file.sha256.hex)") == 0)
        try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.0.0")
        var status = stat()
        #expect(stat(outside, &status) == 0 && status.st_nlink == 1, "nobody else holds it now")
    }

    @Test("a device directory that was moved is whole where it is now, and nothing is fetched again")
    func moved() async throws {
        let elsewhere = fixture.scratch.path("another/place")
        try Durable.makeDirectory(Durable.parent(of: elsewhere))
        #expect(rename(fixture.directory, elsewhere) == 0)
        #expect(try SyncedDevice(directory: elsewhere).verify() > 0)
        let report = try await fixture.sync { $0.directory = elsewhere }
        #expect(report.outcome == .unchanged && report.bytesFetched == 0 && report.exitCode == 0)
        try fixture.registry.release("1.1.0")
        try await fixture.sync { $0.directory = elsewhere }
        let status = try SyncedDevice(directory: elsewhere).status()
        #expect(status.models[0].version == "1.1.0" && status.models[0].problem == nil)
        #expect(status.models[0].entry.contains("another/place/versions/"))
    }

    @Test(
        "a file as deep and as long as names may be is taken; where the system has no room for that, it is said"
    )
    func deepPaths() async throws {
        func path(_ length: Int) -> String {
            (0..<16).map { String(repeating: "x", count: length - 2) + ($0 < 10 ? "0\($0)" : "\($0)") }
                .joined(separator: "/")
        }
        try fixture.registry.release("1.1.0", labels: path(200))
        try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.1.0")
        try fixture.registry.release("1.2.0", labels: path(255))
        let report = try await fixture.sync()
        let failure = try require(report.models[0].failure)
        #expect(failure.kind != .temporary && failure.message.contains("name too long"), "\(failure)")
        #expect(try fixture.activeVersion() == "1.1.0")
        try fixture.registry.release("1.2.1")
        try await fixture.sync()
        #expect(try fixture.activeVersion() == "1.2.1")
    }
}
