import Blocking
import Inference
import ModelLibrary
import ModelLibraryTesting
import Testing

@Suite("Ladder")
struct LadderTests {
    private let arranged: Arrangement

    init() throws {
        arranged = try Arrangement()
        try arranged.device.activate("vision/small", "2.0.0")
    }

    private func ladder(remote: RemoteRung.Permission? = nil) throws -> Ladder {
        var rungs: [Ladder.Rung] = [
            .model(try ModelRequest(Arrangement.model, loadOptions: LoadOptions(compute: .npu))),
            .model(try ModelRequest(Arrangement.model)),
            .model(try ModelRequest("vision/small", loadOptions: LoadOptions(compute: .cpu))),
        ]
        if let remote {
            let service = RemoteRung(
                name: "the server",
                permission: { _ in remote },
                answer: { _ in ["file": .tensor(try Tensor(strings: ["remote"], shape: [1]))] }
            )
            rungs.append(.remote(service))
        }
        return Ladder(rungs: rungs, message: "Not now. Close other apps.")
    }

    private func text(_ answer: LadderAnswer) -> String? { answer.outputs["file"]?.tensor?.strings.first }

    @Test("the first rung that answers is taken, with the reason for each step down")
    func first() async throws {
        let stream = await arranged.library.events()
        let answer = try await arranged.library.answer(try arranged.input(), by: try ladder())
        #expect(answer.rung == Arrangement.model)
        #expect(answer.version == "1.0.0")
        #expect(answer.steps.map(\.rung) == ["vision/detector (speed, npu)"])
        #expect(answer.steps[0].reason.contains("npu, which fake 1.0.0 does not use here"))
        let events = await told(stream) { event in
            if case .steppedDown = event { true } else { false }
        }
        #expect(events.contains(.steppedDown(rung: answer.steps[0].rung, reason: answer.steps[0].reason)))
    }

    @Test("a smaller model answers when the full one cannot be loaded")
    func smaller() async throws {
        arranged.runtime.failLoads(ofPathsEndingIn: "detector/1.0.0")
        let answer = try await arranged.library.answer(try arranged.input(), by: try ladder())
        #expect(text(answer) == "/models/vision/small/2.0.0")
        #expect(answer.steps.count == 2)
        #expect(arranged.runtime.counts.options.last?.compute == .cpu)
    }

