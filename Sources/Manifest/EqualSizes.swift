/// What one dimension is in one call.
enum CallSize: Hashable {
    enum Side {
        case ours, theirs
    }

    case known(Int64)
    case symbol(FeatureName, Side)

    /// Of nothing but this column of this tensor.
    case alone(Side, row: Int, index: Int)

    fileprivate var isSymbol: Bool { if case .symbol = self { true } else { false } }
}

/// Sizes that are one in every call: a congruence over the symbols of both sides.
struct EqualSizes {
    private var parents: [CallSize: CallSize] = [:]

    func root(of size: CallSize) -> CallSize {
        var size = size
        while let parent = parents[size] { size = parent }
        return size
    }

    func areUnequal(_ one: CallSize, _ other: CallSize) -> Bool { root(of: one) != root(of: other) }

    /// What is sent for something that is taken is one size with it.
    mutating func join(_ sizes: [CallSize], with others: [CallSize]) {
        for (sent, taken) in zip(sizes, others) where sent.isSymbol || taken.isSymbol {
            let (one, other) = (root(of: sent), root(of: taken))
            guard one != other else { continue }
            // A known size stays the root; two of them are not one, and the model refuses what is sent.
            switch (one, other) {
            case (.known, .known): continue
            case (.known, _): parents[other] = one
            default: parents[one] = other
            }
        }
    }
}

extension ValueType {
    /// Of a tensor.
    var wholeShape: Shape? {
        guard case .tensor(let tensor) = self else { return nil }
        return tensor.shape
    }
}

extension Shape {
    var hasSymbol: Bool {
        guard case .dimensions(let dimensions) = self else { return false }
        return dimensions.contains { if case .symbol = $0 { true } else { false } }
    }

    func sizes(of side: CallSize.Side, row: Int) -> [CallSize] {
        (0..<(rank ?? 0)).map { index in
            let dimension = dimension(index)
            if case .symbol(let symbol) = dimension { return .symbol(symbol, side) }
            if let sizes = dimension.sizes, sizes.count == 1 { return .known(sizes[0]) }
            guard case .enumerated(let shapes) = self else { return .alone(side, row: row, index: index) }
            // Two columns that are the same are one size.
            let first = (0..<index).first { other in shapes.allSatisfy { $0[other] == $0[index] } }
            return .alone(side, row: row, index: first ?? index)
        }
    }

    /// One dimension by itself.
    func dimension(_ index: Int) -> Dimension {
        switch self {
        case .unknownRank: return .any
        case .dimensions(let dimensions): return dimensions[index]
        case .enumerated(let shapes):
            let sizes = Set(shapes.map { $0[index] }).sorted()
            return sizes.count == 1 ? .fixed(sizes[0]) : .oneOf(sizes)
        }
    }
}
