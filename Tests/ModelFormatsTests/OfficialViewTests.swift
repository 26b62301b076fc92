import CanonicalJSON
import Foundation
import Manifest
import ModelFormats
import Names
import Support
import Testing

/// The models of the official package's own tests, seen by both readers.
@Suite("The official ONNX package and this reader")
struct OfficialViewTests {
    static let python = Peer.python(with: "onnx")

    @Test(
        "both see the same interface in every model, or it uses operators that this reader refuses",
        .enabled(if: python != nil, "no Python with the package onnx: set SEALIFT_PYTHON, or run `make test`")
    )
    func sameView() throws {
        let scratch = Scratch()
        var seen = 0
        for view in try Peer.lines(try #require(Self.python), "onnx_view.py", [scratch.path]) {
            let path = try #require(view["path"]?.string)
            try compare(path, view)
            seen += 1
        }
        let hasOlder = FileManager.default.fileExists(atPath: "/usr/share/libonnx-testdata")
        #expect(seen > (hasOlder ? 2_000 : 1_000))
    }

    private func compare(_ path: String, _ view: JSONValue) throws {
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        do {
            let found = try ModelFile.inspect(source: MemorySource(bytes), name: path)
            var interface = found.interface
            interface.labels = nil
            #expect(interface.json == view["interface"], "\(path)")
            #expect(found.requires.json == view["requires"], "\(path)")
        } catch .refused(_, _, _, .operatorDomain(let domain)) {
            #expect(domain.contains("preview") || domain.contains("training"), "\(path): \(domain)")
        }
    }
}
