import Blocking
import Durable
import Generations
import Glibc
import Inference
import Manifest
import ModelLibraryTesting
import Names
import Testing

@testable import ModelLibrary

@Suite("Model library: quarantine")
struct LibraryQuarantineTests {
    private static let broken = "vision/detector 1.1.0"

    @Test("a version that the runtime cannot load is not tried again, by this library and by the next")
    func failedLoad() async throws {
        let arranged = try Arrangement { $0.retryAfter = .seconds(60) }
        let stream = await arranged.library.events()
        arranged.runtime.failLoads(ofPathsEndingIn: "1.1.0")
        try arranged.activate("1.1.0")
        #expect(try await arranged.answer().hasSuffix("1.0.0"))
        arranged.clock.advance(by: .seconds(120))
        #expect(try await arranged.answer().hasSuffix("1.0.0"))
        let events = await told(stream) { event in
            if case .quarantined = event { true } else { false }
        }
        let reason = "fake 1.0.0 cannot load it: FakeFailure("
        guard case .quarantined(Arrangement.model, "1.1.0", let told, .device) = events.last else {
            Issue.record("nothing was told")
            return
        }
        #expect(told.hasPrefix(reason))
        #expect(arranged.device.quarantine[Self.broken]?.hasPrefix(reason) == true)
        let next = ModelLibrary(device: arranged.device, runtimes: [arranged.runtime])
        #expect(try await next.withModel(arranged.request) { $0.version } == "1.0.0")
        #expect(arranged.runtime.counts.loads.filter { $0.hasSuffix("1.1.0") }.count == 1)
        try arranged.activate("1.2.0")
        #expect(try await arranged.answer().hasSuffix("1.2.0"))
    }

    @Test("with nothing before it every caller hears why, and the runtime is asked once")
    func nothingBefore() async throws {
        let arranged = try Arrangement()
        arranged.runtime.failLoads(ofPathsEndingIn: "1.0.0")
        await #expect(throws: ModelLibraryError.self) { try await arranged.answer() }
        for _ in 0..<3 {
            let error = await #expect(throws: ModelLibraryError.self) { try await arranged.answer() }
            guard case .refused(_, "1.0.0", let reason) = error else {
                Issue.record("another error: \(String(describing: error))")
                return
            }
            #expect(reason.contains("quarantined"))
        }
        #expect(arranged.runtime.counts.loads.count == 1)
    }

    @Test("what is not the model's fault is no reason: it is tried again")
    func passing() async throws {
        let arranged = try Arrangement()
        arranged.runtime.failNextLoad("out of threads")
        let error = await #expect(throws: ModelLibraryError.self) { try await arranged.answer() }
        guard case .failed = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(arranged.device.quarantine.isEmpty)
        #expect(try await arranged.answer().hasSuffix("1.0.0"))
    }

    @Test("what fails on one kind of processor alone is no reason: a ladder asks for another")
    func processor() async throws {
        let arranged = try Arrangement(processors: [.cpu, .gpu])
        arranged.runtime.failLoads(ofPathsEndingIn: "1.0.0")
        let request = try ModelRequest(Arrangement.model, loadOptions: LoadOptions(compute: .gpu))
        await #expect(throws: ModelLibraryError.self) { try await arranged.answer(request) }
        #expect(arranged.device.quarantine.isEmpty)
        await #expect(throws: ModelLibraryError.self) { try await arranged.answer() }
        #expect(arranged.device.quarantine.count == 1)
    }

    @Test("on a device that takes no note it is told, and this library alone goes by it")
    func readOnly() async throws {
        let arranged = try Arrangement { $0.retryAfter = .seconds(60) }
        arranged.device.makeReadOnly()
        arranged.runtime.failLoads(ofPathsEndingIn: "1.1.0")
        try arranged.activate("1.1.0")
        let stream = await arranged.library.events()
        for _ in 0..<2 {
            #expect(try await arranged.answer().hasSuffix("1.0.0"))
            arranged.clock.advance(by: .seconds(120))
        }
        let events = await told(stream) { event in
            if case .quarantined = event { true } else { false }
        }
        guard case .quarantined(_, _, _, .memory("the device is read-only")) = events.last else {
            Issue.record("nothing was told")
            return
        }
        #expect(arranged.runtime.counts.loads.filter { $0.hasSuffix("1.1.0") }.count == 1)
    }

    @Test("damaged files are no reason: a sync repairs them")
    func damaged() async throws {
        let arranged = try Arrangement()
        try arranged.activate("1.1.0")
        try arranged.device.damage(Arrangement.model, "1.1.0")
        #expect(try await arranged.answer().hasSuffix("1.0.0"))
        #expect(arranged.device.quarantine.isEmpty)
    }
}

@Suite("Model library: quarantine on a real device directory")
struct DeviceQuarantineTests {
    private let real: RealDevice
    private let request: ModelRequest
    private let runtime: FakeRuntime

    init() throws {
        real = try RealDevice()
        request = try ModelRequest("vision/detector")
        try real.activate("1.0.0")
        let ports = ModelPorts(try real.device.activeModel(real.name).interface)
        runtime = FakeRuntime(ports: ports, format: "onnx")
    }

