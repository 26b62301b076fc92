import Blocking
import Durable
import Generations
import Glibc
import Manifest
import Names
import Signing
import Support
import Testing

/// Every state that a power cut may leave on the disk, and every step of an update that may fail.
@Suite("Power cuts and failing disks")
struct PowerCutTests {
    private static let start = DeviceFixture.start

    /// Two versions have been active, and a third is about to be.
    private func prepared() throws -> DeviceFixture {
        let fixture = try DeviceFixture()
        try fixture.activate("1.0.0")
        try fixture.activate("1.1.0", after: 10)
        try Self.place("1.2.0", on: fixture.device)
        return fixture
    }

    /// Puts the files of a version in `incoming/`, as a finished download leaves them.
    private static func place(_ version: String, on device: DeviceDirectory) throws {
        let manifest = try DeviceFixture.manifest("vision/detector", version)
        for file in manifest.variants[0].files {
            let path = "\(device.incomingPath)/\(file.sha256.hex)"
            try Durable.writeAtomically(path, DeviceFixture.content(version, "\(file.path)"))
        }
    }

    private static func install(
        _ version: String,
        on device: DeviceDirectory
    ) throws -> GenerationRecord.Model {
        let manifest = try DeviceFixture.manifest("vision/detector", version)
        var sources: [Digest: String] = [:]
        for file in manifest.variants[0].files {
            sources[file.sha256] = "\(device.incomingPath)/\(file.sha256.hex)"
        }
        let record = try DeviceFixture.record(of: manifest)
        try device.install(record.identity, manifest: manifest.canonical, sources: sources)
        return record
    }

    /// Install, activate, go back, collect: everything that changes what is active.
    private static func update(_ device: DeviceDirectory) throws {
        let record = try install("1.2.0", on: device)
        for file in try DeviceFixture.manifest("vision/detector", "1.2.0").variants[0].files {
            try Durable.removeFile("\(device.incomingPath)/\(file.sha256.hex)")
        }
        let generation = try device.activate([record], created: start.adding(seconds: 100))
        _ = try device.collect(now: start.adding(seconds: 1_000), retain: 0, isWanted: { _ in false })
        try device.fallBack(from: generation)
    }

    /// The version that is active, every byte of it read.
    private static func checked(_ device: DeviceDirectory) throws -> String {
        let model = try device.activeModel(try require(ModelName("vision/detector")))
        _ = try model.verify()
        for file in model.content.files {
            let linked = "\(device.path)/current/vision/detector/\(file.path)"
            let bytes = try Durable.readFile(linked, maximum: .kibibytes(1))
            guard bytes == DeviceFixture.content("\(model.version)", "\(file.path)") else {
                throw MissingValue()
            }
        }
        return model.version.description
    }

    /// What the next sync does: it has its files again, and finishes.
    private static func finish(_ device: DeviceDirectory) throws {
        try place("1.3.0", on: device)
        let record = try install("1.3.0", on: device)
        try device.activate([record], created: start.adding(seconds: 200))
        guard try checked(device) == "1.3.0" else { throw MissingValue() }
    }

