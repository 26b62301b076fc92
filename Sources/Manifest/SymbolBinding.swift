/// What a model's symbols are in the calls of one app, or of any app of the model before.
///
/// A symbol has one size in one call. What the app sends decides it, so that
/// of a model that takes `[n, 4]` and gives `[n, 3]` an app that sends
/// `[2, 4]` gets `[2, 3]`. An input that is not always sent decides nothing,
/// and neither do the elements of lists.
struct SymbolBinding {
    /// Only sizes that are less than any size.
    private var sizes: [FeatureName: Dimension] = [:]

    var isEmpty: Bool { sizes.isEmpty }

    init(_ sent: [Feature], _ taken: [Feature]) {
        guard taken.contains(where: { !($0.type.symbols ?? []).isEmpty }) else { return }
        let sent = sent.byName
        for input in taken {
            guard let mine = sent[input.name], !mine.isOptional, let given = mine.type.tensorShape,
                let shape = input.type.tensorShape, shape.refusal(of: given, isInput: true) == nil,
                case .dimensions(let dimensions) = shape
            else { continue }
            for (index, dimension) in dimensions.enumerated() {
                guard case .symbol(let symbol) = dimension, let size = given.sizes(at: index) else {
                    continue
                }
                bind(symbol, to: size)
            }
        }
    }

    /// Of several places of one symbol, one size decides more than several.
    private mutating func bind(_ symbol: FeatureName, to size: Dimension) {
        switch (sizes[symbol], size) {
        case (.fixed?, _), (.some, .range), (.some, .oneOf): break
        default: sizes[symbol] = size
        }
    }

    /// Nothing is known.
    static let none = SymbolBinding([], [])

    /// These outputs with their symbols replaced by what they can be.
    func applied(to features: [Feature]) -> [Feature] {
        guard !isEmpty else { return features }
        return features.map { feature in
            var feature = feature
            feature.type = feature.type.replacingSymbols { sizes[$0] }
            return feature
        }
    }

    /// This shape with its symbols replaced by what they can be.
    func applied(to shape: Shape) -> Shape { isEmpty ? shape : shape.replacingSymbols { sizes[$0] } }
}

extension ValueType {
    /// Of one tensor.
    fileprivate var tensorShape: Shape? {
        switch self {
        case .tensor(let tensor), .sparseTensor(let tensor): tensor.shape
        default: nil
        }
    }

    fileprivate var symbols: [FeatureName]? {
        guard case .dimensions(let dimensions)? = tensorShape else { return nil }
        return dimensions.compactMap { if case .symbol(let symbol) = $0 { symbol } else { nil } }
    }

    fileprivate func replacingSymbols(by size: (FeatureName) -> Dimension?) -> ValueType {
        switch self {
        case .tensor(let tensor): .tensor(tensor.replacingSymbols(by: size))
        case .sparseTensor(let tensor): .sparseTensor(tensor.replacingSymbols(by: size))
        case .map(let key, let value): .map(key: key, of: value.replacingSymbols(by: size))
        case .sequence(let element, let count):
            .sequence(of: element.replacingSymbols(by: size), count: count)
        case .maybe(let value): .maybe(value.replacingSymbols(by: size))
        case .image, .scalar, .opaque: self
        }
    }
}

extension TensorType {
    fileprivate func replacingSymbols(by size: (FeatureName) -> Dimension?) -> TensorType {
        var tensor = self
        tensor.shape = shape.replacingSymbols(by: size)
        return tensor
    }
}

extension Shape {
    fileprivate func replacingSymbols(by size: (FeatureName) -> Dimension?) -> Shape {
        guard case .dimensions(let dimensions) = self else { return self }
        return .dimensions(
            dimensions.map { dimension in
                if case .symbol(let symbol) = dimension { size(symbol) ?? dimension } else { dimension }
            }
        )
    }

    /// The sizes of one dimension, where they are not any.
    fileprivate func sizes(at index: Int) -> Dimension? {
        switch self {
        case .unknownRank: return nil
        case .dimensions(let dimensions):
            switch dimensions[index] {
            case .symbol, .any: return nil
            case .fixed, .range, .oneOf: return dimensions[index]
            }
        case .enumerated(let shapes):
            let sizes = Set(shapes.map { $0[index] }).sorted()
            return sizes.count == 1 ? sizes.first.map { .fixed($0) } : .oneOf(sizes)
        }
    }
}
