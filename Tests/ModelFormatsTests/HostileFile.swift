import Testing

/// A file with as many of something as one likes, made to cost more than it is long.
struct HostileFile: CustomTestStringConvertible, Sendable {
    typealias Bytes = [UInt8]

    let testDescription: String
    let name: String
    let make: @Sendable (Int) -> Bytes

    init(_ what: String, _ name: String, _ make: @escaping @Sendable (Int) -> Bytes) {
        testDescription = what
        self.name = name
        self.make = make
    }

    static let all = onnx + gguf + others

    /// Things that stand behind one another.
    private static func joined(_ parts: Bytes...) -> Bytes { parts.flatMap { $0 } }

    private static func many(_ count: Int, _ part: (Int) -> Bytes) -> Bytes {
        var bytes: Bytes = []
        for index in 0..<count { bytes.append(contentsOf: part(index)) }
        return bytes
    }

    private static func text(_ text: String) -> Bytes { Array(text.utf8) }

    private static func little(_ value: Int, _ width: Int) -> Bytes {
        Array(GGUFWriter.number(UInt64(value)).prefix(width))
    }
}

// MARK: ONNX

extension HostileFile {
    private static func message(_ field: UInt64, _ parts: Bytes...) -> Bytes {
        Wire.payload(field, parts.flatMap { $0 }).bytes
    }

    private static func model(_ graph: Bytes) -> Bytes {
        joined([8, 8], message(7, graph), message(8, [16, 13]))
    }

    private static let onnx = [
        HostileFile("nodes", "m.onnx") { count in
            model(many(count) { message(1, message(2, text("\($0)")), message(4, text("Add"))) })
        },
        HostileFile("nodes that use what the one before made", "m.onnx") { count in
            let inputs = ["x"] + (0..<count).map { "\($0)" }
            let node = { (index: Int) in
                message(
                    1,
                    message(1, text(inputs[index])),
                    message(2, text("\(index)")),
                    message(4, text("Not"))
                )
            }
            return model(
                many(count, node) + message(5, [16, 1], message(8, text("x")), message(9, [0, 0, 0, 0]))
            )
        },
        HostileFile("a node with a graph in each of its attributes", "m.onnx") { count in
            let graph = { (index: Int) in message(6, message(1, message(2, text("\(index)")))) }
            return model(message(1, many(count) { message(5, graph($0)) }))
        },
        HostileFile("graphs inside attributes of nodes", "m.onnx") { count in
            let graph = message(6, message(1, message(5, message(6))))
            return model(many(count) { _ in message(1, message(5, graph)) })
        },
        HostileFile("initializers with external data", "m.onnx") { count in
            let entry = message(13, message(1, text("location")), message(2, text("w")))
            return model(many(count) { message(5, message(8, text("\($0)")), entry, [0x70, 1]) })
        },
        HostileFile("fields that nobody knows", "m.onnx") { count in
            many(count) { _ in message(200, [1, 2, 3]) }
        },
        HostileFile("labels", "m.onnx") { count in
            let labels = many(count) { message(9, text("\($0)")) }
            let attribute = message(5, message(1, text("classlabels_strings")), labels)
            return model(message(1, message(4, text("ZipMap")), attribute))
        },
        HostileFile("values that tell a class", "m.onnx") { count in
            let node = { (operation: String, values: Bytes) in
                message(1, values, message(4, text(operation)), message(7, text("ai.onnx.ml")))
            }
            let attribute = message(5, message(1, text("classlabels_strings")), message(9, text("a")))
            let classifier = { (index: Int) in
                joined(
                    node("LinearClassifier", joined(message(2, text("\(index)")), attribute)),
                    message(12, message(1, text("\(index)")), message(2, message(1, [8, 8])))
                )
            }
            return model(many(count, classifier))
        },
        HostileFile("metadata", "m.onnx") { count in
            joined(many(count) { message(14, message(1, text("\($0)")), message(2, [0x61])) }, model([]))
        },
    ]
}

// MARK: GGUF

extension HostileFile {
    private static func head(pairs: Int) -> Bytes {
        joined(text("GGUF"), little(3, 4), little(0, 8), little(pairs, 8))
    }

    /// A pair whose value is an array of so many elements, of which none stands here.
    private static func array(of type: Int, _ count: Int) -> Bytes {
        joined(GGUFWriter.text("tokenizer.ggml.tokens"), little(9, 4), little(type, 4), little(count, 8))
    }

    private static let gguf = [
        HostileFile("keys", "m.gguf") { count in
            joined(head(pairs: count), many(count) { joined(GGUFWriter.text("k.\($0)"), little(7, 4), [1]) })
        },
        HostileFile("elements of an array of texts", "m.gguf") { count in
            joined(head(pairs: 1), array(of: 8, count), many(count) { GGUFWriter.text("\($0)") })
        },
    ]

    /// The beginning of files that go on for gigabytes of zeros.
    static let gigabytes: [(name: String, head: Bytes)] = [
        ("m.safetensors", joined(little(1 << 31, 8), text("{"))),
        ("m.gguf", joined(head(pairs: 1), GGUFWriter.text("k"), little(8, 4), little(1 << 31, 8))),
        ("m.gguf", joined(head(pairs: 1), array(of: 8, 1 << 28))),
        ("m.onnx", joined([8, 8, 0x12], Wire.varint(1 << 31))),
        ("m.mlmodel", joined([8, 4, 0x12], Wire.varint(1 << 31))),
    ]
}

// MARK: safetensors and TFLite

extension HostileFile {
    private static let others = [
        HostileFile("tensors", "m.safetensors") { count in
            let rows = (0..<count).map { index in
                "\"t\(index)\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[\(index),\(index + 1)]}"
            }
            let header = text("{" + rows.joined(separator: ",") + "}")
            return joined(little(header.count, 8), header, Bytes(repeating: 0, count: count))
        },
        HostileFile("spaces after the header", "m.safetensors") { count in
            let header = joined(text("{}"), Bytes(repeating: 0x20, count: count))
            return joined(little(header.count, 8), header)
        },
        HostileFile("one subgraph many times, with one tensor many times", "m.tflite") { count in
            shared(min(count, 256), count)
        },
    ]

    /// A vector of offsets that all lead to one place.
    private static func vector(_ count: Int, at start: Int, to target: Int) -> Bytes {
        joined(little(count, 4), many(count) { little(target - (start + 4 + 4 * $0), 4) })
    }

    /// A TFLite file of one subgraph and one tensor, each referred to so many times.
    static func shared(_ subgraphs: Int, _ tensors: Int) -> Bytes {
        // Root and identifier, then each table right behind its vtable; every place is a multiple of four.
        let model = 24
        let list = model + 12
        let graph = list + 4 + 4 * subgraphs + 8
        let places = graph + 8
        let tensor = places + 4 + 4 * tensors + 4
        let start = joined(little(model, 4), text("TFL3"))
        // Of the vtable: its length, the table's, version, no operators, subgraphs.
        let layout = joined(
            little(10, 2),
            little(12, 2),
            little(8, 2),
            little(0, 2),
            little(4, 2),
            little(0, 6)
        )
        let root = joined(little(model - 8, 4), little(list - (model + 4), 4), little(3, 4))
        let graphLayout = joined(little(6, 2), little(8, 2), little(4, 2), little(0, 2))
        let graphTable = joined(little(8, 4), little(places - (graph + 4), 4))
        return joined(
            joined(start, layout, root),
            vector(subgraphs, at: list, to: graph),
            joined(graphLayout, graphTable),
            vector(tensors, at: places, to: tensor),
            joined(little(4, 2), little(4, 2), little(4, 4))
        )
    }
}
