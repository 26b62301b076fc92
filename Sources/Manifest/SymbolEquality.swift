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
    mutating func compareSymbols(_ appValues: Values, _ modelValues: Values) {
        let app = SymbolPositions(appValues)
        let model = SymbolPositions(modelValues)
        guard app.hasSymbols || model.hasSymbols else { return }
        for (one, other) in model.bound(amongThoseOf: app) where one.isInput && other.isInput {
            guard let sent = app.dimensions[one], let alsoSent = app.dimensions[other],
                !SymbolPositions.areEqual(sent, alsoSent)
            else { continue }
            findings.append(
                Finding(
                    .symbolsMerged,
                    modelValues.prefix + other.shown,
                    app: "sends \(alsoSent), and \(sent) as \(one.shown)",
                    model: "takes only equal ones",
                    remedy: "send equal sizes, and give both one symbol in the expectation"
                )
            )
        }
        for (one, other) in app.bound(amongThoseOf: model) where !(one.isInput && other.isInput) {
            guard let given = model.dimensions[one], let alsoGiven = model.dimensions[other],
                !SymbolPositions.areEqual(given, alsoGiven)
            else { continue }
            findings.append(
                Finding(
                    .symbolsMerged,
                    modelValues.prefix + other.shown,
                    app: "reads it as equal to \(one.shown)",
                    model:
                        "gives \(alsoGiven) here and \(given) there, and does not promise that they are equal",
                    remedy: "read each size where it stands, and give the two different symbols"
                )
            )
        }
    }
}

/// Where symbols stand in one side's tensors, and which places must therefore be equal.
struct SymbolPositions {
    /// One dimension of one value.
    struct Position: Hashable {
        let isInput: Bool
        let name: FeatureName
        let index: Int

        var shown: String { "dimension \(index) of \(isInput ? "input" : "output") `\(name)`" }
    }

    let dimensions: [Position: Dimension]

    let hasSymbols: Bool

    init(_ values: Values) {
        dimensions = Self.dimensions(values.inputs, values.outputs)
        hasSymbols = dimensions.values.contains { if case .symbol = $0 { true } else { false } }
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
    ///
    /// - Parameter others: Only places that the other side has too can be compared.
    /// - Returns: Pairs that must be equal.
    func bound(amongThoseOf others: SymbolPositions) -> [(Position, Position)] {
        var positions: [FeatureName: [Position]] = [:]
        for (position, dimension) in dimensions where others.dimensions[position] != nil {
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

    static func areEqual(_ one: Dimension, _ other: Dimension) -> Bool {
        switch (one, other) {
        case (.symbol(let one), .symbol(let other)): one == other
        case (.fixed(let one), .fixed(let other)): one == other
        default: false
        }
    }
}
