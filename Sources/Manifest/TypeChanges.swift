import Names

/// How the type of one value changed.
extension ContractChanges {
    /// Whether every value of the old side is one of the new, and the other way.
    private enum Direction {
        case same, wider, narrower, other

        init(_ old: Bool, _ new: Bool) {
            self =
                switch (old, new) {
                case (true, true): .same
                case (true, false): .wider
                case (false, true): .narrower
                case (false, false): .other
                }
        }

        /// Inputs may widen and outputs narrow without harm.
        func step(isInput: Bool) -> VersionStep {
            switch self {
            case .same: .patch
            case .wider: isInput ? .minor : .major
            case .narrower: isInput ? .major : .minor
            case .other: .major
            }
        }
    }

    /// - Parameters:
    ///   - old: Of the release before.
    ///   - new: Of this release, as its file says it.
    ///   - isInput: Else an output.
    ///   - binding: What the symbols of `new` are for apps of the release before.
    ///   - name: For people.
    mutating func compareTypes(
        _ old: ValueType,
        _ new: ValueType,
        isInput: Bool,
        _ binding: SymbolBinding,
        _ name: String
    ) {
        guard old != new else { return }
        let text = "\(name): \(old) became \(new)"
        switch (old, new) {
        case (.tensor(let was), .tensor(let now)), (.sparseTensor(let was), .sparseTensor(let now)):
            compareTensors(was, now, isInput: isInput, binding, name)
        case (.image(let was), .image(let now)): compareImages(was, now, isInput: isInput, text)
        case (.scalar(let was), .scalar(let now)): compareElements(was, now, isInput: isInput, text)
        case (.map(let key, let was), .map(let nowKey, let now)) where key == nowKey:
            compareTypes(was, now, isInput: isInput, binding, name)
        case (.sequence(let was, let count), .sequence(let now, let nowCount)):
            if count != nowCount { compareSizes(count, nowCount, as: nowCount, isInput: isInput, text) }
            compareTypes(was, now, isInput: isInput, binding, name)
        case (.maybe(let was), .maybe(let now)): compareTypes(was, now, isInput: isInput, binding, name)
        case (_, .maybe(let now)):
            note(.becameOptional, isInput ? .minor : .major, text)
            compareTypes(old, now, isInput: isInput, binding, name)
        case (.maybe(let was), _):
            note(.becameRequired, .major, text)
            compareTypes(was, new, isInput: isInput, binding, name)
        default: note(.kindChanged, .major, text)
        }
    }

    private mutating func compareElements(
        _ old: ElementType,
        _ new: ElementType,
        isInput: Bool,
        _ text: String
    ) {
        guard old != new else { return }
        // What the app sends must widen to what is taken, and what is given to what the app reads.
        let isAdaptable = isInput ? new.widens(old) : old.widens(new)
        note(isAdaptable ? .elementWidened : .elementChanged, isAdaptable ? .minor : .major, text)
    }

    private mutating func compareTensors(
        _ old: TensorType,
        _ new: TensorType,
        isInput: Bool,
        _ binding: SymbolBinding,
        _ name: String
    ) {
        let text = "\(name): \(old) became \(new)"
        compareElements(old.element, new.element, isInput: isInput, text)
        compareShapes(old.shape, new.shape, isInput: isInput, binding, text)
        if old.defaultShape != new.defaultShape {
            note(.defaultShapeChanged, .patch, "\(name): another default shape")
        }
        guard old.quantization != new.quantization else { return }
        func shown(_ quantization: Quantization?) -> String { quantization?.description ?? "not quantized" }
        note(
            .quantizationChanged,
            .major,
            "\(name): \(shown(old.quantization)) became \(shown(new.quantization))"
        )
    }

    private mutating func compareShapes(
        _ old: Shape,
        _ new: Shape,
        isInput: Bool,
        _ binding: SymbolBinding,
        _ text: String
    ) {
        guard old != new else { return }
        switch (old, new) {
        case (_, .unknownRank): note(.rankUnknown, isInput ? .minor : .major, text)
        case (.unknownRank, _): note(.rankUnknown, isInput ? .major : .minor, text)
        case (.dimensions(let was), .dimensions(let now)):
            guard was.count == now.count else {
                note(.rankChanged, .major, text)
                return
            }
            if old.withChannelsMoved.contains(new) {
                note(.imageChanged, .major, text)
                return
            }
            guard case .dimensions(let given) = binding.applied(to: new) else { return }
            for (index, one) in was.enumerated() where one != now[index] {
                compareSizes(one, now[index], as: given[index], isInput: isInput, text)
            }
        case (.enumerated, _), (_, .enumerated):
            guard old.rank == new.rank else {
                note(.rankChanged, .major, text)
                return
            }
            let given = binding.applied(to: new)
            let direction = Direction(
                given.refusal(of: old, isInput: isInput) == nil,
                old.refusal(of: given, isInput: isInput) == nil
            )
            guard direction != .same else { return }
            note(.shapeListChanged, direction.step(isInput: isInput), text)
        }
    }

    /// One dimension, or how many elements a sequence has.
    ///
    /// The row is that of what the files say, its direction that of what apps
    /// of the old model get, `given`: less than `new` says where that is a symbol.
    private mutating func compareSizes(
        _ old: Dimension,
        _ new: Dimension,
        as given: Dimension,
        isInput: Bool,
        _ text: String
    ) {
        if case (.symbol, .symbol) = (old, new) { return note(.symbolRenamed, .patch, text) }
        guard !(old.isFree && new.isFree) else { return }
        let direction = Direction(given.includes(old), old.includes(given))
        switch (old, new) {
        case (.fixed, .fixed): note(.sizeFixed, .major, text)
        case (_, .fixed) where direction == .narrower: note(.sizeFixed, .major, text)
        case (.fixed, _) where direction == .wider: note(.sizeFreed, isInput ? .minor : .major, text)
        case (.fixed, .symbol) where direction == .other: note(.sizeFreed, .major, text)
        default:
            guard direction != .same else { return }
            note(.rangeChanged, direction.step(isInput: isInput), text)
        }
    }

    private mutating func compareImages(_ old: ImageType, _ new: ImageType, isInput: Bool, _ text: String) {
        guard old != new else { return }
        guard old.color == new.color else {
            note(.imageChanged, .major, text)
            return
        }
        switch Direction(new.includesSizes(of: old), old.includesSizes(of: new)) {
        case .same: note(.defaultShapeChanged, .patch, text)
        case .wider where isInput: note(.imageChanged, .minor, text)
        case .wider, .narrower, .other: note(.imageChanged, .major, text)
        }
    }
}
