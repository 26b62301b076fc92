import Manifest
import Names
import SyncAgent
import Testing

@Suite("Versions that a device's runtime cannot load")
struct RuntimeTests {
    @Test("a version for a newer runtime is passed over with the reason, and taken once the runtime is there")
    func passedOver() async throws {
        let fixture = try SyncFixture()
        try fixture.registry.release("1.0.0")
        try fixture.registry.release("1.1.0", operators: 24)
        func sync(_ version: String) async throws -> SyncReport {
            try await fixture.sync {
                $0.runtimes = [try InstalledRuntime(name: "onnxruntime", version: version)]
            }
        }
        let report = try await sync("1.23.0")
        #expect(report.exitCode == 0 && report.models[0].active == "1.0.0")
        let why = try SyncedDevice(directory: fixture.directory).why("vision/detector")
        #expect(why.passedOver.map(\.version) == ["1.1.0"])
        #expect(
            why.passedOver[0].reason
                == "operators of ai.onnx: the app runs on onnxruntime 1.23.0, which has 23, the model needs 24; "
                + "keep the version that runs here, or update this machine"
        )
        #expect(try await sync("1.23.0").exitCode == 3)
        #expect(try await sync("1.24.0").models[0].active == "1.1.0")
    }

    @Test("without a runtime that somebody found, nothing is passed over for one")
    func unknown() async throws {
        let fixture = try SyncFixture()
        try fixture.registry.release("1.0.0", operators: 90)
        #expect(try await fixture.sync().models[0].active == "1.0.0")
    }

    @Test("what no runtime here loads does not take the place of what one does")
    func otherFormat() async throws {
        for format in [ModelFormat.coreMLModel, .tflite] {
            let fixture = try SyncFixture()
            try fixture.registry.release("1.0.0")
            let runtime = try InstalledRuntime(name: "onnxruntime", version: "1.24.1")
            for runtime in [runtime, runtime.asFound] {
                #expect(try await fixture.sync { $0.runtimes = [runtime] }.models[0].active == "1.0.0")
            }
            try fixture.registry.release("1.1.0", as: format)
            for runtime in [runtime, runtime.asFound] {
                let report = try await fixture.sync { $0.runtimes = [runtime] }
                #expect(report.exitCode == 3 && report.models[0].active == "1.0.0")
                let passed = try SyncedDevice(directory: fixture.directory).why("vision/detector").passedOver
                #expect(passed.map(\.version) == ["1.1.0"])
                #expect(passed[0].reason.contains("no runtime loads \(format.rawValue)"), "\(passed)")
            }
        }
    }

    @Test("a device that names a runtime does not begin with what none on such a system loads")
    func firstVersion() async throws {
        let fixture = try SyncFixture()
        try fixture.registry.release("1.0.0", as: .coreMLModel)
        let runtime = try InstalledRuntime(name: "onnxruntime", version: "1.24.1")
        #expect(try await fixture.sync(mode: .dryRun) { $0.runtimes = [runtime] }.models[0].active == nil)
        for runtimes in [[], [runtime.asFound]] {
            let report = try await fixture.sync(mode: .dryRun) { $0.runtimes = runtimes }
            #expect(report.models[0].active == "1.0.0")
        }
    }

    @Test("a runtime that Sealift does not know is the caller's mistake")
    func mistake() {
        let error = #expect(throws: SyncError.self) { try InstalledRuntime(name: "torch", version: "2.0") }
        #expect(error?.kind == .usage && error?.message.contains("onnxruntime") == true)
    }
}
