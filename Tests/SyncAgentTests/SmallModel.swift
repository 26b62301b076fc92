import Names

/// A real ONNX file, written by hand: `y = Identity(x)`, and weights that nothing uses.
enum SmallModel {
    /// - Parameters:
    ///   - width: The last dimension of the input and the output.
    ///   - marker: Makes files of one shape differ.
    ///   - weights: Bytes of weights; from 64 KiB on the file has a block list.
    ///   - operators: The version of the operators that the file asks for.
    /// - Returns: The file.
    static func bytes(
        width: UInt64,
        marker: UInt8,
        weights: Int = 64,
        operators: UInt64 = 17
    )
        -> [UInt8]
    {
        let value = number(1, 1) + message(2, message(1, number(1, 1)) + message(1, number(1, width)))
        func port(_ name: String) -> [UInt8] { text(1, name) + message(2, message(1, value)) }
        let node = text(1, "x") + text(2, "y") + text(4, "Identity")
        let count = weights / 4
        let tensor =
            number(1, UInt64(count)) + number(2, 1) + text(8, "w")
            + message(9, [UInt8](repeating: marker, count: count * 4))
        let graph =
            message(1, node) + text(2, "small") + message(5, tensor) + message(11, port("x"))
            + message(12, port("y"))
        return number(1, 8) + message(8, number(2, operators)) + message(7, graph)
    }

    private static func varint(_ value: UInt64) -> [UInt8] {
        var (value, bytes): (UInt64, [UInt8]) = (value, [])
        repeat {
            bytes.append(UInt8(value & 127) | (value > 127 ? 128 : 0))
            value >>= 7
        } while value > 0
        return bytes
    }

    private static func number(_ field: UInt64, _ value: UInt64) -> [UInt8] {
        varint(field << 3) + varint(value)
    }

    private static func message(_ field: UInt64, _ content: [UInt8]) -> [UInt8] {
        varint(field << 3 | 2) + varint(UInt64(content.count)) + content
    }

    private static func text(_ field: UInt64, _ content: String) -> [UInt8] {
        message(field, Array(content.utf8))
    }
}
