/// Values as people read them: `float32[batch, 4]`, `sequence of map of string to float32[]`.
extension Feature {
    package var shown: String { (isOptional ? "optional " : "") + type.description }
}

extension ValueType: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tensor(let tensor): tensor.description
        case .sparseTensor(let tensor): "sparse \(tensor)"
        case .image(let image): image.description
        case .scalar(let element): element.rawValue
        case .map(let key, let value): "map of \(key.rawValue) to \(value)"
        case .sequence(let element, .any): "sequence of \(element)"
        case .sequence(let element, let count): "sequence of \(count) times \(element)"
        case .maybe(let value): "optional \(value)"
        case .opaque(let domain, let name): "opaque \(domain):\(name)"
        }
    }
}

extension TensorType: CustomStringConvertible {
    package var description: String { element.rawValue + shape.description }
}

extension Shape: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownRank: "[…]"
        case .dimensions(let dimensions): "[\(dimensions.map(\.description).joined(separator: ", "))]"
        case .enumerated(let shapes):
            shapes.alternatives { "[\($0.map(String.init).joined(separator: ", "))]" }
        }
    }
}

extension Dimension: CustomStringConvertible {
    package var description: String {
        switch self {
        case .fixed(let size): String(size)
        case .symbol(let name): name.symbolText
        case .any: "?"
        case .range(let minimum, let maximum): "\(minimum)…\(maximum.map(String.init) ?? "")"
        case .oneOf(let sizes): sizes.map(String.init).joined(separator: "|")
        }
    }
}

extension FeatureName {
    /// As a size is shown: a symbol that could be taken for a number, for `?` or for several sizes in quotation marks.
    fileprivate var symbolText: String {
        let scalars = description.unicodeScalars
        let isWord = scalars.allSatisfy { scalar in
            scalar == "_" || scalar == "." || scalar.properties.isAlphabetic
                || scalar.properties.numericType != nil
        }
        guard isWord, let first = scalars.first, first == "_" || first.properties.isAlphabetic else {
            return "\"\(description)\""
        }
        return description
    }
}

extension ImageType: CustomStringConvertible {
    package var description: String {
        let name = "\(color.rawValue) image"
        return switch sizes {
        case .fixed: "\(name) \(width)×\(height)"
        case .enumerated(let sizes):
            "\(name) " + sizes.alternatives { "\($0.width)×\($0.height)" } + otherDefault
        case .ranges(let width, let height): "\(name) \(width) × \(height)" + otherDefault
        }
    }

    /// The size that is said beside others and is none of them: what a runtime gives or takes by default is unclear.
    private var otherDefault: String {
        let isOne =
            switch sizes {
            case .fixed: true
            case .enumerated(let sizes): sizes.contains(ImageSize(width: width, height: height))
            case .ranges(let widths, let heights): widths.contains(width) && heights.contains(height)
            }
        return isOne ? "" : "; its default size \(width)×\(height) is none of these"
    }
}

extension Array {
    /// A handful of them, and how many others there are.
    fileprivate func alternatives(_ shown: (Element) -> String) -> String {
        let few = prefix(6).map(shown).joined(separator: " or ")
        return count > 6 ? "\(few) … and \(count - 6) more" : few
    }
}
