import Durable
import Generations
import Glibc
import Manifest
import Names
import Support
import Testing

/// Stops a process dead at each step of an update, and looks at what is left.
@Suite("Crashes", .serialized)
struct CrashTests {
    private let fixture: DeviceFixture

    init() throws {
        fixture = try DeviceFixture()
        try fixture.activate("1.0.0")
        try fixture.activate("1.1.0", after: 10)
    }

    private static let steps: [(String, isNew: Bool)] = [
        ("stage.files", false), ("stage.version", false), ("stage.renamed", false),
        ("write.created:generation.json", false), ("write.renamed:generation.json", false),
        ("generation.written", false), ("fallback.staged", false), ("link.created:.current", false),
        ("link.renamed:.current", false), ("fallback.written", false), ("write.created:trials.json", false),
        ("write.renamed:trials.json", false), ("activate.before-rename", false),
        ("link.created:/current", false), ("link.renamed:/current", true), ("activate.after-rename", true),
        ("collect", true), ("collect.renamed", true),
    ]

    @Test(
        "a process killed at any step of falling back is on the generation or on its fallback, and both are whole",
        arguments: [("fall-back.before-rename", false), ("fall-back.after-rename", true)]
    )
    func killedFallingBack(_ step: String, _ isBack: Bool) async throws {
        let path = fixture.device.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [step, path = path as String] in
            setenv("SEALIFT_CRASH_AT", step, 1)
            let device = try DeviceDirectory.open(path)
            if let active = try device.activeGeneration() { try device.fallBack(from: active) }
        }
        let model = try fixture.device.activeModel(fixture.detector)
        #expect(model.version.description == (isBack ? "1.0.0" : "1.1.0"))
        #expect(try model.verify() > 0)
        try CrashTests.update(to: "1.3.0", fixture.device)
        #expect(try fixture.activeVersion == "1.3.0")
        try expectClean()
    }

    @Test("falling back needs no room: it succeeds where not one byte can be written")
    func fallingBackOnFullDisk() async throws {
        let path = fixture.device.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let device = try DeviceDirectory.open(path)
            try Disk.$probe.withValue(FullDisk()) {
                if let active = try device.activeGeneration() { try device.fallBack(from: active) }
            }
        }
        #expect(try fixture.activeVersion == "1.0.0")
    }

    @Test(
        "a process killed at any step leaves one whole generation, and the next update finishes and cleans up",
        arguments: steps
    )
    func killed(_ step: String, _ isNew: Bool) async throws {
        let path = fixture.device.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [step, path = path as String] in
            setenv("SEALIFT_CRASH_AT", step, 1)
            try CrashTests.update(to: "1.2.0", DeviceDirectory.open(path))
        }
        let model = try fixture.device.activeModel(fixture.detector)
        #expect(model.version.description == (isNew ? "1.2.0" : "1.1.0"))
        #expect(try model.verify() > 0)

        try CrashTests.update(to: "1.3.0", fixture.device)
        #expect(try fixture.device.activeModel(fixture.detector).verify() > 0)
        #expect(try fixture.activeVersion == "1.3.0")
        try expectClean()
    }

    @Test(
        "a full disk at any step leaves the old generation, and the next update finishes and cleans up",
        arguments: steps.filter { !$0.isNew }.map(\.0)
    )
    func fullDisk(_ step: String) async throws {
        let path = fixture.device.path
        await #expect(processExitsWith: .success) { [step, path = path as String] in
            setenv("SEALIFT_FAULT_AT", step, 1)
            let error = #expect(throws: GenerationError.self) {
                try CrashTests.update(to: "1.2.0", DeviceDirectory.open(path))
            }
            guard case .disk(let reason)? = error else {
                Issue.record("another error: \(String(describing: error))")
                return
            }
            #expect(reason.isOutOfSpace)
        }
        #expect(try fixture.activeVersion == "1.1.0")
        #expect(try fixture.device.activeModel(fixture.detector).verify() > 0)
        try CrashTests.update(to: "1.3.0", fixture.device)
        #expect(try fixture.activeVersion == "1.3.0")
        try expectClean()
    }

    /// Install, activate, collect: what a sync does to the disk.
    static func update(to version: String, _ device: DeviceDirectory) throws {
        let record = try DeviceFixture.install(version, on: device)
        try device.activate([record], created: DeviceFixture.start.adding(seconds: 100))
        let now = DeviceFixture.start.adding(seconds: 1_000)
        _ = try device.collect(now: now, retain: 0, isWanted: { _ in false })
    }

    /// Only the active generation and the one before it are left, and nothing under a hidden name.
    private func expectClean() throws {
        let device = fixture.device
        #expect(try Durable.names(in: device.generationsPath).count <= 2)
        let fallbacks = try Durable.names(in: device.fallbackPath)
        #expect(fallbacks.filter { $0.hasSuffix(".current") }.count == 1)
        #expect(fallbacks.allSatisfy { !$0.hasPrefix(".") })
        let versions = try Durable.names(in: "\(device.versionsPath)/vision/detector")
        #expect(versions.count == 4)
        #expect(versions.allSatisfy { !$0.hasPrefix(".") })
        #expect(try Durable.names(in: device.incomingPath).isEmpty)
        #expect(try Durable.names(in: device.path).allSatisfy { !$0.hasPrefix(".") })
    }
}

/// A disk on which nothing can be made or written; names can be moved and taken away.
struct FullDisk: DiskProbe {
    func willPerform(_ operation: DiskOperation) throws(DurableError) {
        switch operation {
        case .makeDirectory(let path), .makeFile(let path), .makeLink(let path, _), .addName(let path, _),
            .append(let path, _):
            throw .system(operation: "write", path: path, code: ENOSPC)
        case .date, .rename, .exchange, .remove, .removeDirectory, .synchronizeFile, .synchronizeDirectory:
            break
        }
    }

    func didPerform(_ operation: DiskOperation) {}
}
