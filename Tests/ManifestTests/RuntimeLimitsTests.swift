import Manifest
import Names
import Testing

@Suite("What releases of runtimes read")
struct RuntimeLimitsTests {
    @Test(
        "a release of ONNX Runtime reads what is known of it, or at most what the next that is known does",
        arguments: [
            ("1.0.0", 6, 11), ("1.2.0", 6, 11), ("1.4.0", 6, 12), ("1.6.0", 7, 13), ("1.9.0", 7, 15),
            ("1.12.1", 8, 17), ("1.14.1", 8, 18), ("1.15.1", 9, 18), ("1.16.3", 9, 19), ("1.17.3", 9, 20),
            ("1.18.0", 10, 21), ("1.20.1", 10, 21), ("1.21.0", 10, 22), ("1.23.2", 11, 23),
            ("1.24.1", 13, 25),
            ("1.28.0", 13, 26), ("1.32.0", 14, 28),
        ] as [(String, Int64, Int64)]
    )
    func limits(_ version: String, _ ir: Int64, _ operators: Int64) throws {
        let runtime = try #require(Machine.Runtime(named: "onnxruntime", version: version))
        #expect(runtime.irVersion == ir && runtime.opsets["ai.onnx"] == operators)
        #expect(runtime.formats == [.onnx])
    }

    @Test("of a release after the last that was tried nothing is known, so nothing is refused because of it")
    func later() throws {
        let runtime = try #require(Machine.Runtime(named: "onnxruntime", version: "1.33.0"))
        #expect(runtime.irVersion == nil && runtime.opsets.isEmpty)
    }

    @Test(
        "a name or version that is none is not taken",
        arguments: [("ort", "1.2.3"), ("onnxruntime", "latest"), ("onnxruntime", "0.5.0")]
    )
    func wrong(_ name: String, _ version: String) {
        #expect(Machine.Runtime(named: name, version: version) == nil)
    }

    @Test("a runtime that was found decides about its own format alone")
    func found() throws {
        var variant = try Samples.manifest().variants[0]
        variant.requires = Requirements(irVersion: 14, opsets: ["ai.onnx": 26, "ai.onnx.ml": 5])
        var machine = Machine(operatingSystem: "linux", architecture: "x86-64")
        #expect(machine.obstacles(to: variant).isEmpty)
        machine.runtimes = [try #require(Machine.Runtime(named: "onnxruntime", version: "1.24.1"))]
        let obstacles = machine.obstacles(to: variant).map(\.description)
        #expect(obstacles.count == 2 && obstacles == machine.versionObstacles(variant).map(\.description))
        #expect(obstacles[0].contains("IR version: the app runs on onnxruntime 1.24.1, which reads 13"))
        #expect(obstacles[1].contains("operators of ai.onnx"))
        variant.format = .tflite
        #expect(machine.obstacles(to: variant).isEmpty)
        machine.hasNoOtherRuntimes = true
        #expect(machine.obstacles(to: variant).map(\.row) == [.formatChanged])
    }
}
