/// Whether every value of one type is also one of another.
extension Comparison {
    /// Records why not every value of `sub` is a value of `sup`.
    mutating func include(_ sub: ValueType, in sup: ValueType, _ subject: Subject) {
        switch (sub, sup) {
        case (.tensor(let one), .tensor(let other)), (.sparseTensor(let one), .sparseTensor(let other)):
            include(one, in: other, subject)
        case (.image(let one), .image(let other)): include(one, in: other, subject)
        case (.scalar(let one), .scalar(let other)): include(one, in: other, subject)
        case (.map(let oneKey, let one), .map(let otherKey, let other)):
            guard oneKey == otherKey else {
                reasons.append(subject.refusal(sub, sup, "the keys are of another type"))
                return
            }
            include(one, in: other, subject)
        case (.sequence(let one, let oneCount), .sequence(let other, let otherCount)):
            if !otherCount.includes(oneCount) {
                reasons.append(subject.refusal(sub, sup, "the sequence may have another length"))
            }
            include(one, in: other, subject)
        case (.maybe(let one), .maybe(let other)): include(one, in: other, subject)
        case (_, .maybe(let other)): include(sub, in: other, subject)
        case (.opaque, .opaque) where sub == sup: break
        default: reasons.append(subject.refusal(sub, sup, "a different kind of value"))
        }
    }

    private mutating func include(_ sub: TensorType, in sup: TensorType, _ subject: Subject) {
        include(sub.element, in: sup.element, subject)
        switch sup.shape.refusal(of: sub.shape) {
        case nil: break
        case let why?: reasons.append(subject.refusal(sub, sup, why))
        }
        if sup.shape == .unknownRank && sub.shape != .unknownRank {
            notes.append("\(subject.name): one side has no shape, so it can only be checked when it runs")
        }
        if sub.defaultShape != sup.defaultShape { notes.append("\(subject.name): another default shape") }
        let expected = subject.isInput ? sub.quantization : sup.quantization
        let real = subject.isInput ? sup.quantization : sub.quantization
        if let expected, expected != real {
            reasons.append("\(subject.name): quantized with other parameters than the app knows")
        }
    }

    private mutating func include(_ sub: ElementType, in sup: ElementType, _ subject: Subject) {
        guard sub != sup else { return }
        guard sup.widens(sub) else {
            reasons.append(subject.refusal(sub.rawValue, sup.rawValue, "another element type"))
            return
        }
        guard adaptations.contains(.cast) else {
            let why = "the app does not declare that it casts"
            reasons.append(subject.refusal(sub.rawValue, sup.rawValue, why))
            return
        }
        used.append("\(subject.name): cast from \(sub.rawValue) to \(sup.rawValue)")
    }

    /// Colours are never converted silently.
    private mutating func include(_ sub: ImageType, in sup: ImageType, _ subject: Subject) {
        guard sub.color == sup.color else {
            reasons.append(subject.refusal(sub, sup, "another colour layout"))
            return
        }
        guard sup.includesSizes(of: sub) else {
            reasons.append(subject.refusal(sub, sup, "another size"))
            return
        }
    }
}

extension ElementType {
    /// Families within which a wider type holds every value of a narrower one.
    private static let families: [[ElementType]] = [
        [.float16, .float32, .float64], [.bfloat16, .float32, .float64], [.int8, .int16, .int32, .int64],
        [.uint8, .uint16, .uint32, .uint64],
    ]

    /// Whether this holds every value of `other`, with the same kind and sign.
    func widens(_ other: ElementType) -> Bool {
        Self.families.contains { family in
            guard let mine = family.firstIndex(of: self), let its = family.firstIndex(of: other) else {
                return false
            }
            return mine > its
        }
    }
}

extension ImageType {
    private func allows(_ size: ImageSize) -> Bool {
        switch sizes {
        case .fixed: size == ImageSize(width: width, height: height)
        case .enumerated(let sizes): sizes.contains(size)
        case .ranges(let width, let height):
            width.contains(size.width) && height.contains(size.height)
        }
    }

    func includesSizes(of other: ImageType) -> Bool {
        switch other.sizes {
        case .fixed: return allows(ImageSize(width: other.width, height: other.height))
        case .enumerated(let sizes): return sizes.allSatisfy(allows)
        case .ranges(let otherWidth, let otherHeight):
            guard case .ranges(let width, let height) = sizes else { return false }
            return width.includes(otherWidth) && height.includes(otherHeight)
        }
    }
}
