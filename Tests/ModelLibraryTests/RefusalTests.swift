import Blocking
import CanonicalJSON
import Inference
import ModelLibrary
import ModelLibraryTesting
import Support
import Testing

@Suite("Model library: what is refused")
struct RefusalTests {
    @Test("a recalled version is not lent, though it is in memory")
    func recalled() async throws {
        let arranged = try Arrangement()
        _ = try await arranged.answer()
        try arranged.device.recall(Arrangement.model, "1.0.0")
        await #expect(
            throws: ModelLibraryError.refused(
                model: "vision/detector",
                version: "1.0.0",
                reason: "it is recalled"
            )
        ) { try await arranged.answer() }
    }

    @Test("a version that lies about its interface is refused and not kept")
    func lies() async throws {
        let other = ModelPorts(
            inputs: [Port(name: "x", kind: .tensor(.float32, [.fixed(7)]))],
            outputs: ModelPorts.fake.outputs
        )
        let arranged = try Arrangement(ports: other)
        let error = await #expect(throws: ModelLibraryError.self) { try await arranged.answer() }
        guard case .refused(_, _, let reason) = error else {
            Issue.record("another error")
            return
        }
        #expect(reason == "the input 'x' is declared as float32[n], the runtime has float32[7]")
        #expect(arranged.runtime.counts.alive.isEmpty)
        #expect(arranged.library.residents.isEmpty)
    }

    @Test("a format that no runtime runs is said")
    func noRuntime() async throws {
        let arranged = try Arrangement(format: "gguf")
        await #expect(
            throws: ModelLibraryError.noRuntime(model: "vision/detector", version: "1.0.0", format: "gguf")
        ) { try await arranged.answer() }
    }

    @Test("a model that is not active is said, and a name that is none")
    func notActive() async throws {
        let arranged = try Arrangement()
        let other = try ModelRequest("vision/other")
        await #expect(throws: ModelLibraryError.self) { try await arranged.library.withModel(other) { _ in } }
        #expect(throws: ModelLibraryError.invalidName("Vision")) { try ModelRequest("Vision") }
    }

    @Test("a missing device directory is not available, with what to do")
    func noDirectory() async throws {
        let library = ModelLibrary(directory: "/nowhere/at/all", runtimes: [FakeRuntime()])
        let error = await #expect(throws: ModelLibraryError.self) {
            try await library.withModel(try ModelRequest("vision/detector")) { _ in }
        }
        guard case .notAvailable("vision/detector", let reason) = error else {
            Issue.record("another error")
            return
        }
        #expect(reason.contains("sealift sync"))
    }
}

@Suite("Model library: golden vectors")
struct LibraryGoldenTests {
    private static let ports = ModelPorts(
        inputs: [Port(name: "x", kind: .tensor(.float32, [.symbol("n")]))],
        outputs: [Port(name: "y", kind: .tensor(.float32, [.symbol("n")]))]
    )

    /// One vector: 0, 0 in, `expected` out, each a float of four bytes in base64.
    private func library(
        expecting expected: String,
        _ answer: [Float],
        failing failure: InferenceError? = nil
    ) throws -> (ModelLibrary, FakeDevice) {
        let device = FakeDevice(ports: Self.ports)
        try device.activate(Arrangement.model, "1.0.0")
        let check = JSONValue.members([
            "inputs": .members(["x": .members(["base64": .text("AAAAAAAAAAA=")])]),
            "outputs": .members(["y": .members(["base64": .text(expected)])]),
        ])
        try device.setChecks([check], of: Arrangement.model, "1.0.0")
        let runtime = FakeRuntime(ports: Self.ports) { _, inputs in
            if let failure { throw failure }
            guard inputs["x"]?.shape == [2] else { throw FakeFailure(text: "odd shape") }
            return ["y": .tensor(try Tensor(answer, shape: [answer.count]))]
        }
        return (ModelLibrary(device: device, runtimes: [runtime]), device)
    }

