import Generations
import Inference
import Manifest
import ModelLibrary
import ModelLibraryTesting
import Names
import Testing

@Suite("Starts of an app with a version on trial")
struct StartTests {
    private let real: RealDevice
    private let request: ModelRequest

    init() throws {
        real = try RealDevice()
        request = try ModelRequest("vision/detector")
        try real.activate("1.0.0")
        try real.activate("1.1.0", bounds: TrialBounds(starts: 2, seconds: 3_600))
    }

    /// What a new process of the app would use.
    private func startedVersion() async throws -> String {
        let active = try real.device.activeModel(real.name)
        let runtime = FakeRuntime(ports: ModelPorts(active.interface), format: "onnx")
        let library = ModelLibrary(directory: real.device.path, runtimes: [runtime])
        let first = try await library.withModel(request) { $0.version }
        #expect(try await library.withModel(request) { $0.version } == first)
        return first
    }

    private var starts: Int? {
        get throws {
            let model = try real.device.activeGeneration()?.record.model(real.name)
            return try model.flatMap { try real.device.note(Trials.self)[$0.identity.manifest] }?
                .starts
        }
    }

    @Test("each library counts one start of each model, and the start that is one too many goes back")
    func counted() async throws {
        #expect(try await startedVersion() == "1.1.0")
        #expect(try starts == 1)
        #expect(try await startedVersion() == "1.1.0")
        #expect(try starts == 2)
        #expect(try await startedVersion() == "1.0.0")
        #expect(try real.device.activeGeneration()?.place.isFallback == true)
        #expect(try await startedVersion() == "1.0.0")
    }

    @Test("a version that its app confirmed is started as often as one likes")
    func confirmed() async throws {
        let manifest = try real.device.activeModel(real.name).manifestDigest
        try real.device.changeTrials { $0.change(manifest) { $0.state = .confirmed } }
        for _ in 0..<4 { #expect(try await startedVersion() == "1.1.0") }
        #expect(try starts == 0)
    }
}
