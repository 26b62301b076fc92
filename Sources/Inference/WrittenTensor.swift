/// A tensor as a document has it, before its type and shape are settled.
struct WrittenTensor {
    let name: String

    /// Where its name stands, in bytes.
    let offset: Int

    var element: Tensor.Element?
    var shape: [Int]?
    var data = WrittenData()

    /// Settles type and shape, and turns every element into its value.
    func tensor(for port: Port, in document: [UInt8]) throws(InferenceError) -> Tensor {
        guard let element = element ?? port.element else {
            throw .inputKind(name, expected: port.kind.description)
        }
        let shape = shape ?? data.shape
        let isFlat = data.shape.count <= 1
        guard isFlat || data.shape == shape else {
            throw .text(
                reason: "the lists of '\(name)' have the shape \(data.shape), not \(shape)",
                offset: offset
            )
        }
        let values = WrittenElements(leaves: data.leaves, document: document, offset: offset)
        switch element {
        case .string: return try Tensor(strings: try values.texts(), shape: shape)
        case .bool: return try Tensor(try values.bools(), shape: shape)
        case .float32: return try Tensor(try values.floats(Float.self), shape: shape)
        case .float64: return try Tensor(try values.floats(Double.self), shape: shape)
        case .float16: return try half(values, .binary16, .float16, shape)
        case .bfloat16: return try half(values, .bfloat16, .bfloat16, shape)
        case .int8: return try Tensor(try values.integers(Int8.self), shape: shape)
        case .int16: return try Tensor(try values.integers(Int16.self), shape: shape)
        case .int32: return try Tensor(try values.integers(Int32.self), shape: shape)
        case .int64: return try Tensor(try values.integers(Int64.self), shape: shape)
        case .uint8: return try Tensor(try values.integers(UInt8.self), shape: shape)
        case .uint16: return try Tensor(try values.integers(UInt16.self), shape: shape)
        case .uint32: return try Tensor(try values.integers(UInt32.self), shape: shape)
        case .uint64: return try Tensor(try values.integers(UInt64.self), shape: shape)
        }
    }

    private func half(
        _ values: WrittenElements,
        _ form: HalfPrecision,
        _ element: Tensor.Element,
        _ shape: [Int]
    ) throws(InferenceError) -> Tensor {
        let words = try values.halves(form)
        guard !zip(words, data.leaves).contains(where: { $0 & 0x7FFF == form.infinity && $1.isNumber }) else {
            throw .text(
                reason: "a number of '\(name)' is too great for \(element.rawValue)",
                offset: offset
            )
        }
        return try Tensor(element: element, shape: shape, bytes: words.littleEndian)
    }
}

extension Port {
    /// The element type of a tensor.
    fileprivate var element: Tensor.Element? {
        if case .tensor(let element, _) = kind { element } else { nil }
    }
}

extension [UInt16] {
    fileprivate var littleEndian: [UInt8] { flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] } }
}

/// The elements of nested lists, flat, and the shape of the nesting.
struct WrittenData {
    enum Leaf {
        /// Where the number stands in the document.
        case number(Range<Int>)
        case text(String)
        case bool(Bool)

        var isNumber: Bool { if case .number = self { true } else { false } }
    }

    var leaves: [Leaf] = []

    /// How deep the elements stand; `nil` as long as there is none.
    var depth: Int?

    /// The length of the lists at each depth; `nil` where none has ended yet.
    private var lengths: [Int?] = []

    /// Whether a list without elements ended at a depth: then none stands deeper.
    private var emptyDepth: Int?

    /// Notes the end of a list.
    ///
    /// - Returns: Whether all lists at its depth have the same length so far.
    mutating func close(list count: Int, depth listDepth: Int) -> Bool {
        while lengths.count <= listDepth { lengths.append(nil) }
        guard lengths[listDepth] ?? count == count else { return false }
        lengths[listDepth] = count
        if count == 0 {
            guard depth == nil, emptyDepth ?? listDepth == listDepth else { return false }
            emptyDepth = listDepth
        }
        return emptyDepth.map { listDepth <= $0 } ?? true
    }

    var shape: [Int] { lengths.compactMap(\.self) }
}

/// Turns written elements into values of one type.
struct WrittenElements {
    let leaves: [WrittenData.Leaf]
    let document: [UInt8]

    /// Where the tensor begins, for elements that do not say.
    let offset: Int

    func texts() throws(InferenceError) -> [String] {
        var texts: [String] = []
        for leaf in leaves {
            guard case .text(let text) = leaf else { throw wrong(leaf, "an element is no text") }
            texts.append(text)
        }
        return texts
    }

    func bools() throws(InferenceError) -> [Bool] {
        var bools: [Bool] = []
        for leaf in leaves {
            guard case .bool(let bool) = leaf else {
                throw wrong(leaf, "an element is neither true nor false")
            }
            bools.append(bool)
        }
        return bools
    }

    func integers<Integer: FixedWidthInteger>(_: Integer.Type) throws(InferenceError) -> [Integer] {
        var integers: [Integer] = []
        for leaf in leaves {
            guard case .number(let range) = leaf, let integer = Integer(digits(range)) else {
                throw wrong(leaf, "an element is no whole number from \(Integer.min) to \(Integer.max)")
            }
            integers.append(integer)
        }
        return integers
    }

    func floats<Number: BinaryFloatingPoint & LosslessStringConvertible>(
        _: Number.Type
    ) throws(InferenceError) -> [Number] {
        try numbers({ text in Number(text).flatMap { $0.isFinite ? $0 : nil } }, special: { Number($0) })
    }

    func halves(_ form: HalfPrecision) throws(InferenceError) -> [UInt16] {
        try numbers({ form.word(text: $0) }, special: { form.word($0) })
    }

    // `read` gets the text of a number and gives nothing when that is too great; `special` gets what is no number.
    private func numbers<Number>(
        _ read: (String) -> Number?,
        special: (Double) -> Number
    ) throws(InferenceError) -> [Number] {
        var numbers: [Number] = []
        for leaf in leaves {
            switch leaf {
            case .number(let range):
                guard let number = read(digits(range)) else {
                    throw wrong(leaf, "a number is too great for its type")
                }
                numbers.append(number)
            case .text("NaN"): numbers.append(special(.nan))
            case .text("Infinity"): numbers.append(special(.infinity))
            case .text("-Infinity"): numbers.append(special(-.infinity))
            case .text, .bool: throw wrong(leaf, "an element is neither a number, NaN nor an infinity")
            }
        }
        return numbers
    }

    private func digits(_ range: Range<Int>) -> String { String(decoding: document[range], as: UTF8.self) }

    private func wrong(_ leaf: WrittenData.Leaf, _ reason: String) -> InferenceError {
        if case .number(let range) = leaf { return .text(reason: reason, offset: range.lowerBound) }
        return .text(reason: reason, offset: offset)
    }
}
