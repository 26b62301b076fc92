/// A small ONNX model written byte by byte: y = 2 x + 1 over four floats.
enum TestModel {
    /// The file's bytes.
    ///
    /// - Parameters:
    ///   - label: Goes into the metadata, so that two labels make two files with one interface.
    ///   - padding: Bytes of a weight that nothing uses, to make a file of several blocks.
    ///   - input: The input's name.
    ///   - output: The output's.
    ///   - width: Elements of input and output.
    ///   - seed: Changes every second 128 KiB of the weight.
    ///   - operators: The version of the operators that the file asks for.
    /// - Returns: One ONNX file.
    static func bytes(
        label: String,
        padding: Int = 0,
        input: String = "x",
        output: String = "y",
        width: UInt64 = 4,
        seed: UInt8 = 0,
        operators: UInt64 = 13
    ) -> [UInt8] {
        let graph =
            message(1, node("Mul", [input, "two"], "scaled"))
            + message(1, node("Add", ["scaled", "one"], output))
            + text(2, "linear") + message(5, scalar("two", 2)) + message(5, scalar("one", 1))
            + message(11, port(input, width)) + message(12, port(output, width))
            + (padding > 0 ? message(5, filler(padding, seed)) : [])
        return number(1, 8) + text(2, "sealift-tests") + message(7, graph) + message(8, number(2, operators))
            + message(14, text(1, "label") + text(2, label))
    }

    static func node(_ operation: String, _ inputs: [String], _ output: String) -> [UInt8] {
        inputs.flatMap { text(1, $0) } + text(2, output) + text(4, operation)
    }

    static func scalar(_ name: String, _ value: Float) -> [UInt8] {
        let raw = (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> (8 * UInt32($0))) }
        return number(1, 1) + number(2, 1) + text(8, name) + message(9, raw)
    }

    private static func filler(_ count: Int, _ seed: UInt8) -> [UInt8] {
        let raw = (0..<count).map { index in
            UInt8(truncatingIfNeeded: (index &* 2_654_435_761) >> 7) ^ (index >> 17 & 1 == 1 ? seed : 0)
        }
        return number(1, UInt64(count)) + number(2, 2) + text(8, "filler") + message(9, raw)
    }

    static func port(_ name: String, _ width: UInt64) -> [UInt8] {
        let tensor = number(1, 1) + message(2, message(1, number(1, width)))
        return text(1, name) + message(2, message(1, tensor))
    }

    static func message(_ field: UInt64, _ payload: [UInt8]) -> [UInt8] {
        varint(field << 3 | 2) + varint(UInt64(payload.count)) + payload
    }

    static func text(_ field: UInt64, _ text: String) -> [UInt8] { message(field, Array(text.utf8)) }

    static func number(_ field: UInt64, _ value: UInt64) -> [UInt8] {
        varint(field << 3) + varint(value)
    }

    static func varint(_ value: UInt64) -> [UInt8] {
        var (rest, bytes): (UInt64, [UInt8]) = (value, [])
        while rest > 0x7F {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }
}
