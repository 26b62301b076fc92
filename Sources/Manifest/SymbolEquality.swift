/// Dimensions that must be equal in one call, whatever their symbol is called.
extension Comparison {
    /// One dimension of one value.
    private struct Position: Hashable {
        let isInput: Bool
        let name: FeatureName
        let index: Int

        var shown: String { "dimension \(index) of \(isInput ? "input" : "output") `\(name)`" }
    }

    /// Equalities that the model asks of inputs must be the app's, and those that the app reads the model's.
    mutating func compareSymbols(_ expectation: Expectation, _ interface: Interface) {
        let app = Self.dimensions(expectation.inputs, expectation.outputs)
        let model = Self.dimensions(interface.inputs, interface.outputs)
        for (one, other) in Self.bound(in: model.filter { app[$0.key] != nil })
        where one.isInput && other.isInput {
            guard let sent = app[one], let alsoSent = app[other], !Self.areEqual(sent, alsoSent) else {
                continue
            }
            reasons.append("\(other.shown) must equal \(one.shown), and the app does not promise that")
        }
        for (one, other) in Self.bound(in: app.filter { model[$0.key] != nil })
        where !(one.isInput && other.isInput) {
            guard let given = model[one], let alsoGiven = model[other], !Self.areEqual(given, alsoGiven)
            else {
                continue
            }
            reasons.append(
                "the app reads \(other.shown) as equal to \(one.shown), and the model does not promise that"
            )
        }
    }

    private static func dimensions(_ inputs: [Feature], _ outputs: [Feature]) -> [Position: Dimension] {
        var found: [Position: Dimension] = [:]
        for (features, isInput) in [(inputs, true), (outputs, false)] {
            for feature in features {
                guard case .tensor(let tensor) = feature.type, case .dimensions(let dimensions) = tensor.shape
                else {
                    continue
                }
                for (index, dimension) in dimensions.enumerated() {
                    found[Position(isInput: isInput, name: feature.name, index: index)] = dimension
                }
            }
        }
        return found
    }

    /// For each symbol, its first position with each of the others; inputs first.
    private static func bound(in dimensions: [Position: Dimension]) -> [(Position, Position)] {
        var positions: [FeatureName: [Position]] = [:]
        for (position, dimension) in dimensions {
            if case .symbol(let symbol) = dimension { positions[symbol, default: []].append(position) }
        }
        return positions.sorted { $0.key < $1.key }.flatMap { _, bound in
            let sorted = bound.sorted { one, other in
                if one.isInput != other.isInput { return one.isInput }
                return one.name == other.name ? one.index < other.index : one.name < other.name
            }
            return sorted.dropFirst().map { (sorted[0], $0) }
        }
    }

    private static func areEqual(_ one: Dimension, _ other: Dimension) -> Bool {
        switch (one, other) {
        case (.symbol(let one), .symbol(let other)): one == other
        case (.fixed(let one), .fixed(let other)): one == other
        default: false
        }
    }
}
