import CanonicalJSON
import Manifest
import Names
import Testing

@Suite("Files of tensors: networks and tables")
struct NetworkTests {
    private static func interface(_ edit: (inout NetworkFacts) -> Void = { _ in }) throws -> Interface {
        var interface = Interface(inputs: [], outputs: [], isDeclared: true)
        var network = NetworkFacts(architecture: FeatureName("llama"))
        network.contextLength = 4_096
        network.embeddingLength = 2_048
        network.vocabularySize = 32_000
        network.beginToken = 1
        network.endToken = 2
        edit(&network)
        interface.network = network
        interface.tensors = TensorTable(count: 3, sha256: try Samples.digest(1))
        return interface
    }

    /// What changes, the row that refuses it (`nil`: it fits), and the step of the version.
    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let row: ContractRow?
        let step: VersionStep
        let change: @Sendable (inout NetworkFacts) -> Void

        init(
            _ text: String,
            _ row: ContractRow?,
            _ step: VersionStep,
            _ change: @escaping @Sendable (inout NetworkFacts) -> Void
        ) {
            testDescription = text
            self.row = row
            self.step = step
            self.change = change
        }
    }

    static let cases = [
        Case("nothing", nil, .patch) { _ in },
        Case("a longer context", nil, .minor) { $0.contextLength = 8_192 },
        Case("a shorter context", .interfaceUnknown, .major) { $0.contextLength = 4_095 },
        Case("no context", .interfaceUnknown, .major) { $0.contextLength = nil },
        Case("another architecture", .interfaceUnknown, .major) { $0.architecture = FeatureName("gemma") },
        Case("a longer embedding", .interfaceUnknown, .major) { $0.embeddingLength = 4_096 },
        Case("a larger vocabulary", .tokenizerChanged, .major) { $0.vocabularySize = 32_001 },
        Case("another first token", .tokenizerChanged, .major) { $0.beginToken = 2 },
        Case("another last token", .tokenizerChanged, .major) { $0.endToken = 1 },
    ]

    @Test("an app that relies on a fact refuses another, and the version says so", arguments: cases)
    func facts(_ example: Case) throws {
        let old = try Self.interface()
        let new = try Self.interface(example.change)
        let verdict = Compatibility.verdict(.satisfied(by: old), new)
        switch (verdict, example.row) {
        case (.compatible, nil): break
        case (.incompatible(let findings), let row?): #expect(findings.map(\.row) == [row])
        default: Issue.record("\(verdict)")
        }
        #expect(ContractChanges(from: old, to: new).step == example.step)
    }

    @Test("what an app does not rely on may be any")
    func unsaid() throws {
        var app = Manifest.Expectation(inputs: [], outputs: [])
        app.allowsUnknown = true
        app.network = NetworkFacts()
        app.network?.contextLength = 2_048
        let other = try Self.interface { $0.architecture = FeatureName("gemma") }
        #expect(Compatibility.verdict(app, other).allowsUse)
        var silent = other
        silent.network = nil
        #expect(!Compatibility.verdict(app, silent).allowsUse)
    }

    @Test("an interface of before networks were read is read as it was, and saying the network is no step")
    func before() throws {
        let new = try Self.interface()
        var old = new
        old.network = nil
        #expect(try Interface(json: old.json).canonical == old.canonical)
        #expect(old.json["network"] == nil)
        #expect(ContractChanges(from: old, to: new).step == .patch)
    }

    @Test("a table of tensors is the contract of a file that says nothing else")
    func tables() throws {
        var old = try Self.interface()
        var new = old
        new.tensors = TensorTable(count: 3, sha256: try Samples.digest(9))
        #expect(ContractChanges(from: old, to: new).changes.map(\.row) == [.precisionInside])
        #expect(ContractChanges(from: old, to: new).step == .minor)
        #expect(Compatibility.verdict(.satisfied(by: old), new).allowsUse)
        old.network = nil
        new.network = nil
        #expect(ContractChanges(from: old, to: new).step == .major)
        guard case .incompatible(let findings) = Compatibility.verdict(.satisfied(by: old), new) else {
            Issue.record("another table was taken")
            return
        }
        #expect(findings.map(\.row) == [.interfaceUnknown])
        var pinned = Manifest.Expectation(inputs: [], outputs: [])
        pinned.tensors = old.tensors
        #expect(Compatibility.verdict(pinned, old).allowsUse)
        pinned.tensors = nil
        #expect(!Compatibility.verdict(pinned, old).allowsUse)
    }
}