    @Test("a service answers only when the app's privacy rule allows it")
    func remote() async throws {
        arranged.runtime.failLoads(ofPathsEndingIn: "0.0")
        let answer = try await arranged.library.answer(try arranged.input(), by: try ladder(remote: .allowed))
        #expect(text(answer) == "remote")
        #expect(answer.version == nil)
        let error = await #expect(throws: LadderError.self) {
            try await arranged.library.answer(
                try arranged.input(),
                by: try ladder(remote: .denied("photos stay here"))
            )
        }
        #expect(error?.message == "Not now. Close other apps.")
        #expect(
            error?.steps.last
                == StepDown(rung: "the server", reason: "the privacy rule says no: photos stay here")
        )
        #expect(error?.steps.count == 4)
    }

    @Test("wrong inputs and cancellation end the ladder instead of hiding")
    func ends() async throws {
        let wrong = ["x": try Tensor([Int32(1)], shape: [1])]
        await #expect(throws: InferenceError.self) {
            try await arranged.library.answer(wrong, by: try ladder(remote: .allowed))
        }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await arranged.library.answer(try arranged.input(), by: try ladder())
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("a service whose answer is no tensor leads down too, though the app's error is one of inference")
    func oddAnswer() async throws {
        let service = RemoteRung(
            name: "the server",
            permission: { _ in .allowed },
            answer: { _ in ["file": .tensor(try Tensor(strings: [], shape: [1]))] }
        )
        let ladder = Ladder(rungs: [.remote(service)], message: "Not now.")
        let error = await #expect(throws: LadderError.self) {
            try await arranged.library.answer(try arranged.input(), by: ladder)
        }
        #expect(error?.steps.map(\.rung) == ["the server"])
    }

    @Test("a model that fails when it is called leads down too")
    func failingCall() async throws {
        let device = FakeDevice()
        try device.activate(Arrangement.model, "1.0.0")
        try device.activate("vision/small", "2.0.0")
        let runtime = FakeRuntime { path, _ in
            if path.contains("detector") { throw FakeFailure(text: "out of memory") }
            return ["file": .tensor(try Tensor(strings: [path], shape: [1]))]
        }
        let library = ModelLibrary(device: device, runtimes: [runtime])
        let answer = try await library.answer(try arranged.input(), by: try ladder())
        #expect(text(answer) == "/models/vision/small/2.0.0")
        #expect(await library.metrics().first { $0.model == Arrangement.model }?.inferenceFailures == 1)
    }

    /// The large model takes `x` of seven, the small one of any length.
    private func byModel(
        _ answer: @escaping @Sendable (String, [String: Tensor]) async throws -> [String: ModelValue] = {
            path,
            _ in
            ["file": .tensor(try Tensor(strings: [path], shape: [1]))]
        }
    ) throws -> ModelLibrary {
        let large = ModelPorts(
            inputs: [Port(name: "x", kind: .tensor(.float32, [.fixed(7)]))],
            outputs: ModelPorts.fake.outputs
        )
        try arranged.device.setPorts(large, of: Arrangement.model)
        let runtime = FakeRuntime(answer: answer)
        runtime.setPorts(large, ofPathsEndingIn: "\(Arrangement.model)/1.0.0")
        return ModelLibrary(
            device: arranged.device,
            runtimes: [runtime],
            memory: arranged.memory,
            clock: arranged.clock
        )
    }

    private func service(
        _ rule: @escaping @Sendable () async -> RemoteRung.Permission = { .allowed },
        _ answer: @escaping @Sendable () async throws -> [String: ModelValue]
    ) -> Ladder.Rung {
        .remote(
            RemoteRung(
                name: "the server",
                permission: { _ in await rule() },
                answer: { _ in try await answer() }
            )
        )
    }

    @Test("a model that takes other inputs leads to one that takes these")
    func otherPorts() async throws {
        let answer = try await byModel().answer(try arranged.input(), by: try ladder())
        #expect(text(answer) == "/models/vision/small/2.0.0")
        #expect(answer.steps.last?.reason.contains("dimension 0 of the input 'x' is 2") == true)
    }

    @Test("inputs that no model takes go to no service, and the error is that of the first model")
    func noModelTakes() async throws {
        let isAsked = Guarded(false)
        let rungs = [
            Ladder.Rung.model(try ModelRequest(Arrangement.model)), .model(try ModelRequest("vision/small")),
            service {
                isAsked.withLock { $0 = true }
                return [:]
            },
        ]
        let wrong = ["x": try Tensor([Int32(1)], shape: [1])]
        let expected = InferenceError.inputElement("x", expected: .float32, found: .int32)
        await #expect(throws: expected) {
            try await byModel().answer(wrong, by: Ladder(rungs: rungs, message: "Not now."))
        }
        #expect(!isAsked.withLock { $0 })
    }

    @Test("an error of inference that the runtime itself throws leads down, as any failure does")
    func runtimeError() async throws {
        let library = try byModel { path, _ in
            if path.contains("small") { throw InferenceError.shape([-1]) }
            throw CancellationError()
        }
        let seven = ["x": try Tensor([Float](repeating: 0, count: 7), shape: [7])]
        let rungs = [
            Ladder.Rung.model(try ModelRequest(Arrangement.model)), .model(try ModelRequest("vision/small")),
            service { ["file": .tensor(try Tensor(strings: ["remote"], shape: [1]))] },
        ]
        let answer = try await library.answer(seven, by: Ladder(rungs: rungs, message: "Not now."))
        #expect(text(answer) == "remote")
        #expect(answer.steps.map(\.reason).first == "it ended the call as cancelled, and nobody cancelled it")
        #expect(answer.steps.map(\.reason).last == InferenceError.shape([-1]).description)
    }

    @Test("a service that ends its own call as cancelled leads down")
    func cancelledService() async throws {
        let rungs = [service { throw CancellationError() }, .model(try ModelRequest(Arrangement.model))]
        let answer = try await arranged.library.answer(
            try arranged.input(),
            by: Ladder(rungs: rungs, message: "Not now.")
        )
        #expect(answer.rung == Arrangement.model)
        #expect(answer.steps.map(\.rung) == ["the server"])
    }

    @Test("a service or a privacy rule that never answers is left at the deadline", arguments: [true, false])
    func silent(isRule: Bool) async throws {
        let silence = Gate()
        let rule: @Sendable () async -> RemoteRung.Permission = {
            if isRule { await silence.pass() }
            return .allowed
        }
        let rungs = [
            service(rule) {
                await silence.pass()
                return [:]
            }, .model(try ModelRequest(Arrangement.model)),
        ]
        let (library, clock, input) = (arranged.library, arranged.clock, try arranged.input())
        let ladder = Ladder(rungs: rungs, message: "Not now.")
        async let answer = library.answer(input, by: ladder)
        await silence.reached()
        await clock.sleeping()
        clock.advance(by: .seconds(61))
        let steps = try await answer.steps
        #expect(
            steps.first?.reason
                == "the server was not ready after 60.0 seconds; give it a longer deadline or ask again"
        )
        await silence.open()
    }

    @Test("a caller that is cancelled does not wait for a service that does not listen")
    func cancelledCaller() async throws {
        let silence = Gate()
        let rungs = [
            service {
                await silence.pass()
                return [:]
            }
        ]
        let (library, input) = (arranged.library, try arranged.input())
        let task = Task { try await library.answer(input, by: Ladder(rungs: rungs, message: "Not now.")) }
        await silence.reached()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await silence.open()
    }
}
