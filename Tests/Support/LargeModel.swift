package import Durable
import Glibc
import Names

/// A model with as many weights as wanted in a file beside it: `y[n, columns] = x[n, rows] · w[rows, columns]`.
///
/// Written byte by byte, since no tool that writes ONNX is at hand in every test.
package enum LargeModel {
    /// Writes `model.onnx` and `weights.bin` into a folder.
    ///
    /// Every weight of column `c` is `(c % 7 + 1) / 8`, so that an input of ones gives `rows` times that.
    ///
    /// - Parameters:
    ///   - directory: A folder that is there.
    ///   - rows: The length of an input.
    ///   - columns: The length of an output.
    /// - Returns: The path of `model.onnx`.
    /// - Throws: `DurableError` when the disk does not take it.
    package static func write(in directory: String, rows: Int, columns: Int) throws(DurableError) -> String {
        var row: [UInt8] = []
        for column in 0..<columns {
            let bits = (Float(column % 7 + 1) / 8).bitPattern
            for byte in 0..<4 { row.append(UInt8(truncatingIfNeeded: bits >> (byte * 8))) }
        }
        let weights = "\(directory)/weights.bin"
        let descriptor = open(weights, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw .system("create", weights) }
        defer { close(descriptor) }
        for _ in 0..<rows {
            guard row.withUnsafeBytes({ Glibc.write(descriptor, $0.baseAddress, $0.count) }) == row.count
            else {
                throw .system("write", weights)
            }
        }
        let path = "\(directory)/model.onnx"
        try Durable.writeAtomically(path, model(rows: rows, columns: columns), mode: 0o644)
        return path
    }

    private static func model(rows: Int, columns: Int) -> [UInt8] {
        let node = text(1, "x") + text(1, "w") + text(2, "y") + text(4, "MatMul")
        let external = [("location", "weights.bin"), ("offset", "0"), ("length", "\(rows * columns * 4)")]
            .flatMap { key, value in field(13, text(1, key) + text(2, value)) }
        let tensor =
            number(1, rows) + number(1, columns) + number(2, 1) + text(8, "w") + external + number(14, 1)
        let graph =
            field(1, node) + text(2, "large") + field(5, tensor) + field(11, port("x", rows))
            + field(12, port("y", columns))
        return number(1, 8) + field(7, graph) + field(8, number(2, 13))
    }

    private static func port(_ name: String, _ length: Int) -> [UInt8] {
        let shape = field(1, text(2, "n")) + field(1, number(1, length))
        return text(1, name) + field(2, field(1, number(1, 1) + field(2, shape)))
    }

    private static func varint(_ value: Int) -> [UInt8] {
        var rest = UInt64(value)
        var bytes: [UInt8] = []
        while rest >= 0x80 {
            bytes.append(UInt8(rest & 0x7F) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    private static func number(_ field: Int, _ value: Int) -> [UInt8] { varint(field << 3) + varint(value) }

    private static func field(_ field: Int, _ bytes: [UInt8]) -> [UInt8] {
        varint(field << 3 | 2) + varint(bytes.count) + bytes
    }

    private static func text(_ number: Int, _ text: String) -> [UInt8] { field(number, Array(text.utf8)) }
}
