/// The shapes that a tensor may have.
package enum Shape: Equatable, Sendable {
    /// Nothing is known, not even how many dimensions there are. Not the same as a scalar.
    case unknownRank

    /// Each dimension by itself; none means a scalar.
    case dimensions([Dimension])

    /// Whole shapes, one of which it must be.
    case enumerated([[Int64]])

    /// A shape of fixed dimensions.
    package static func fixed(_ sizes: [Int64]) -> Shape { .dimensions(sizes.map(Dimension.fixed)) }

    /// How many dimensions, where that is one number.
    package var rank: Int? {
        switch self {
        case .unknownRank: nil
        case .dimensions(let dimensions): dimensions.count
        case .enumerated(let shapes): shapes.first?.count
        }
    }
}

/// The sizes that one dimension may have.
package enum Dimension: Equatable, Sendable {
    case fixed(Int64)

    /// Any size, and the same one wherever the symbol stands in one call.
    case symbol(FeatureName)
    case any

    /// From `minimum` to `maximum`, without end when that is `nil`.
    case range(minimum: Int64, maximum: Int64?)

    /// One of these, ascending.
    case oneOf([Int64])
}

/// How far shapes may go; a reader refuses what is beyond.
package enum ShapeLimits {
    package static let rank = 32
    package static let dimension: Int64 = 1 << 40

    /// Elements of a tensor whose dimensions are all fixed.
    package static let elements: Int64 = 1 << 53
    package static let enumeratedShapes = 1_024
    package static let features = 4_096
    package static let functions = 256

    /// Sequences of maps of sequences.
    package static let typeNesting = 16
}
