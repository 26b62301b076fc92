import CanonicalJSON
import Manifest
import Names

/// An interface as a person reads it: one line a value, and what the signs mean.
enum InterfaceTable {
    static func lines(of interface: Interface) -> [String] {
        var rows = rows("input", interface.inputs)
        rows += self.rows("output", interface.outputs)
        rows += self.rows("state", interface.states)
        for function in interface.functions {
            rows += self.rows("\(function.name) input", function.inputs)
            rows += self.rows("\(function.name) output", function.outputs)
            rows += self.rows("\(function.name) state", function.states)
        }
        var lines = rows.isEmpty ? [] : TextTable.lines(["", "name", "type"], rows)
        lines += legend(of: interface).map { "  \($0)" }
        if let labels = interface.labels { lines.append("  labels: \(labels.shown)") }
        for function in interface.functions {
            if let labels = function.labels { lines.append("  \(function.name) labels: \(labels.shown)") }
        }
        for tokenizer in interface.tokenizers {
            lines.append("  tokenizer: \(tokenizer.name), sha256 \(tokenizer.sha256.hex.prefix(16))…")
        }
        if let network = interface.network {
            lines.append("  network: " + String(decoding: network.json.compactJSON, as: UTF8.self))
        }
        if let name = interface.defaultFunction { lines.append("  default function: \(name)") }
        if let processing = interface.preprocessing {
            lines.append("  before: " + String(decoding: processing.compactJSON, as: UTF8.self))
        }
        if let processing = interface.postprocessing {
            lines.append("  after: " + String(decoding: processing.compactJSON, as: UTF8.self))
        }
        if interface.isDeclared {
            let isEmpty = rows.isEmpty
            lines.append(
                isEmpty
                    ? "  no inputs and outputs: the files have no place for them"
                    : "  declared by a person: the files have no place for inputs and outputs"
            )
        }
        return lines
    }

    private static func rows(_ kind: String, _ features: [Feature]) -> [[String]] {
        features.map { feature in
            let note = feature.defaultValue.map { ", \($0) when left out" } ?? ""
            return [kind, feature.name.description, feature.shown + note]
        }
    }

    /// Only what stands in this interface.
    private static func legend(of interface: Interface) -> [String] {
        var symbols: [FeatureName] = []
        var hasAny = false
        var hasRank = false
        let functions = interface.functions.flatMap { $0.inputs + $0.outputs + $0.states }
        for feature in interface.inputs + interface.outputs + interface.states + functions {
            switch feature.type.shape {
            case .dimensions(let dimensions)?:
                for dimension in dimensions {
                    if case .symbol(let name) = dimension, symbols.count < 6, !symbols.contains(name) {
                        symbols.append(name)
                    }
                    if dimension == .any { hasAny = true }
                }
            case .unknownRank?: hasRank = true
            case .enumerated?, nil: break
            }
        }
        var lines: [String] = []
        if !symbols.isEmpty {
            lines.append(
                symbols.map(\.description).joined(separator: ", ")
                    + ": any size, in one call the same wherever it stands"
            )
        }
        if hasAny { lines.append("?: any size") }
        if hasRank { lines.append("[…]: any number of dimensions") }
        return lines
    }
}

extension ValueType {
    fileprivate var shape: Shape? {
        switch self {
        case .tensor(let tensor), .sparseTensor(let tensor): tensor.shape
        case .map(_, let value), .sequence(let value, _), .maybe(let value): value.shape
        case .image, .scalar, .opaque: nil
        }
    }
}

extension ClassLabels {
    /// How many, and the first few.
    fileprivate var shown: String {
        let first =
            switch self {
            case .texts(let labels): labels.prefix(5).map(\.string)
            case .integers(let labels): labels.prefix(5).map { "\($0)" }
            }
        return "\(count) (" + first.joined(separator: ", ") + (count > 5 ? ", …)" : ")")
    }
}
