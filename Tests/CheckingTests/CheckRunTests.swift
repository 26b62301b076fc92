import CanonicalJSON
import Checking
import Durable
import Inference
import Manifest
import Names
import Support
import Testing

@Suite("Running golden vectors")
struct CheckRunTests {
    private let scratch = Scratch()
    private let interface: Interface

    init() throws {
        func feature(_ name: String) throws -> Feature {
            let shape = Shape.dimensions([.fixed(2)])
            return Feature(
                name: try #require(FeatureName(name)),
                type: .tensor(TensorType(element: .float32, shape: shape))
            )
        }
        interface = Interface(inputs: [try feature("x")], outputs: [try feature("y")])
    }

    private func written(_ values: [Float]) throws -> JSONValue {
        .members(["base64": .text(Base64.text(try Tensor(values, shape: [values.count]).bytes))])
    }

    private func check(_ y: [Float]? = nil, x: JSONValue? = nil) throws -> JSONValue {
        var object = JSONObject()
        object["inputs"] = .members(["x": try x ?? written([1, 2])])
        if let y { object["outputs"] = .members(["y": try written(y)]) }
        return .object(object)
    }

    private func outcome(
        _ checks: [JSONValue],
        files: [FilePath: String] = [:],
        wish: CheckRequest.Wish = .compare,
        runtime: DoublingRuntime = DoublingRuntime()
    ) async -> CheckAnswer.Outcome {
        let request = CheckRequest(
            runtime: "/",
            entry: "/model.onnx",
            interface: interface,
            checks: checks,
            files: files,
            wish: wish,
            parent: 1
        )
        return await CheckRun(request).answer(by: runtime) { _ in }.outcome
    }

    private func reason(_ outcome: CheckAnswer.Outcome) -> String {
        if case .failed(let reason) = outcome { reason } else { "\(outcome)" }
    }

    @Test("vectors that are reproduced pass, and the first that is not is named with its worst element")
    func compared() async throws {
        let good = try check([2, 4])
        #expect(await outcome([good, good]) == .passed)
        let found = reason(await outcome([good, try check([2, 5])]))
        #expect(found.contains("check 1: the output 'y' is 4.0 at element 1, expected 5.0"), "\(found)")
    }

    @Test("a model that does not load, fails, or has other ports than declared fails its checks")
    func failing() async throws {
        let good = try check([2, 4])
        #expect(
            reason(await outcome([good], runtime: DoublingRuntime(loads: false)))
                .contains("does not load the model")
        )
        #expect(
            reason(await outcome([good], runtime: DoublingRuntime(runs: false)))
                .contains("check 0: the call fails")
        )
        #expect(reason(await outcome([good], runtime: DoublingRuntime(output: "z"))).contains("'y'"))
        #expect(reason(await outcome([.null])).contains("check 0: the golden vector cannot be used"))
        #expect(reason(await outcome([try check([2, 4], x: try written([1, 2, 3]))])).contains("check 0"))
    }

    @Test("a runtime that lacks something says nothing of the model", arguments: [true, false])
    func untried(_ loads: Bool) async throws {
        let runtime = DoublingRuntime(loads: loads, runs: false, failure: Shortage())
        guard case .untried = await outcome([try check([2, 4])], runtime: runtime) else {
            Issue.record("taken for a failure of the model")
            return
        }
    }

    @Test("memory that runs out in the process that tries a model is more than the model may take")
    func noMemory() async throws {
        let runtime = DoublingRuntime(runs: false, failure: InferenceError.noMemory("y", bytes: 8))
        let outcome = await outcome([try check([2, 4])], runtime: runtime)
        #expect(reason(outcome).contains("check 0: the call fails"))
    }

    @Test("an answer that a prediction would refuse passes no vector and is not recorded")
    func sameRules() async throws {
        // The numbers are right, and the rank is not.
        let runtime = DoublingRuntime(shape: [1, 2])
        #expect(reason(await outcome([try check([2, 4])], runtime: runtime)).contains("float32[1, 2]"))
        #expect(
            reason(await outcome([try check()], wish: .record, runtime: runtime)).contains("float32[1, 2]")
        )
    }

    @Test("a vector may stand in files, and nothing but those that were named is read")
    func files() async throws {
        let place = try scratch.write("x", try Tensor([Float(1), 2], shape: [2]).bytes)
        let path = try #require(FilePath("checks/x.vector"))
        let check = try check([2, 4], x: .members(["file": .text("checks/x.vector")]))
        #expect(await outcome([check], files: [path: place]) == .passed)
        #expect(reason(await outcome([check])).contains("which is not among the files"))
        for name in ["../x", "/etc/passwd", "checks/../x", ""] {
            let check = try self.check([2, 4], x: .members(["file": .text(name)]))
            #expect(reason(await outcome([check], files: [path: place])).contains("not among the files"))
        }
        let gone = await outcome([check], files: [path: scratch.path("gone")])
        guard case .unreadable = gone else {
            Issue.record("a disk that fails is no fault of the model: \(gone)")
            return
        }
    }

    @Test("outputs are recorded as they are, and never NaN")
    func recorded() async throws {
        let expected = try Tensor([Float(2), 4], shape: [2]).bytes
        #expect(await outcome([try check()], wish: .record) == .recorded([["y": expected]]))
        let nan = try check(x: try written([.nan, 1]))
        #expect(reason(await outcome([nan], wish: .record)).contains("is NaN at element 0"))
    }
}

private struct Refusal: Error {}

private struct Shortage: RuntimeFailure {
    let isModelAtFault = false
}

/// A runtime whose models give twice what they take.
private struct DoublingRuntime: ModelRuntime {
    var loads = true
    var runs = true
    var output = "y"
    var failure: any Error = Refusal()
    var shape: [Int]?
    let name = "doubling"
    let version = "1.0"

    func runs(format: String) -> Bool { true }

    func load(entry: String, options: LoadOptions) async throws -> any LoadedModel {
        guard loads else { throw failure }
        return Model(output: output, shape: shape, failure: runs ? nil : failure)
    }

    private final class Model: LoadedModel {
        let ports: ModelPorts
        private let output: String
        private let shape: [Int]?
        private let failure: (any Error)?

        init(output: String, shape: [Int]?, failure: (any Error)?) {
            self.output = output
            self.shape = shape
            self.failure = failure
            ports = ModelPorts(
                inputs: [Port(name: "x", kind: .tensor(.float32, [.fixed(2)]))],
                outputs: [Port(name: output, kind: .tensor(.float32, [.fixed(2)]))]
            )
        }

        func run(_ inputs: [String: Tensor]) async throws -> [String: ModelValue] {
            if let failure { throw failure }
            guard let x = inputs["x"] else { throw Refusal() }
            let doubled = try x.values(as: Float.self).map { $0 * 2 }
            return [output: .tensor(try Tensor(doubled, shape: shape ?? x.shape))]
        }
    }
}
