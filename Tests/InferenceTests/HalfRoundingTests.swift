import Foundation
import Inference
import Testing

@Suite("Rounding to 16-bit floating point")
struct HalfRoundingTests {
    private struct Row {
        let form: String
        let text: String
        let word: UInt16
    }

    /// Made with numpy and fractions, by the script beside the file.
    private func rows() throws -> [Row] {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = tests.appending(path: "Fixtures/half/vectors.txt")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
            let words = line.split(separator: " ").map(String.init)
            try #require(words.count == 3)
            return Row(form: words[0], text: words[1], word: try #require(UInt16(words[2], radix: 16)))
        }
    }

    private func words(_ form: String, _ texts: [String]) throws -> [UInt16] {
        let element = try #require(Tensor.Element(rawValue: form))
        let ports = ModelPorts(inputs: [Port(name: "x", kind: .tensor(element, .unknownRank))], outputs: [])
        let document = "{\"x\":[\(texts.joined(separator: ","))]}"
        let tensor = try #require(try TensorJSON.inputs(Array(document.utf8), for: ports)["x"])
        return stride(from: 0, to: tensor.bytes.count, by: 2).map {
            UInt16(tensor.bytes[$0]) | UInt16(tensor.bytes[$0 + 1]) << 8
        }
    }

    @Test(
        "each decimal becomes the nearest number, ties to even, and is rounded once",
        arguments: ["float16", "bfloat16"]
    )
    func vectors(form: String) throws {
        let infinity: UInt16 = form == "float16" ? 0x7C00 : 0x7F80
        let rows = try rows().filter { $0.form == form }
        #expect(rows.count > 300)
        let finite = rows.filter { $0.word < infinity }
        #expect(try words(form, finite.map(\.text)) == finite.map(\.word))
        #expect(try words(form, finite.map { "-\($0.text)" }) == finite.map { $0.word | 0x8000 })
        let beyond = rows.filter { $0.word >= infinity }
        #expect(!beyond.isEmpty)
        for row in beyond {
            #expect(throws: InferenceError.self, "\(row.text)") { try words(form, [row.text]) }
        }
    }

    @Test("long and extreme decimals are read in no time and without a trap", .timeLimit(.minutes(1)))
    func extreme() throws {
        let tie = "1.00048828125"
        let zeros = String(repeating: "0", count: 1_000)
        #expect(
            try words(
                "float16",
                ["\(tie)\(zeros)", "\(tie)\(zeros)1", "1e-9999", "0.\(zeros)1e1001", "0e9999"]
            )
                == [0x3C00, 0x3C01, 0, 0x3C00, 0]
        )
        let many = [String](repeating: "\(tie)\(zeros)1", count: 400)
        #expect(try words("float16", many).allSatisfy { $0 == 0x3C01 })
        #expect(throws: InferenceError.self) { try words("float16", ["1e99999"]) }
    }
}
