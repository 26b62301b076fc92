import Manifest
import Names

/// One subgraph: its tensors and operators checked, its inputs and outputs kept.
struct TFLiteSubgraph {
    private let table: FlatTable
    private let tensors: FlatVector?
    let inputs: [Int]
    let outputs: [Int]

    /// The numbers of `TensorType`; resources and variants have no form outside the interpreter.
    private static let elements: [Int8: ElementType] = [
        0: .float32, 1: .float16, 2: .int32, 3: .uint8, 4: .int64, 5: .string, 6: .bool, 7: .int16,
        8: .complex64, 9: .int8, 10: .float64, 11: .complex128, 12: .uint64, 15: .uint32, 16: .uint16,
        17: .int4, 18: .bfloat16, 19: .int2, 20: .uint4, 21: .float8e4m3fn, 22: .float8e5m2,
    ]

    init(_ table: FlatTable, buffers: Int, operatorCodes: Int) throws(FormatError) {
        self.table = table
        let vector = try table.vector(4, "tensors")?.atMost(1_000_000)
        tensors = vector
        let count = vector?.count ?? 0
        for index in 0..<count {
            guard let tensor = try vector?.table(index) else { break }
            let number = try tensor.number(8, "buffer", default: UInt32(0))
            guard number < UInt32(buffers) || number == 0 else { throw tensor.error("buffer", .badReference) }
        }
        inputs = try Self.indices(table, 6, "inputs", below: count)
        outputs = try Self.indices(table, 8, "outputs", below: count)
        guard let operators = try table.vector(10, "operators")?.atMost(1_000_000) else { return }
        for index in 0..<operators.count {
            let operation = try operators.table(index)
            let code = try operation.number(4, "opcode_index", default: UInt32(0))
            guard code < UInt32(operatorCodes) else { throw operation.error("opcode_index", .badReference) }
            try Self.check(operation, 6, "inputs", from: -1, below: count)
            try Self.check(operation, 8, "outputs", from: 0, below: count)
        }
    }

    private static func indices(
        _ table: FlatTable,
        _ slot: UInt16,
        _ field: String,
        below count: Int
    ) throws(FormatError) -> [Int] {
        guard let vector = try table.vector(slot, field)?.atMost(ShapeLimits.features) else { return [] }
        var indices: [Int] = []
        for index in 0..<vector.count {
            let number = Int(try vector.number(Int32.self, index))
            guard (0..<count).contains(number) else {
                throw table.buffer.malformed("\(table.name).\(field)", vector.place(index), .badReference)
            }
            indices.append(number)
        }
        return indices
    }

    /// Operators may leave an input out, by -1.
    private static func check(
        _ table: FlatTable,
        _ slot: UInt16,
        _ field: String,
        from first: Int,
        below count: Int
    ) throws(FormatError) {
        guard let vector = try table.vector(slot, field)?.atMost(1_000_000) else { return }
        for index in 0..<vector.count {
            let number = Int(try vector.number(Int32.self, index))
            guard number >= first, number < count else {
                throw table.buffer.malformed("\(table.name).\(field)", vector.place(index), .badReference)
            }
        }
    }

    func interface() throws(FormatError) -> Interface {
        let interface = Interface(
            inputs: try features(inputs, "inputs"),
            outputs: try features(outputs, "outputs")
        )
        return interface
    }

    private func features(_ indices: [Int], _ field: String) throws(FormatError) -> [Feature] {
        var features: [Feature] = []
        var names: Set<String> = []
        for index in indices {
            let name = try self.name(ofTensor: index)
            guard names.insert(name.lookAlikeKey).inserted else {
                throw table.error("\(field) `\(name)`", .duplicateName)
            }
            features.append(try feature(named: name, tensor: index))
        }
        return features
    }

    private func tensor(_ index: Int) throws(FormatError) -> FlatTable {
        guard let tensors, (0..<tensors.count).contains(index) else {
            throw table.error("tensors", .badReference)
        }
        return try tensors.table(index)
    }

    func name(ofTensor index: Int) throws(FormatError) -> FeatureName {
        let tensor = try tensor(index)
        guard let name = FeatureName(try tensor.text(10, "name", limit: 1_024) ?? "") else {
            throw tensor.error("name", .badName)
        }
        return name
    }

    func feature(named name: FeatureName, tensor index: Int) throws(FormatError) -> Feature {
        let tensor = try tensor(index)
        let number = try tensor.number(6, "type", default: Int8(0))
        guard let element = Self.elements[number] else {
            guard number == 13 || number == 14 else {
                throw tensor.error("type", .unknownElementType(UInt64(UInt8(bitPattern: number))))
            }
            return Feature(
                name: name,
                type: .opaque(domain: "tflite", name: number == 13 ? "resource" : "variant")
            )
        }
        let sizes = try self.sizes(tensor, 4, "shape", dynamic: nil) ?? []
        let signature = try self.sizes(tensor, 18, "shape_signature", dynamic: .any)
        var type = TensorType(element: element, shape: .dimensions(signature ?? sizes))
        if let signature, !signature.isEmpty, signature != sizes {
            guard signature.count == sizes.count else {
                throw tensor.error("shape_signature", .contradiction)
            }
            for case (.fixed(let left), .fixed(let right)) in zip(signature, sizes) where left != right {
                throw tensor.error("shape_signature", .contradiction)
            }
            type.defaultShape = sizes.compactMap { if case .fixed(let size) = $0 { size } else { nil } }
        } else {
            type.shape = .dimensions(sizes)
            if sizes.isEmpty, try tensor.number(20, "has_rank", default: UInt8(0)) == 0 {
                type.shape = .unknownRank
            }
        }
        type.quantization = try quantization(of: tensor)
        return Feature(name: name, type: .tensor(type))
    }

    private func sizes(
        _ tensor: FlatTable,
        _ slot: UInt16,
        _ field: String,
        dynamic: Dimension?
    ) throws(FormatError) -> [Dimension]? {
        guard let vector = try tensor.vector(slot, field)?.atMost(ShapeLimits.rank) else { return nil }
        var dimensions: [Dimension] = []
        var elements: Int64 = 1
        for index in 0..<vector.count {
            let size = Int64(try vector.number(Int32.self, index))
            if size == -1, let dynamic {
                dimensions.append(dynamic)
                continue
            }
            let product = elements.multipliedReportingOverflow(by: max(size, 1))
            guard size >= 0, !product.overflow, product.partialValue <= ShapeLimits.elements else {
                throw tensor.buffer.malformed("\(tensor.name).\(field)", vector.place(index), .outOfRange)
            }
            elements = product.partialValue
            dimensions.append(.fixed(size))
        }
        return dimensions
    }

    /// One scale for the whole tensor; what has one for each channel is never an input or output.
    private func quantization(of tensor: FlatTable) throws(FormatError) -> Quantization? {
        guard let table = try tensor.table(12, "quantization"),
            let scales = try table.vector(8, "scale"), scales.count == 1
        else { return nil }
        let scale = Float(bitPattern: try scales.number(UInt32.self, 0))
        guard scale.isFinite else { throw table.error("scale", .notFinite) }
        guard scale != 0 else { return nil }
        var zero: Int64 = 0
        if let zeros = try table.vector(10, width: 8, "zero_point"), zeros.count > 0 {
            guard zeros.count == 1 else { throw table.error("zero_point", .contradiction) }
            zero = try zeros.number(Int64.self, 0)
        }
        guard (-(1 << 53) + 1...(1 << 53) - 1).contains(zero) else {
            throw table.error("zero_point", .outOfRange)
        }
        return Quantization(scale: "\(scale)", zero: zero)
    }
}
