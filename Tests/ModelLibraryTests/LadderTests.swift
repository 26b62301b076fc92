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
}
