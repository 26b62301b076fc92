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
        // By their places in the list, since there may be many.
        for index in indices.sorted(by: { self[$0].name < self[$1].name }) {
            let row = self[index]
            let line = JSONValue.members([
                "name": .text(row.name.description), "shape": .array(row.shape.map(JSONValue.integer)),
                "type": .text(row.type),
            ])
            digest.update(line.compactJSON + [0x0A])
        }
        return TensorTable(count: Int64(count), sha256: digest.finish())
    }
}
