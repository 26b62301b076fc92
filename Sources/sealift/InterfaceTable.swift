import Manifest

/// An interface as a person reads it: one line a value.
enum InterfaceTable {
    static func text(of interface: Interface) -> String {
        let rows =
            rows("input", interface.inputs) + rows("output", interface.outputs)
            + rows("state", interface.states)
        let width = rows.map(\.name.count).max() ?? 0
        var lines = rows.map { row in
            let name = row.name + String(repeating: " ", count: width - row.name.count)
            return "  \(row.kind)\(String(repeating: " ", count: 7 - row.kind.count))\(name)  \(row.type)"
        }
        if let labels = interface.labels { lines.append("  labels \(labels.count)") }
        return lines.joined(separator: "\n")
    }

    private static func rows(
        _ kind: String,
        _ features: [Feature]
    ) -> [(kind: String, name: String, type: String)] {
        features.map { (kind, $0.name.description, $0.shown) }
    }
}
