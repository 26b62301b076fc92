import CanonicalJSON
import Foundation
import Manifest
import ModelFormats
import Names
import Support
import Testing

/// Models that the official libraries write in this very run, seen by them and by these readers.
@Suite("Files that coremltools, gguf and safetensors write")
struct PeerFilesTests {
    static let python = Peer.python(with: "coremltools", "gguf", "safetensors")

    @Test(
        "both see the same tensors, metadata, networks, inputs and outputs in each",
        .enabled(if: python != nil, "no Python with coremltools, gguf and safetensors: run `make test`")
    )
    func sameView() throws {
        let scratch = Scratch()
        let seed = UInt32.random(in: 0 ... .max)
        let views = try Peer.lines(
            try #require(Self.python),
            "peer_files.py",
            [scratch.path, "\(seed)"]
        )
        #expect(views.count == 120)
        for view in views {
            let path = try #require(view["path"]?.string)
            let bytes = Array(try Data(contentsOf: URL(filePath: path)))
            let found = try ModelFile.inspect(source: MemorySource(bytes), name: path)
            let place: Comment = "\(path), seed \(seed)"
            if let tensors = view["tensors"]?.array {
                #expect(sorted(found.tensors.map(row)) == sorted(tensors), place)
                for member in view["metadata"]?.object?.members ?? [] {
                    #expect(found.metadata[member.key.string] == member.value.string, place)
                }
                #expect(found.interface.network?.json == view["network"], place)
            } else {
                let (inputs, outputs) = (view["inputs"] ?? .null, view["outputs"] ?? .null)
                let interface = try Interface(json: .members(["inputs": inputs, "outputs": outputs]))
                #expect(found.interface == interface, place)
            }
        }
    }

    private func row(_ row: TensorRow) -> JSONValue {
        .members([
            "name": .text(row.name.description), "type": .text(row.type),
            "shape": .array(row.shape.map(JSONValue.integer)),
        ])
    }

    /// As texts, in whatever order their writers keep them.
    private func sorted(_ rows: [JSONValue]) -> [String] {
        rows.map { String(decoding: $0.compactJSON, as: UTF8.self) }.sorted()
    }
}
