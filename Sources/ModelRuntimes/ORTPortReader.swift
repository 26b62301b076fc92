import Inference

/// Reads a session's inputs and outputs: ONNX Runtime's own view of the model.
///
/// It is blind in three ways. A tensor of unknown rank looks like one without
/// dimensions. Initializers that a caller may override are listed apart, and
/// become optional inputs here. A dimension it could not infer has no symbol,
/// or one that it made up.
struct ORTPortReader {
    let functions: ORTFunctions
    let session: ORTHandle

    func ports() throws(ONNXRuntimeError) -> ModelPorts {
        let required = try ports(count: .inputCount, type: .inputType, name: .inputName, isOptional: false)
        let optional = try ports(
            count: .initializerCount,
            type: .initializerType,
            name: .initializerName,
            isOptional: true
        )
        let outputs = try ports(count: .outputCount, type: .outputType, name: .outputName, isOptional: false)
        return ModelPorts(inputs: required + optional, outputs: outputs)
    }

    private func ports(
        count countSlot: ORTSlot,
        type typeSlot: ORTSlot,
        name nameSlot: ORTSlot,
        isOptional: Bool
    ) throws(ONNXRuntimeError) -> [Port] {
        typealias Count = @convention(c) (ORTPointer, UnsafeMutablePointer<Int>) -> ORTStatus
        typealias TypeAt = @convention(c) (ORTPointer, Int, ORTOut) -> ORTStatus
        var count = 0
        let getCount = functions.function(countSlot, as: Count.self)
        try functions.check(session.lend { getCount($0, &count) }, "count the ports")
        let getType = functions.function(typeSlot, as: TypeAt.self)
        var ports: [Port] = []
        for index in 0..<count {
            let name = try name(at: index, nameSlot)
            let type = try functions.make(releasing: .releaseType, "read the type of '\(name)'") { out in
                session.lend { getType($0, index, out) }
            }
            ports.append(Port(name: name, kind: try kind(of: type), isOptional: isOptional))
        }
        return ports
    }

    private func name(at index: Int, _ slot: ORTSlot) throws(ONNXRuntimeError) -> String {
        typealias Default = @convention(c) (ORTOut) -> ORTStatus
        typealias Text = UnsafeMutablePointer<CChar>
        typealias Name =
            @convention(c) (ORTPointer, Int, ORTPointer, UnsafeMutablePointer<Text?>) -> ORTStatus
        typealias Free = @convention(c) (ORTPointer, UnsafeMutableRawPointer) -> ORTStatus
        var allocator: ORTPointer?
        try functions.check(
            functions.function(.defaultAllocator, as: Default.self)(&allocator),
            "find memory"
        )
        guard let allocator else {
            throw .failed(operation: "find memory", code: -1, message: "it gave nothing")
        }
        var text: Text?
        let getName = functions.function(slot, as: Name.self)
        try functions.check(session.lend { getName($0, index, allocator, &text) }, "read a port's name")
        guard let text else {
            throw .failed(operation: "read a port's name", code: -1, message: "it gave nothing")
        }
        let name = String(cString: text)
        try functions.check(functions.function(.allocatorFree, as: Free.self)(allocator, text), "free memory")
        return name
    }

    private func kind(of type: ORTHandle) throws(ONNXRuntimeError) -> Port.Kind {
        typealias Kind = @convention(c) (ORTPointer, UnsafeMutablePointer<Int32>) -> ORTStatus
        typealias Cast = @convention(c) (ORTPointer, ORTOut) -> ORTStatus
        var number: Int32 = 0
        let getKind = functions.function(.kindOfType, as: Kind.self)
        try functions.check(type.lend { getKind($0, &number) }, "read a port's kind")
        let kind = ORTKind(rawValue: number) ?? .unknown
        guard kind == .tensor else { return .other(kind.text) }
        let cast = functions.function(.tensorInfoOfType, as: Cast.self)
        return try type.lend { type throws(ONNXRuntimeError) in
            var borrowed: ORTPointer?
            try functions.check(cast(type, &borrowed), "read a port's tensor")
            guard let borrowed else { return .other(ORTKind.unknown.text) }
            let info = ORTTensorInfo(functions: functions, info: borrowed)
            let number = try info.elementNumber()
            guard let element = ORTElement.element(number) else {
                return .other("a tensor of element type \(number)")
            }
            return .tensor(element, .dimensions(try info.dimensions()))
        }
    }
}

/// Element type and dimensions of a tensor or of a tensor's type; belongs to the call that lent `info`.
struct ORTTensorInfo {
    let functions: ORTFunctions
    let info: ORTPointer

    func elementNumber() throws(ONNXRuntimeError) -> Int32 {
        typealias Element = @convention(c) (ORTPointer, UnsafeMutablePointer<Int32>) -> ORTStatus
        var number: Int32 = 0
        try functions.check(
            functions.function(.elementType, as: Element.self)(info, &number),
            "read an element type"
        )
        return number
    }

    func lengths() throws(ONNXRuntimeError) -> [Int64] {
        typealias Count = @convention(c) (ORTPointer, UnsafeMutablePointer<Int>) -> ORTStatus
        typealias Dimensions = @convention(c) (ORTPointer, UnsafeMutablePointer<Int64>?, Int) -> ORTStatus
        var count = 0
        try functions.check(
            functions.function(.dimensionCount, as: Count.self)(info, &count),
            "count the dimensions"
        )
        var lengths = [Int64](repeating: 0, count: count)
        let read = functions.function(.dimensions, as: Dimensions.self)
        let status = lengths.withUnsafeMutableBufferPointer { read(info, $0.baseAddress, count) }
        try functions.check(status, "read the dimensions")
        return lengths
    }

    func dimensions() throws(ONNXRuntimeError) -> [PortDimension] {
        typealias Text = UnsafePointer<CChar>
        typealias Symbols = @convention(c) (ORTPointer, UnsafeMutablePointer<Text?>?, Int) -> ORTStatus
        let lengths = try lengths()
        var texts = [Text?](repeating: nil, count: lengths.count)
        let read = functions.function(.symbols, as: Symbols.self)
        let status = texts.withUnsafeMutableBufferPointer { read(info, $0.baseAddress, lengths.count) }
        try functions.check(status, "read the symbols")
        return zip(lengths, texts).map { length, text in
            if let length = Int(exactly: length), length >= 0 { return .fixed(length) }
            let symbol = text.map { String(cString: $0) } ?? ""
            return symbol.isEmpty ? .any : .symbol(symbol)
        }
    }
}
