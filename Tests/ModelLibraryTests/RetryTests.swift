import CanonicalJSON
import Inference
import ModelLibraryTesting
import Testing

@testable import ModelLibrary

@Suite("Model library: versions that failed", .timeLimit(.minutes(2)))
struct RetryTests {
    @Test(
        "one is tried again when its time is over, however often somebody asks or the device changes meanwhile",
        arguments: [(60, 25, true), (150, 62, false), (60, 25, false)]
    )
    func again(_ retryAfter: Int, _ step: Int, _ changes: Bool) async throws {
        let arranged = try Arrangement { $0.retryAfter = .seconds(retryAfter) }
        _ = try await arranged.answer()
        arranged.runtime.failNextLoad("not now")
        try arranged.activate("1.1.0")
        for round in 0..<3 {
            #expect(try await arranged.answer().hasSuffix("1.0.0"))
            // As a sync does, which notes when it was.
            if changes { try arranged.device.activate("other/model", "1.\(round).0") }
            arranged.clock.advance(by: .seconds(step))
        }
        #expect(try await arranged.answer().hasSuffix("1.1.0"))
        #expect(arranged.resident == ["vision/detector 1.1.0"])
    }

    @Test("without waiting, one is tried again when its time is over too")
    func withoutWaiting() async throws {
        let arranged = try Arrangement { configuration in
            configuration.swap = .besideWithoutWaiting
            configuration.retryAfter = .seconds(60)
        }
        _ = try await arranged.answer()
        arranged.runtime.failNextLoad("not now")
        let stream = await arranged.library.events()
        try arranged.activate("1.1.0")
        #expect(try await arranged.answer().hasSuffix("1.0.0"))
        _ = await told(stream) { if case .refused = $0 { true } else { false } }
        for round in 0..<3 {
            #expect(try await arranged.answer().hasSuffix("1.0.0"))
            try arranged.device.activate("other/model", "1.\(round).0")
            arranged.clock.advance(by: .seconds(25))
        }
        _ = try await arranged.answer()
        #expect(await eventually { arranged.runtime.counts.loads.count == 3 })
    }

    @Test("a golden vector that a runtime ends as cancelled is a failure, and the version before answers")
    func falseCancellation() async throws {
        let device = FakeDevice()
        let runtime = FakeRuntime { path, _ in
            if path.hasSuffix("1.1.0") { throw CancellationError() }
            return ["file": .tensor(try Tensor(strings: [path], shape: [1]))]
        }
        let ports = ModelPorts(
            inputs: [Port(name: "x", kind: .tensor(.float32, [.symbol("n")]))],
            outputs: [Port(name: "y", kind: .tensor(.float32, [.symbol("n")]))]
        )
        try device.activate(Arrangement.model, "1.1.0")
        let check = JSONValue.members([
            "inputs": .members(["x": .members(["base64": .text("AAAAAAAAAAA=")])]),
            "outputs": .members(["y": .members(["base64": .text("AACAPwAAAEA=")])]),
        ])
        try device.setChecks([check], of: Arrangement.model, "1.1.0")
        try device.setPorts(ports, of: Arrangement.model)
        runtime.setPorts(ports, ofPathsEndingIn: "detector/1.1.0")
        runtime.setPorts(ports, ofPathsEndingIn: "detector/1.0.0")
        let request = try ModelRequest(Arrangement.model)
        let alone = ModelLibrary(device: device, runtimes: [runtime])
        let error = await #expect(throws: ModelLibraryError.self) {
            try await alone.withModel(request) { _ in }
        }
        guard case .failed(_, "1.1.0", let reason) = error else {
            Issue.record("another error: \(String(describing: error))")
            return
        }
        #expect(reason.contains("golden vector 0 cannot be run"))
        try device.activate(Arrangement.model, "1.0.0")
        try device.activate(Arrangement.model, "1.1.0")
        let library = ModelLibrary(device: device, runtimes: [runtime])
        #expect(try await library.withModel(request) { $0.version } == "1.0.0")
        #expect(device.quarantine.isEmpty)
    }
}
