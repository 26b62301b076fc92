import Inference
import ModelLibrary
import ModelLibraryTesting
import Testing

@Suite("Model library")
struct ModelLibraryTests {
    @Test("a model is loaded at the first request and kept for the next")
    func lazy() async throws {
        let arranged = try Arrangement()
        #expect(arranged.runtime.counts.loads.isEmpty)
        for _ in 0..<3 { #expect(try await arranged.answer() == "/models/vision/detector/1.0.0") }
        #expect(arranged.runtime.counts.loads.count == 1)
        let resident = arranged.library.residents
        #expect(resident.map(\.version) == ["1.0.0"])
        #expect(resident.map(\.leases) == [0])
    }

    @Test("a lease says what it lends")
    func leaseSays() async throws {
        let arranged = try Arrangement()
        try await arranged.library.withModel(arranged.request) { lease in
            #expect(lease.model == "vision/detector")
            #expect(lease.version == "1.0.0")
            #expect(lease.variant == "default")
            #expect(lease.labels == ["a", "b"])
            #expect(lease.ports == .fake)
            #expect(arranged.library.residents.map(\.leases) == [1])
        }
    }

    @Test("a hundred callers of a cold model cause one load")
    func singleFlight() async throws {
        let gate = Gate()
        let arranged = try Arrangement(gate: gate)
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 { group.addTask { try await arranged.answer() } }
            await gate.reached()
            await gate.open()
            for try await answer in group { #expect(answer == "/models/vision/detector/1.0.0") }
        }
        #expect(arranged.runtime.counts.loads.count == 1)
    }

    @Test("two models asked for at once are loaded one after the other")
    func oneLoadAtATime() async throws {
        let gate = Gate(open: true)
        let arranged = try Arrangement(gate: gate)
        let requests = try (0..<8).map { try ModelRequest("vision/model\($0)") }
        for request in requests { try arranged.device.activate(request.model, "1.0.0") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for request in requests {
                group.addTask { try await arranged.library.withModel(request) { _ in } }
            }
            try await group.waitForAll()
        }
        #expect(arranged.runtime.counts.loads.count == 8)
        #expect(arranged.runtime.counts.greatest == 1)
    }

    @Test("cancelling one caller ends its wait at once and leaves the load to the others")
    func cancelOne() async throws {
        let gate = Gate()
        let arranged = try Arrangement(gate: gate)
        let impatient = Task { try await arranged.answer() }
        let patient = Task { try await arranged.answer() }
        await gate.reached()
        impatient.cancel()
        await #expect(throws: CancellationError.self) { try await impatient.value }
        await gate.open()
        #expect(try await patient.value == "/models/vision/detector/1.0.0")
        #expect(arranged.runtime.counts.loads.count == 1)
    }

    @Test("when the only caller is cancelled, the model is there for the next")
    func cancelOnly() async throws {
        let gate = Gate()
        let arranged = try Arrangement(gate: gate)
        let impatient = Task { try await arranged.answer() }
        await gate.reached()
        impatient.cancel()
        await #expect(throws: CancellationError.self) { try await impatient.value }
        await gate.open()
        #expect(try await arranged.answer() == "/models/vision/detector/1.0.0")
        #expect(arranged.runtime.counts.loads.count == 1)
        #expect(arranged.library.residents.map(\.leases) == [0])
    }

    @Test("a failed load reaches all who wait, is forgotten, and the next call tries again")
    func failureForgotten() async throws {
        let gate = Gate()
        let arranged = try Arrangement(gate: gate)
        arranged.runtime.failNextLoad("out of luck")
        let callers = (0..<5).map { _ in Task { try await arranged.answer() } }
        await gate.reached()
        await gate.open()
        var failures = 0
        for caller in callers {
            do {
                _ = try await caller.value
            } catch let error as ModelLibraryError {
                guard case .failed("vision/detector", "1.0.0", let reason) = error else {
                    Issue.record("another error: \(error)")
                    continue
                }
                #expect(reason.contains("out of luck"))
                failures += 1
            }
        }
        #expect(failures >= 1)
        #expect(try await arranged.answer() == "/models/vision/detector/1.0.0")
    }

    @Test("what the body throws comes out, and the lease is given back")
    func bodyThrows() async throws {
        let arranged = try Arrangement()
        await #expect(throws: FakeFailure(text: "mine")) {
            try await arranged.library.withModel(arranged.request) { _ in throw FakeFailure(text: "mine") }
        }
        #expect(arranged.library.residents.map(\.leases) == [0])
    }

    @Test("a lease that escaped its call is refused")
    func escaped() async throws {
        let arranged = try Arrangement()
        let lease = try await arranged.library.withModel(arranged.request) { $0 }
        await #expect(throws: ModelLibraryError.leaseEnded(model: "vision/detector")) {
            try await lease.run(try arranged.input())
        }
    }

    @Test("inputs are checked before the model is called")
    func inputsChecked() async throws {
        let arranged = try Arrangement()
        await #expect(throws: InferenceError.self) {
            try await arranged.library.withModel(arranged.request) { lease in
                try await lease.run(["x": try Tensor([Int32(1)], shape: [1])])
            }
        }
    }
}
