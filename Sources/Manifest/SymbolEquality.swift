/// Dimensions that must be equal in one call, whatever their symbol is called.
extension Comparison {
    /// Equalities that the model asks of inputs must be the app's, and those that the app reads the model's.
    mutating func compareSymbols(
        _ inputs: MatchedFeatures,
        _ outputs: MatchedFeatures,
        prefix: String
    ) {
        let shared = SharedShapes(inputs, outputs)
        for (first, place) in shared.unequalToUs where first.isInput && place.isInput {
            findings.append(
                Finding(
                    .symbolsMerged,
                    prefix + place.shown,
                    app: "sends \(place.mine), and \(first.mine) as \(first.shown)",
                    model: "takes only equal ones",
                    remedy: "send equal sizes, and give both one symbol in the expectation"
                )
            )
        }
        for (first, place) in shared.unequalToThem where !(first.isInput && place.isInput) {
            findings.append(
                Finding(
                    .symbolsMerged,
                    prefix + place.shown,
                    app: "reads it as equal to \(first.shown)",
                    model:
                        "gives \(place.theirs) here and \(first.theirs) there, and does not promise that they are "
                        + "equal",
                    remedy: "read each size where it stands, and give the two different symbols"
                )
            )
        }
    }
}

/// The tensors that both sides have: an app's and a model's, or an old model's and a new one's.
///
/// Inputs before outputs; only dimensions that both sides have are compared,
/// each with the first that has its symbol.
struct SharedShapes {
    /// One dimension as both sides have it.
    struct Place {
        let isInput: Bool
        let name: FeatureName
        let index: Int
        let mine: Dimension
        let theirs: Dimension

        var shown: String { "dimension \(index) of \(isInput ? "input" : "output") `\(name)`" }
    }

    private struct Row {
        let isInput: Bool
        let name: FeatureName
        let mine: [Dimension]
        let theirs: [Dimension]
    }

    /// A place in `rows`: small, since there are many.
    private struct Spot {
        let row: Int
        let index: Int
    }

    private var rows: [Row] = []

    init(_ inputs: MatchedFeatures, _ outputs: MatchedFeatures) {
        for (features, isInput) in [(inputs, true), (outputs, false)] {
            for (place, feature) in features.mine.enumerated() {
                guard let mine = feature.type.dimensions,
                    let theirs = features.counterpart(of: place)?.type.dimensions,
                    mine.contains(where: \.isSymbol) || theirs.contains(where: \.isSymbol)
                else { continue }
                rows.append(Row(isInput: isInput, name: feature.name, mine: mine, theirs: theirs))
            }
        }
    }

    /// Pairs that have one symbol on the other side and need not be equal on ours.
    var unequalToUs: [(Place, Place)] { pairs(symbolsOf: .them) }

    /// Pairs that have one symbol on our side and need not be equal on the other.
    var unequalToThem: [(Place, Place)] { pairs(symbolsOf: .us) }

    private enum Side {
        case us, them
    }

    private func pairs(symbolsOf side: Side) -> [(Place, Place)] {
        // The same symbols in the same places say the same.
        guard rows.contains(where: { $0.mine != $0.theirs }) else { return [] }
        var firsts: [FeatureName: Spot] = [:]
        var found: [(Place, Place)] = []
        for (number, row) in rows.enumerated() {
            let named = side == .us ? row.mine : row.theirs
            let other = side == .us ? row.theirs : row.mine
            for index in 0..<min(named.count, other.count) {
                guard case .symbol(let symbol) = named[index] else { continue }
                guard let first = firsts[symbol] else {
                    firsts[symbol] = Spot(row: number, index: index)
                    continue
                }
                let before = side == .us ? rows[first.row].theirs : rows[first.row].mine
                if !before[first.index].mustEqual(other[index]) {
                    found.append((place(first), place(Spot(row: number, index: index))))
                }
            }
        }
        return found
    }

    private func place(_ spot: Spot) -> Place {
        let row = rows[spot.row]
        return Place(
            isInput: row.isInput,
            name: row.name,
            index: spot.index,
            mine: row.mine[spot.index],
            theirs: row.theirs[spot.index]
        )
    }
}

extension ValueType {
    /// Of a tensor whose dimensions are known one by one.
    fileprivate var dimensions: [Dimension]? {
        guard case .tensor(let tensor) = self, case .dimensions(let dimensions) = tensor.shape else {
            return nil
        }
        return dimensions
    }
}

extension Dimension {
    fileprivate var isSymbol: Bool { if case .symbol = self { true } else { false } }

    /// Whether the two have one size in every call.
    fileprivate func mustEqual(_ other: Dimension) -> Bool {
        switch (self, other) {
        case (.symbol(let one), .symbol(let other)): one == other
        case (.fixed(let one), .fixed(let other)): one == other
        default: false
        }
    }
}