    /// What a new process of the app uses.
    private func version() async throws -> String {
        var configuration = LibraryConfiguration()
        configuration.recheck = .zero
        let library = ModelLibrary(
            directory: real.device.path,
            runtimes: [runtime],
            configuration: configuration
        )
        return try await library.withModel(request) { $0.version }
    }

    private func loads(_ identity: VersionIdentity) -> Int {
        runtime.counts.loads.filter { $0.contains(identity.manifest.hex) }.count
    }

    private func quarantine() throws -> [String] {
        try real.device.note(Quarantine.self).entries.map { "\($0.version)" }
    }

    @Test(
        "a failed load is noted on the device, the version before is active again, and no process tries it again"
    )
    func failedLoad() async throws {
        let broken = try real.activate("1.1.0")
        runtime.failLoads(ofPathsEndingIn: "\(broken.manifest.hex)/model.onnx")
        #expect(try await version() == "1.0.0")
        #expect(try quarantine() == ["1.1.0"])
        #expect(try real.device.activeModel(real.name).version.description == "1.0.0")
        #expect(try await version() == "1.0.0")
        #expect(loads(broken) == 1)
        try real.activate("1.2.0")
        #expect(try await version() == "1.2.0")
    }

    @Test("a version whose loads took two processes down is not tried by the next")
    func crash() async throws {
        let broken = try real.activate("1.1.0")
        for _ in 0..<2 { withExtendedLifetime(real.device.beginLoading(broken.manifest)) {} }
        #expect(try await version() == "1.0.0")
        #expect(loads(broken) == 0)
        #expect(try quarantine() == ["1.1.0"])
        let entry = try real.device.note(Quarantine.self)[broken.manifest]
        #expect(entry?.reason.contains("2 processes in a row ended while they loaded it") == true)
    }

    @Test("a load that goes well leaves nothing behind but that it did")
    func goodLoad() async throws {
        let identity = try real.activate("1.1.0")
        #expect(try await version() == "1.1.0")
        #expect(real.device.loadHistory(of: identity.manifest) == LoadHistory(crashes: 0, hasLoaded: true))
        #expect(try Durable.names(in: "\(real.device.path)/loading") == ["\(identity.manifest.hex).loaded"])
    }

    @Test("what another process quarantines or lets be tried again is seen while the app runs")
    func otherProcess() async throws {
        let identity = try real.activate("1.1.0")
        var configuration = LibraryConfiguration()
        configuration.recheck = .zero
        let library = ModelLibrary(
            directory: real.device.path,
            runtimes: [runtime],
            configuration: configuration
        )
        func version() async throws -> String { try await library.withModel(request) { $0.version } }
        #expect(try await version() == "1.1.0")
        try real.device.changeQuarantine { quarantine in
            quarantine.add(Quarantine.Entry(identity, reason: "it crashed there", time: MachineClock.now))
        }
        #expect(try await version() == "1.0.0")
        try real.device.changeQuarantine { $0.entries = [] }
        #expect(try await version() == "1.1.0")
    }

    @Test("bytes that rotted without a trace in the file's state are damage, and not the version's fault")
    func rotten() async throws {
        let identity = try real.activate("1.1.0")
        let file = "\(real.device.path)/\(identity.relativePath)/model.onnx"
        var status = stat()
        #expect(lstat(file, &status) == 0)
        var bytes = try Durable.readFile(file, maximum: .mebibytes(1))
        bytes[bytes.count / 2] ^= 1
        #expect(chmod(file, 0o644) == 0)
        let descriptor = open(file, O_WRONLY)
        #expect(bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } == bytes.count)
        close(descriptor)
        #expect(chmod(file, 0o444) == 0)
        #expect(utimensat(AT_FDCWD, file, [status.st_atim, status.st_mtim], 0) == 0)
        runtime.failLoads(ofPathsEndingIn: "\(identity.manifest.hex)/model.onnx")
        #expect(try await version() == "1.0.0")
        #expect(try quarantine().isEmpty)
    }

    @Test("a device directory that cannot be written is gone by in memory")
    func readOnly() throws {
        let identity = try real.activate("1.1.0")
        let source = GenerationSource(directory: real.device.path)
        let version = try source.activeVersion(of: real.name)
        #expect(version.manifest == identity.manifest)
        let place = try Disk.$probe.withValue(NoDisk()) { try source.condemn(version, "it is broken") }
        guard case .memory = place else {
            Issue.record("it was written")
            return
        }
        #expect(try source.activeVersion(of: real.name).version.description == "1.0.0")
        #expect(try !source.mayRun(version))
        #expect(try quarantine().isEmpty)
    }
}

/// A disk that takes nothing.
private struct NoDisk: DiskProbe {
    func willPerform(_ operation: DiskOperation) throws(DurableError) {
        throw .system(operation: "write", path: "the disk", code: EROFS)
    }

    func didPerform(_ operation: DiskOperation) {}
}
