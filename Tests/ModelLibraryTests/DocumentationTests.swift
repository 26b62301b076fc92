import Durable
import Foundation
import Inference
import ModelLibrary
import ModelLibraryTesting
import ModelRuntimes
import Names
import SyncAgent
import Testing

@Suite("ModelLibrary in an app")
struct DocumentationTests {
    @Test("the article's Swift compiles: it stands in this file too")
    func article() throws {
        let folder = Durable.parent(of: RealDevice.testsPath)
        let article = try text("\(folder)/Sources/ModelLibrary/ModelLibrary.docc/LoadingInAnApp.md")
        let own = trimmed(try text("\(#filePath)"))
        let blocks = article.components(separatedBy: "```swift\n").dropFirst()
            .map { $0.components(separatedBy: "```\n")[0] }
        #expect(blocks.count == 9)
        for block in blocks {
            let lines = block.components(separatedBy: "\n")
            let imports = lines.prefix { $0.hasPrefix("import ") }
            for line in imports { #expect(own.contains(trimmed(line)), "\(line)") }
            let rest = lines.dropFirst(imports.count).joined(separator: "\n")
            #expect(own.contains(trimmed(rest)), "\(rest)")
            for (word, module) in Self.modules where rest.contains(word) {
                #expect(imports.contains("import \(module)"), "\(word) is of \(module): \(block)")
            }
        }
    }

    /// Which module has what the article uses.
    private static let modules = [
        "Tensor": "Inference", "ModelLibrary": "ModelLibrary", "ModelRequest": "ModelLibrary",
        "ONNXRuntime": "ModelRuntimes", "SyncAgent": "SyncAgent", "SyncConfiguration": "SyncAgent",
        "FakeDevice": "ModelLibraryTesting",
    ]

    @Test("the article's test of a swap does what it says")
    func swap() async throws {
        #expect(try await testSwap() == ["/models/vision/detector/1.0.0"])
    }

    @Test("the article's ladder and warm-up work on fakes")
    func ladder() async throws {
        let device = FakeDevice()
        try device.activate("vision/detector-small", "1.0.0")
        let library = ModelLibrary(device: device, runtimes: [FakeRuntime()])
        try await warmUp(library)
        #expect(library.residents.map(\.model) == ["vision/detector-small"])
        let inputs = ["x": try Tensor([Float(1)], shape: [1])]
        let answer = try await label(library, inputs, mayUpload: false)
        #expect(answer.steps.map(\.rung) == ["vision/detector (speed, gpu)"])
        #expect(answer.rung == "vision/detector-small")
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try Durable.readFile(path, maximum: .mebibytes(1)), as: UTF8.self)
    }

    /// Without blanks, since the two are broken into lines at different widths.
    private func trimmed(_ text: String) -> String { text.filter { !$0.isWhitespace } }
}

private func askServer(_ inputs: [String: Tensor]) async throws -> [String: ModelValue] {
    inputs.mapValues { .tensor($0) }
}

private func makeLibrary() async throws -> ModelLibrary {
    var configuration = LibraryConfiguration()
    configuration.residency = .mostRecent(2)
    configuration.idleTimeout = .seconds(300)
    configuration.recordFile = "library.json"
    let library = ModelLibrary(
        directory: "models",
        runtimes: [try await ONNXRuntime()],
        configuration: configuration
    )
    library.follow(pressure: LinuxPressure())
    return library
}

private func distance(_ library: ModelLibrary, _ numbers: [Float]) async throws -> Float? {
    try await library.withModel(try ModelRequest("vision/detector")) { model in
        let outputs = try await model.run(["x": try Tensor(numbers, shape: [numbers.count])])
        return try outputs["y"]?.tensor?.values(as: Float.self).first
    }
}

private func watch(_ library: ModelLibrary) async {
    for await event in await library.events() {
        switch event {
        case .loaded(let load): print("\(load.model) \(load.version) is loaded after \(load.took)")
        case .fellBack(let model, let from, let to, let reason):
            print("\(model) \(from) is not used, \(to) answers: \(reason)")
        case .refused(let model, let version, let reason): print("\(model) \(version): \(reason)")
        case .quarantined(let model, let version, let reason, _):
            print("\(model) \(version) is not tried again: \(reason)")
        default: break
        }
    }
}

private func run(_ agent: SyncAgent) async throws {
    let library = try await makeLibrary()
    let listener = Task { await watch(library) }
    defer { listener.cancel() }
    while !Task.isCancelled {
        do { _ = try await agent.sync() } catch { print("no sync this time: \(error.message)") }
        print(try await distance(library, [1, 2, 3, 4]) ?? 0)
        try await Task.sleep(for: .seconds(10))
    }
}

private func makeAgent() throws -> SyncAgent {
    var device = SyncConfiguration(
        directory: "models",
        registries: ["https://127.0.0.1:8443/"],
        rootFile: "root.json",
        models: [try WantedModel("vision/detector@stable")]
    )
    // Without it the system's authorities count, which do not know the one that `sealift init` made.
    device.caFile = "ca.pem"
    device.rate = try TransferRate("2MB/s")
    return try SyncAgent(configuration: device)
}

private func makeOfflineLibrary(_ agent: SyncAgent) async throws -> ModelLibrary {
    ModelLibrary(
        directory: "models",
        bundled: "app/models",
        runtimes: [try await ONNXRuntime()],
        delivery: { _ in _ = try await agent.sync() }
    )
}

private func label(
    _ library: ModelLibrary,
    _ inputs: [String: Tensor],
    mayUpload: Bool
) async throws -> LadderAnswer {
    let server = RemoteRung(
        name: "the server",
        permission: { _ in mayUpload ? .allowed : .denied("photos stay on this device") },
        answer: { inputs in try await askServer(inputs) }
    )
    let ladder = Ladder(
        rungs: [
            .model(try ModelRequest("vision/detector", loadOptions: LoadOptions(compute: .gpu))),
            .model(try ModelRequest("vision/detector-small")),
            .model(try ModelRequest("vision/detector-small", loadOptions: LoadOptions(compute: .cpu))),
            .remote(server),
        ],
        message: "Photos cannot be sorted right now. Close other apps and try again."
    )
    return try await library.answer(inputs, by: ladder)
}

private func warmUp(_ library: ModelLibrary) async throws {
    let small = try ModelRequest("vision/detector-small", priority: .high, isPinned: true)
    let full = try ModelRequest("vision/detector")
    await library.preload([.small: [small], .medium: [small], .large: [small, full]])
}

private func testSwap() async throws -> [String] {
    let device = FakeDevice()
    let runtime = FakeRuntime()
    let library = ModelLibrary(device: device, runtimes: [runtime])
    try device.activate("vision/detector", "1.0.0")
    try await library.withModel(try ModelRequest("vision/detector")) { _ in }
    library.report(.warning)
    return runtime.counts.loads
}