    @Test("a model that reproduces its vectors is lent, one that does not is refused with both numbers")
    func compared() async throws {
        let request = try ModelRequest(Arrangement.model)
        let (good, _) = try library(expecting: "AACAPwAAAEA=", [1, 2])
        try await good.withModel(request) { _ in }
        let (bad, _) = try library(expecting: "AACAPwAAAEA=", [1, 3])
        let error = await #expect(throws: ModelLibraryError.self) {
            try await bad.withModel(request) { _ in }
        }
        guard case .refused(_, _, let reason) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(reason.hasPrefix("golden vector 0 is not reproduced: the output 'y' is 3.0 at element 1"))
        #expect(bad.residents.isEmpty)
    }

    @Test("vectors are run once a version, runtime and options, and by no later run that has the record")
    func once() async throws {
        let (folder, runs) = (Scratch(), Guarded(0))
        let device = FakeDevice(ports: Self.ports)
        let check = JSONValue.members([
            "inputs": .members(["x": .members(["base64": .text("AAAAAAAAAAA=")])]),
            "outputs": .members(["y": .members(["base64": .text("AACAPwAAAEA=")])]),
        ])
        for version in ["1.0.0", "1.1.0"] {
            try device.activate(Arrangement.model, version)
            try device.setChecks([check], of: Arrangement.model, version)
        }
        let runtime = FakeRuntime(ports: Self.ports) { _, _ in
            runs.withLock { $0 += 1 }
            return ["y": .tensor(try Tensor([Float(1), 2], shape: [2]))]
        }
        var configuration = LibraryConfiguration()
        configuration.recordFile = folder.path("library.json")
        func use(_ library: ModelLibrary, _ options: LoadOptions? = nil) async throws -> Int {
            try await library.withModel(try ModelRequest(Arrangement.model, loadOptions: options)) { _ in }
            await library.clear()
            return runs.withLock { $0 }
        }
        let first = ModelLibrary(device: device, runtimes: [runtime], configuration: configuration)
        for _ in 0..<3 { #expect(try await use(first) == 1) }
        #expect(try await use(first, LoadOptions(compute: .cpu)) == 2)
        await first.saveRecord()
        let second = ModelLibrary(device: device, runtimes: [runtime], configuration: configuration)
        #expect(try await use(second) == 2)
        try device.activate(Arrangement.model, "1.0.0")
        #expect(try await use(second) == 3)
        let forgetful = ModelLibrary(device: device, runtimes: [runtime])
        #expect(try await use(forgetful) == 4)
    }

    @Test("a call that fails once is made again, and only one that fails each time is the model's fault")
    func flaky() async throws {
        let (_, device) = try library(expecting: "AACAPwAAAEA=", [1, 2])
        let runs = Guarded(0)
        let runtime = FakeRuntime(ports: Self.ports) { _, _ in
            let isFirst = runs.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst { throw FakeFailure(text: "a hiccup") }
            return ["y": .tensor(try Tensor([Float(1), 2], shape: [2]))]
        }
        let library = ModelLibrary(device: device, runtimes: [runtime])
        try await library.withModel(try ModelRequest(Arrangement.model)) { _ in }
        #expect(device.quarantine.isEmpty)
        #expect(runs.withLock { $0 } == 2)
    }

    @Test("an answer that a prediction would refuse passes no vector either")
    func sameRules() async throws {
        let request = try ModelRequest(Arrangement.model)
        // The numbers are right; a rank, or an output that nobody declares, is not.
        for answer in ["rank", "stranger"] {
            let (_, device) = try library(expecting: "AACAPwAAAEA=", [1, 2])
            let runtime = FakeRuntime(ports: Self.ports) { _, _ in
                let shape = answer == "rank" ? [1, 2] : [2]
                let right = ModelValue.tensor(try Tensor([Float(1), 2], shape: shape))
                return answer == "rank" ? ["y": right] : ["y": right, "z": right]
            }
            let library = ModelLibrary(device: device, runtimes: [runtime])
            let error = await #expect(throws: ModelLibraryError.self) {
                try await library.withModel(request) { _ in }
            }
            guard case .refused = error else {
                Issue.record("another outcome: \(String(describing: error))")
                continue
            }
        }
    }

    @Test("memory that runs out while a vector is run is not the model's fault")
    func noMemory() async throws {
        let failure = InferenceError.noMemory("y", bytes: 8)
        let (library, device) = try library(expecting: "AACAPwAAAEA=", [1, 2], failing: failure)
        let error = await #expect(throws: ModelLibraryError.self) {
            try await library.withModel(try ModelRequest(Arrangement.model)) { _ in }
        }
        guard case .failed(_, _, let reason) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(reason == "golden vector 0 cannot be run: \(failure)")
        #expect(device.quarantine.isEmpty)
    }

    @Test("a vector that cannot be read, or on which the runtime fails, refuses too")
    func unreadable() async throws {
        let request = try ModelRequest(Arrangement.model)
        for expected in ["AAA=", "?"] {
            let (library, _) = try library(expecting: expected, [1, 2])
            await #expect(throws: ModelLibraryError.self) { try await library.withModel(request) { _ in } }
        }
        let (library, device) = try library(expecting: "AACAPwAAAEA=", [1, 2])
        let check = JSONValue.members([
            "inputs": .members(["x": .members(["base64": .text("AAAAAA==")])]),
            "outputs": .members(["y": .members(["base64": .text("AACAPwAAAEA=")])]),
        ])
        try device.setChecks([check], of: Arrangement.model, "1.0.0")
        let error = await #expect(throws: ModelLibraryError.self) {
            try await library.withModel(request) { _ in }
        }
        #expect(error.map { "\($0)".contains("odd shape") } == true)
    }
}