    @Test("whatever a power cut forgets, one whole generation is active, and the next update finishes")
    func powerCuts() throws {
        let fixture = try prepared()
        let base = fixture.scratch.path("base")
        let tree = try DiskTree(reading: fixture.device.path)
        try tree.write(base)
        let device = try DeviceDirectory.open(base)
        let recorder = DiskRecorder()
        let before = try DiskTree(reading: base)
        #expect(before.reachable() == tree.reachable())
        try Disk.$probe.withValue(recorder) { try Self.update(device) }
        #expect(recorder.all.count > 60)
        let copy = fixture.scratch.path("copy")
        try before.write(copy)
        let disk = try SimulatedDisk(copy, recorder.all.map { $0.moved(from: base, to: copy) })
        let last = disk.state(
            after: disk.operationCount,
            keeping: disk.unsafeCount(after: disk.operationCount),
            .kept
        )
        let real = try DiskTree(reading: base)
        #expect(last.reachable().keys.sorted() == real.reachable().keys.sorted())

        var seen: Set<[String: DiskTree.Node]> = []
        var found: [String: Int] = [:]
        var finished = 0
        for operations in 0...disk.operationCount {
            for kept in 0...disk.unsafeCount(after: operations) {
                for contents in SimulatedDisk.Contents.allCases {
                    let state = disk.state(after: operations, keeping: kept, contents)
                    guard seen.insert(state.reachable()).inserted else { continue }
                    let path = fixture.scratch.path("cut")
                    try Durable.removeTree(path)
                    try state.write(path)
                    let device = try DeviceDirectory.open(path)
                    let place: Comment = "after \(operations), \(kept) steps kept, contents \(contents)"
                    let version = try? Self.checked(device)
                    #expect(version != nil, place)
                    found[version ?? "none", default: 0] += 1
                    // Each finishes; all of them in a soak, every seventh otherwise.
                    guard Soak.isWhole || seen.count % 7 == 0 else { continue }
                    #expect(throws: Never.self, place) { try Self.finish(device) }
                    finished += 1
                }
            }
        }
        print(
            "soak: \(seen.count) states of \(disk.operationCount) operations, \(finished) finished: \(found)"
        )
        #expect(Set(found.keys) == ["1.1.0", "1.2.0"] && seen.count > 100)
    }

    @Test(
        "a disk that is full or fails at any one operation, or from there on, leaves a whole generation",
        arguments: [ENOSPC, EIO, EROFS],
        [false, true]
    )
    func failures(_ code: Int32, _ isLasting: Bool) throws {
        let fixture = try prepared()
        let tree = try DiskTree(reading: fixture.device.path)
        var index = 0
        while true {
            let path = fixture.scratch.path("failing")
            try Durable.removeTree(path)
            try tree.write(path)
            let device = try DeviceDirectory.open(path)
            let probe = FailingDisk(at: index, isLasting: isLasting, code: code)
            let error = Disk.$probe.withValue(probe) { () -> (any Error)? in
                do {
                    try Self.update(device)
                    return nil
                } catch { return error }
            }
            guard probe.hasFailed else { break }
            let version = try Self.checked(device)
            #expect(["1.1.0", "1.2.0"].contains(version), "operation \(index): \(String(describing: error))")
            #expect(throws: Never.self, "operation \(index)") { try Self.finish(device) }
            index += 1
        }
        #expect(index > 60)
    }
}

/// A disk that fails at one operation, or from there on.
final class FailingDisk: DiskProbe {
    private let index: Int
    private let isLasting: Bool
    private let code: Int32
    private let count = Guarded(0)

    init(at index: Int, isLasting: Bool, code: Int32) {
        self.index = index
        self.isLasting = isLasting
        self.code = code
    }

    var hasFailed: Bool { count.withLock { $0 > index } }

    func willPerform(_ operation: DiskOperation) throws(DurableError) {
        let own = count.withLock { count in
            defer { count += 1 }
            return count
        }
        guard own == index || isLasting && own > index else { return }
        throw .system(operation: "change", path: "\(operation)", code: code)
    }

    func didPerform(_ operation: DiskOperation) {}
}

extension DiskOperation {
    /// The same operation below another directory.
    fileprivate func moved(from base: String, to other: String) -> DiskOperation {
        func moved(_ path: String) -> String {
            path.hasPrefix(base) ? other + path.dropFirst(base.utf8.count) : path
        }
        return switch self {
        case .makeDirectory(let path): .makeDirectory(moved(path))
        case .makeFile(let path): .makeFile(moved(path))
        case .makeLink(let path, let destination): .makeLink(moved(path), destination: destination)
        case .addName(let path, let other): .addName(moved(path), of: moved(other))
        case .append(let path, let bytes): .append(moved(path), bytes)
        case .date(let path, let time): .date(moved(path), time)
        case .rename(let path, let other): .rename(moved(path), to: moved(other))
        case .exchange(let path, let other): .exchange(moved(path), moved(other))
        case .remove(let path): .remove(moved(path))
        case .removeDirectory(let path): .removeDirectory(moved(path))
        case .synchronizeFile(let path): .synchronizeFile(moved(path))
        case .synchronizeDirectory(let path): .synchronizeDirectory(moved(path))
        }
    }
}
