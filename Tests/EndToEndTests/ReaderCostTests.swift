import Support
import Testing

extension EndToEnd {
    /// Files that are nothing but structure, with as much of one thing as there may be.
    @Suite("What hostile files cost the program", .serialized)
    struct ReaderCostTests {
        private typealias Bytes = [UInt8]

        private static func varint(_ value: Int) -> Bytes {
            value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + varint(value >> 7)
        }

        private static func message(_ field: Int, _ parts: Bytes...) -> Bytes {
            let content = parts.flatMap { $0 }
            return varint(field << 3 | 2) + varint(content.count) + content
        }

        private static func text(_ field: Int, _ text: String) -> Bytes { message(field, Array(text.utf8)) }

        /// An ONNX model of such a graph.
        private static func model(_ graph: Bytes, _ more: Bytes = []) -> Bytes {
            [8, 8] + message(7, graph) + message(8, [16, 13]) + more
        }

        private static func many(_ count: Int, _ part: (Int) -> Bytes) -> Bytes {
            var bytes: Bytes = []
            for index in 0..<count { bytes += part(index) }
            return bytes
        }

        /// So many times a name of six digits between the same bytes.
        private static func numbered(_ count: Int, _ before: Bytes, _ after: Bytes) -> Bytes {
            var bytes: Bytes = []
            for index in 0..<count {
                bytes += before
                var part = 100_000
                while part > 0 {
                    bytes.append(0x30 + UInt8(index / part % 10))
                    part /= 10
                }
                bytes += after
            }
            return bytes
        }

        private static func little(_ value: Int, _ width: Int) -> Bytes {
            (0..<width).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }

        private static func counted(_ text: String) -> Bytes { little(text.utf8.count, 8) + Array(text.utf8) }

        /// The head of a GGUF file, with one pair that it needs.
        private static func gguf(tensors: Int, pairs: Int) -> Bytes {
            Array("GGUF".utf8) + little(3, 4) + little(tensors, 8) + little(pairs + 1, 8)
                + counted("general.architecture") + little(8, 4) + counted("llama")
        }

        /// A name, and the bytes, of which all are structure.
        private static func files() -> [(String, Bytes)] {
            let initializer = { (index: Int) in
                message(5, [16, 1], text(8, "\(index)"), [0x4A, 4, 0, 0, 0, 0])
            }
            let external = { (index: Int) in
                message(
                    5,
                    [8, 1, 16, 1],
                    text(8, "\(index)"),
                    message(13, text(1, "location"), text(2, "w")),
                    [0x70, 1]
                )
            }
            let rows = (0..<60_000).map { #""t\#($0)":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"# }
            let header = Array("{\(rows.joined(separator: ","))}".utf8)
            let long = String(repeating: "n", count: 80)
            let longRows = rows.map { #""\#(long)"# + $0.dropFirst() }
            let longHeader = Array("{\(longRows.joined(separator: ","))}".utf8)
            return [
                ("initializers.onnx", model(many(60_000, initializer))),
                ("external.onnx", model(many(60_000, external))),
                ("domains.onnx", model([], many(60_000) { message(8, text(1, "d\($0)"), [16, 1]) })),
                ("uses.onnx", model(many(60_000) { message(1, text(4, "Add"), text(7, "d\($0)")) })),
                ("functions.onnx", model([], many(60_000) { message(25, text(1, "f"), text(10, "d\($0)")) })),
                ("nodes.onnx", model(many(60_000) { message(1, text(2, "\($0)"), text(4, "Add")) })),
                ("values.onnx", model(message(1, numbered(800_000, [0x12, 6], [])))),
                ("many.onnx", model(numbered(800_000, [0x2A, 14, 8, 0, 16, 1, 0x42, 6], [0x4A, 0]))),
                (
                    "tokenizers.gguf",
                    gguf(tensors: 0, pairs: 60_000)
                        + many(60_000) { counted("tokenizer.ggml.\($0)") + [8, 0, 0, 0] + counted("") }
                ),
                ("tensors.safetensors", little(header.count, 8) + header),
                ("names.safetensors", little(longHeader.count, 8) + longHeader),
                (
                    "keys.gguf",
                    gguf(tensors: 0, pairs: 60_000) + many(60_000) { counted("k.\($0)") + [7, 0, 0, 0, 1] }
                ),
                (
                    "tensors.gguf",
                    gguf(tensors: 60_000, pairs: 0)
                        + many(60_000) { counted("t\($0)") + little(1, 4) + little(0, 8) + little(0, 12) }
                ),
            ]
        }

        private func cost(_ world: World, _ name: String, _ bytes: Bytes) throws -> (Outcome, peak: Int) {
            let child = try world.start(["inspect", try world.scratch.write(name, bytes)])
            // Far more than it takes, and far less than what grows with the square of a file.
            return (try child.finished(within: 150), child.peakMemory)
        }

        @Test("no file makes memory grow by more than 16 MB and what it has of structure")
        func memory() throws {
            let world = try World()
            // The last look at a process may come before its peak, so the greatest of several counts.
            let runs = try (0..<8).map { _ in try cost(world, "small.onnx", TestModel.bytes(label: "a")) }
            #expect(runs.allSatisfy { $0.0.code == 0 })
            let base = try #require(runs.map(\.peak).max())
            #expect(base > 1 << 20)
            for (name, bytes) in Self.files() {
                let (outcome, peak) = try cost(world, name, bytes)
                #expect(peak - base <= 16_000_000 + bytes.count, "\(name)")
                #expect(outcome.code <= 1, "\(name): \(outcome)")
            }
        }

        @Test("as many symbols as there may be are shown without looking for each among all others")
        func symbols() throws {
            let world = try World()
            func model(_ inputs: Int) -> Bytes {
                let inputs = Self.many(inputs) { input in
                    let sizes = Self.many(32) { Self.message(1, Self.text(2, "s\(input)_\($0)")) }
                    let type = Self.message(2, Self.message(1, [8, 1], Self.message(2, sizes)))
                    return Self.message(11, Self.text(1, "i\(input)"), type)
                }
                return Self.model(inputs)
            }
            let (outcome, _) = try cost(world, "symbols.onnx", model(1_400))
            #expect(outcome.code == 0 && outcome.output.contains("s0_0, s0_1"), "\(outcome.errors)")
            let (more, _) = try cost(world, "more.onnx", model(4_000))
            #expect(more.code == 1 && more.errors.contains("bytes of the interface"), "\(more)")
        }
    }
}
