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
                findings.append(subject.refusal(.kindChanged, sub, sup, "the keys are of another type"))
                return
            }
            include(one, in: other, subject)
        case (.sequence(let one, let oneCount), .sequence(let other, let otherCount)):
            if !otherCount.includes(oneCount) {
                let row = otherCount.row(refusing: oneCount, isInput: subject.isInput)
                findings.append(subject.refusal(row, sub, sup, "the sequence may have another length"))
            }
            include(one, in: other, subject)
        case (.maybe(let one), .maybe(let other)): include(one, in: other, subject)
        case (_, .maybe(let other)): include(sub, in: other, subject)
        case (.maybe, _):
            findings.append(subject.refusal(.becameOptional, sub, sup, "the value may be missing"))
        case (.opaque, .opaque) where sub == sup: break
        default: findings.append(subject.refusal(.kindChanged, sub, sup, "a different kind of value"))
        }
    }

    private mutating func include(_ sub: TensorType, in sup: TensorType, _ subject: Subject) {
        include(sub.element, in: sup.element, subject)
        if let refusal = sup.shape.refusal(of: sub.shape, isInput: subject.isInput) {
            refuse(refusal, sub, sup, subject)
        }
        if sup.shape == .unknownRank && sub.shape != .unknownRank {
            notes.append("\(subject.name): one side has no shape, so it can only be checked when it runs")
        }
        if sub.defaultShape != sup.defaultShape { notes.append("\(subject.name): another default shape") }
        let expected = subject.isInput ? sub.quantization : sup.quantization
        let real = subject.isInput ? sup.quantization : sub.quantization
        guard let expected, expected != real else { return }
        findings.append(
            Finding(
                .quantizationChanged,
                subject.name,
                app: "knows \(expected)",
                model: real.map { "has \($0)" } ?? "is not quantized",
                remedy: "read scale and zero from the model, and take `quantization` out of the expectation"
            )
        )
    }

    /// A layout that is the other one of channels first and last is a thing of its own.
    private mutating func refuse(
        _ refusal: Shape.Refusal,
        _ sub: TensorType,
        _ sup: TensorType,
        _ subject: Subject
    ) {
        let isMoved = sub.shape.withChannelsMoved.contains {
            sup.shape.refusal(of: $0, isInput: subject.isInput) == nil
        }
        guard isMoved else {
            findings.append(subject.refusal(refusal.row, sub, sup, refusal.why))
            return
        }
        guard adaptations.contains(.transpose) else {
            let why = "the channels stand in another place, and the app does not declare that it moves them"
            findings.append(
                subject.refusal(.imageChanged, sub, sup, why, remedy: "say `transpose` if the app does that")
            )
            return
        }
        used.append("\(subject.name): channels moved, from \(sub) to \(sup)")
    }

    private mutating func include(_ sub: ElementType, in sup: ElementType, _ subject: Subject) {
        guard sub != sup else { return }
        guard sup.widens(sub) else {
            findings.append(
                subject.refusal(.elementChanged, sub.rawValue, sup.rawValue, "another element type")
            )
            return
        }
        guard adaptations.contains(.cast) else {
            let why = "the app does not declare that it casts"
            findings.append(
                subject.refusal(
                    .elementWidened,
                    sub.rawValue,
                    sup.rawValue,
                    why,
                    remedy: "cast in the app and say `cast` in the expectation"
                )
            )
            return
        }
        used.append("\(subject.name): cast from \(sub.rawValue) to \(sup.rawValue)")
    }

    /// Colours are never converted silently; sizes of what is sent may be, by an app that says so.
    private mutating func include(_ sub: ImageType, in sup: ImageType, _ subject: Subject) {
        guard sub.color == sup.color else {
            findings.append(subject.refusal(.imageChanged, sub, sup, "another colour layout"))
            return
        }
        guard !sup.includesSizes(of: sub) else { return }
        guard subject.isInput, adaptations.contains(.resize) else {
            findings.append(subject.refusal(.imageChanged, sub, sup, "another size"))
            return
        }
        used.append("\(subject.name): resized, from \(sub) to \(sup)")
    }
}

extension Shape {
    /// The shapes of four dimensions whose channels stand first instead of last, or the other way.
    var withChannelsMoved: [Shape] {
        guard case .dimensions(let sizes) = self, sizes.count == 4 else { return [] }
        return [
            .dimensions([sizes[0], sizes[3], sizes[1], sizes[2]]),
            .dimensions([sizes[0], sizes[2], sizes[3], sizes[1]]),
        ]
    }
}

extension Quantization: CustomStringConvertible {
    package var description: String { "scale \(scale) and zero \(zero)" }
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
