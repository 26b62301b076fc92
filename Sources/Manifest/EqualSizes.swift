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

/// Counts how often one size is followed to another, where somebody wants to know.
final class SizeSteps {
    var count = 0
}

/// Sizes that are one in every call: a congruence over the symbols of both sides.
///
/// Of two trees the smaller hangs from the root of the greater, so that no
/// size is further from its root than the logarithm of how many there are. A
/// known size hangs from nothing: it says what the others are.
struct EqualSizes {
    private var parents: [CallSize: CallSize] = [:]

    /// How many hang from each root, where it is more than one with it.
    private var counts: [CallSize: Int] = [:]

    private let steps: SizeSteps?

    init(counting steps: SizeSteps? = nil) { self.steps = steps }

    func root(of size: CallSize) -> CallSize {
        var size = size
        steps?.count += 1
        while let parent = parents[size] {
            size = parent
            steps?.count += 1
        }
        return size
    }

    func areUnequal(_ one: CallSize, _ other: CallSize) -> Bool { root(of: one) != root(of: other) }

    /// What is sent for something that is taken is one size with it.
    mutating func join(_ sizes: [CallSize], with others: [CallSize]) {
        for (sent, taken) in zip(sizes, others) where sent.isSymbol || taken.isSymbol {
            join(root(of: sent), root(of: taken))
        }
    }

    /// Two roots; two known sizes are not one, and the model refuses what is sent.
    private mutating func join(_ one: CallSize, _ other: CallSize) {
        guard one != other else { return }
        let (mine, theirs) = (counts[one] ?? 1, counts[other] ?? 1)
        let isFirst: Bool
        switch (one, other) {
        case (.known, .known): return
        case (.known, _): isFirst = true
        case (_, .known): isFirst = false
        default: isFirst = mine > theirs
        }
        let (root, leaf) = isFirst ? (one, other) : (other, one)
        parents[leaf] = root
        counts[root] = mine + theirs
        counts[leaf] = nil
    }

    /// The roots that are one with `size` in calls in which something more is sent.
    func roots(
        equalTo size: CallSize,
        sending sizes: [CallSize],
        for others: [CallSize]
    ) -> Set<CallSize> {
        // Among roots alone, of which there are few: all else is equal already.
        var more = EqualSizes(counting: steps)
        let own = root(of: size)
        var roots: Set = [own]
        for (sent, taken) in zip(sizes, others) where sent.isSymbol || taken.isSymbol {
            let (one, other) = (root(of: sent), root(of: taken))
            more.join(more.root(of: one), more.root(of: other))
            roots.formUnion([one, other])
        }
        let wanted = more.root(of: own)
        return roots.filter { more.root(of: $0) == wanted }
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
