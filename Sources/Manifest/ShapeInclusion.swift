/// Shapes and dimensions as sets of sizes.
extension Shape {
    /// Why some shape of one side is none of the other's.
    struct Refusal: Equatable {
        let row: ContractRow
        let why: String
    }

    /// Why not every shape of `other` is one of these.
    ///
    /// - Parameters:
    ///   - other: The smaller set, if all is well.
    ///   - isInput: Whether these are what a model takes; else they are what an app reads.
    /// - Returns: `nil` when every one is.
    func refusal(of other: Shape, isInput: Bool) -> Refusal? {
        switch (other, self) {
        case (_, .unknownRank): return nil
        case (.unknownRank, _): return Refusal(row: .rankUnknown, why: "the rank is not known")
        case (.dimensions(let sub), .dimensions(let sup)):
            guard sub.count == sup.count else {
                return Refusal(row: .rankChanged, why: "\(sub.count) dimensions, not \(sup.count)")
            }
            for (index, pair) in zip(sub, sup).enumerated() where !pair.1.includes(pair.0) {
                return Refusal(
                    row: pair.1.row(refusing: pair.0, isInput: isInput),
                    why: "dimension \(index) may be \(pair.0), and must be \(pair.1)"
                )
            }
            return nil
        case (.enumerated(let sub), _):
            guard let outside = sub.first(where: { !contains($0) }) else { return nil }
            return Refusal(
                row: .shapeListChanged,
                why: "the shape \(Shape.fixed(outside)) is not among them"
            )
        case (.dimensions(let sub), .enumerated(let sup)):
            guard let tuples = Self.tuples(of: sub) else {
                return Refusal(row: .shapeListChanged, why: "only \(sup.count) whole shapes are taken")
            }
            guard let outside = tuples.first(where: { !sup.contains($0) }) else { return nil }
            return Refusal(
                row: .shapeListChanged,
                why: "the shape \(Shape.fixed(outside)) is not among them"
            )
        }
    }

    package func contains(_ sizes: [Int64]) -> Bool {
        switch self {
        case .unknownRank: true
        case .dimensions(let dimensions):
            dimensions.count == sizes.count && zip(dimensions, sizes).allSatisfy { $0.contains($1) }
        case .enumerated(let shapes): shapes.contains(sizes)
        }
    }

    /// Every shape, when there are no more than may be enumerated.
    private static func tuples(of dimensions: [Dimension]) -> [[Int64]]? {
        var tuples: [[Int64]] = [[]]
        for dimension in dimensions {
            guard let sizes = dimension.sizes, tuples.count * sizes.count <= ShapeLimits.enumeratedShapes
            else {
                return nil
            }
            tuples = tuples.flatMap { tuple in sizes.map { tuple + [$0] } }
        }
        return tuples
    }
}

extension Dimension {
    /// The row that says why sizes of `other` are none of these.
    func row(refusing other: Dimension, isInput: Bool) -> ContractRow {
        switch (other, self) {
        case (.range, _), (.oneOf, _), (_, .range), (_, .oneOf): .rangeChanged
        case (.fixed, .fixed): .sizeFixed
        default: isInput ? .sizeFixed : .sizeFreed
        }
    }

    func contains(_ size: Int64) -> Bool {
        switch self {
        case .fixed(let only): size == only
        case .symbol, .any: size >= 0
        case .range(let minimum, let maximum): size >= minimum && maximum.map { size <= $0 } ?? true
        case .oneOf(let sizes): sizes.contains(size)
        }
    }

    /// Whether it may be any size.
    var isFree: Bool {
        switch self {
        case .symbol, .any: true
        case .fixed, .range, .oneOf: false
        }
    }

    /// Every size, when there are no more than may be enumerated.
    var sizes: [Int64]? {
        switch self {
        case .fixed(let size): [size]
        case .oneOf(let sizes): sizes
        case .range(let minimum, let maximum?)
        where maximum >= minimum && maximum - minimum < Int64(ShapeLimits.enumeratedShapes):
            Array(minimum...maximum)
        case .symbol, .any, .range: nil
        }
    }

    /// Whether every size of `other` is one of these; a symbol has any size.
    func includes(_ other: Dimension) -> Bool {
        if case .fixed(let size) = other { return contains(size) }
        if let sizes = other.sizes { return sizes.allSatisfy(contains) }
        let (minimum, maximum): (Int64, Int64?) =
            if case .range(let minimum, let maximum) = other { (minimum, maximum) } else { (0, nil) }
        switch self {
        case .fixed, .oneOf: return false
        case .symbol, .any: return true
        case .range(let least, let greatest):
            guard let greatest else { return least <= minimum }
            return least <= minimum && maximum.map { $0 <= greatest } ?? false
        }
    }
}
