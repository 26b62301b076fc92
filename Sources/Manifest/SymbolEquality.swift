/// Dimensions that must be equal in one call, whatever their symbol is called.
extension Comparison {
    /// Equalities that the model asks of inputs must be the app's, and those that the app reads the model's.
    mutating func compareSymbols(
        _ inputs: MatchedFeatures,
        _ outputs: MatchedFeatures,
        prefix: String
    ) {
        let shared = SharedShapes(inputs, outputs)
        for (first, place) in shared.unequalSent {
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
        for (first, place) in shared.unequalGiven {
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
/// Inputs before outputs; only dimensions that both sides have are compared.
/// An app's symbol has one size in one call, and so has a model's. What is
/// sent as the one and taken as the other makes the two one size, so that a
/// size may be known to equal another by way of several places. Two places are
/// equal when that follows for every call.
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

        /// Not in every call.
        let isOptional: Bool
        let name: FeatureName
        let mine: Shape
        let theirs: Shape
        var ours: [CallSize] = []
        var others: [CallSize] = []
    }

    /// A place in `rows`: small, since there are many.
    private struct Spot {
        let row: Int
        let index: Int
    }

    private var rows: [Row] = []

    /// By what is in every call.
    private var equal: EqualSizes

    init(_ inputs: MatchedFeatures, _ outputs: MatchedFeatures, counting steps: SizeSteps? = nil) {
        equal = EqualSizes(counting: steps)
        for (features, isInput) in [(inputs, true), (outputs, false)] {
            for (place, feature) in features.mine.enumerated() {
                guard let mine = feature.type.wholeShape, let other = features.counterpart(of: place),
                    let theirs = other.type.wholeShape, mine.hasSymbol || theirs.hasSymbol
                else { continue }
                rows.append(
                    Row(
                        isInput: isInput,
                        isOptional: feature.isOptional || other.isOptional,
                        name: feature.name,
                        mine: mine,
                        theirs: theirs
                    )
                )
            }
        }
        // The same symbols in the same places say the same.
        guard rows.contains(where: { $0.mine != $0.theirs }) else {
            rows = []
            return
        }
        for number in rows.indices {
            rows[number].ours = rows[number].mine.sizes(of: .ours, row: number)
            rows[number].others = rows[number].theirs.sizes(of: .theirs, row: number)
        }
        for row in rows where row.isInput && !row.isOptional { equal.join(row.ours, with: row.others) }
    }

    /// Pairs of inputs that the model takes only with one size, and that need not be sent so.
    var unequalSent: [(Place, Place)] {
        var firsts: [FeatureName: Spot] = [:]
        return pairs(rows.filter(\.isInput).count) { spot, row in
            guard case .symbol(let symbol, _) = row.others[spot.index] else { return nil }
            guard let first = firsts[symbol] else {
                firsts[symbol] = spot
                return nil
            }
            return rows[first.row].ours[first.index] == row.ours[spot.index] ? nil : first
        }
    }

    /// Pairs of inputs of one symbol on our side, for which the other takes any two sizes.
    var freedInputs: [(Place, Place)] {
        var firsts: [FeatureName: Spot] = [:]
        return pairs(rows.filter(\.isInput).count) { spot, row in
            guard case .symbol(let symbol, _) = row.ours[spot.index] else { return nil }
            guard let first = firsts[symbol] else {
                firsts[symbol] = spot
                return nil
            }
            return rows[first.row].others[first.index] == row.others[spot.index] ? nil : first
        }
    }

    /// Pairs with an output that have two symbols on our side, and one on the other for what is not one known size.
    var mergedSymbols: [(Place, Place)] {
        var firsts: [FeatureName: Spot] = [:]
        return pairs(rows.count) { spot, row in
            guard case .symbol(let mine, _) = row.ours[spot.index],
                case .symbol(let symbol, _) = row.others[spot.index]
            else { return nil }
            guard let first = firsts[symbol] else {
                firsts[symbol] = spot
                return nil
            }
            guard !(rows[first.row].isInput && row.isInput),
                case .symbol(let before, _) = rows[first.row].ours[first.index], before != mine
            else { return nil }
            if case .known = equal.root(of: row.others[spot.index]) { return nil }
            return first
        }
    }

    /// Pairs with an output that are read as one size, and need not be given so.
    ///
    /// Where the symbol is sent, the output is to have that size. What is sent
    /// only in some calls says so in these, and the model's sizes follow it
    /// there too; so each of such inputs is asked by itself, since more of what
    /// is sent makes only more sizes equal. Of those that do not make an output
    /// equal, the first is told.
    var unequalGiven: [(Place, Place)] {
        var found: [(Place, Place)] = []
        for (symbol, places) in placesOfOurSymbols {
            let sent = places.filter { rows[$0.row].isInput }
            let given = places.filter { !rows[$0.row].isInput }
            guard !given.isEmpty else { continue }
            let ours = CallSize.symbol(symbol, .ours)
            let always = sent.first { !rows[$0.row].isOptional }
            guard let first = always ?? given.first else { continue }
            let size = always == nil ? rows[first.row].others[first.index] : ours
            var unequal = given.filter { equal.areUnequal(size, rows[$0.row].others[$0.index]) }
                .map { (first, $0) }
            if always == nil, !sent.isEmpty { unequal += unequalWhenSent(sent, ours, given) }
            found += unequal.map { (place($0), place($1)) }
        }
        return found
    }

    /// Each output with the first of inputs, which are sent in some calls, that does not make it their size.
    private func unequalWhenSent(_ sent: [Spot], _ size: CallSize, _ given: [Spot]) -> [(Spot, Spot)] {
        /// What every input so far makes equal, and what one before made equal and a later one, by place, does not.
        var always: Set<CallSize> = []
        var lost: [CallSize: Int] = [:]
        for (number, input) in sent.enumerated() {
            let row = rows[input.row]
            let roots = equal.roots(equalTo: size, sending: row.ours, for: row.others)
            if number == 0 {
                always = roots
                continue
            }
            for root in always.subtracting(roots) { lost[root] = number }
            always.formIntersection(roots)
        }
        return given.compactMap { spot in
            let root = equal.root(of: rows[spot.row].others[spot.index])
            return always.contains(root) ? nil : (sent[lost[root] ?? 0], spot)
        }
    }

    /// In the order of their first places.
    private var placesOfOurSymbols: [(FeatureName, [Spot])] {
        var numbers: [FeatureName: Int] = [:]
        var found: [(FeatureName, [Spot])] = []
        for (number, row) in rows.enumerated() {
            for index in 0..<min(row.ours.count, row.others.count) {
                guard case .symbol(let symbol, _) = row.ours[index] else { continue }
                let place = numbers[symbol] ?? found.count
                if place == found.count { found.append((symbol, [])) }
                numbers[symbol] = place
                found[place].1.append(Spot(row: number, index: index))
            }
        }
        return found
    }

    /// Each place of the first rows with the one before it that `other` finds fault with.
    private func pairs(_ count: Int, _ other: (Spot, Row) -> Spot?) -> [(Place, Place)] {
        var found: [(Place, Place)] = []
        for (number, row) in rows.prefix(count).enumerated() {
            for index in 0..<min(row.ours.count, row.others.count) {
                let spot = Spot(row: number, index: index)
                if let first = other(spot, row) { found.append((place(first), place(spot))) }
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
            mine: row.mine.dimension(spot.index),
            theirs: row.theirs.dimension(spot.index)
        )
    }
}
