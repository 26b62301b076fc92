import CanonicalJSON
package import Manifest
import Names
import Signing

/// One tensor of a file that is a list of tensors, as the file has it.
package struct TensorRow: Equatable, Sendable {
    package let name: FeatureName

    /// In the format's own words: `BF16`, `Q4_K`.
    package let type: String

    /// As the file writes it; GGUF has the fastest dimension first.
    package let shape: [Int64]
}

extension [TensorRow] {
    /// How many, and a digest of their names, types and shapes, whatever their order.
    ///
    /// One line of canonical JSON a tensor, sorted by name.
    package var summary: TensorTable {
        var digest = DigestStream()
        var lines: [UInt8] = []
        // By their places in the list, since there may be many.
        for index in indices.sorted(by: { self[$0].name < self[$1].name }) {
            self[index].write(into: &lines)
            guard lines.count >= 32_768 else { continue }
            digest.update(lines)
            lines.removeAll(keepingCapacity: true)
        }
        digest.update(lines)
        return TensorTable(count: Int64(count), sha256: digest.finish())
    }
}

extension TensorRow {
    /// `{"name":…,"shape":[…],"type":…}` and a line feed; as text at once, since there may be many.
    fileprivate func write(into line: inout [UInt8]) {
        line += "{\"name\":".utf8
        line += JSONValue.text(name.description).compactJSON
        line += ",\"shape\":[".utf8
        for (index, size) in shape.enumerated() {
            if index > 0 { line.append(UInt8(ascii: ",")) }
            line += String(size).utf8
        }
        line += "],\"type\":".utf8
        line += JSONValue.text(type).compactJSON
        line += "}\n".utf8
    }
}
