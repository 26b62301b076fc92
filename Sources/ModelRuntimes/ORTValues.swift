import Glibc
import Inference

/// Moves values into and out of ONNX Runtime.
struct ORTValues {
    let functions: ORTFunctions

    private func allocator() throws(ONNXRuntimeError) -> ORTPointer {
        typealias Default = @convention(c) (ORTOut) -> ORTStatus
        var allocator: ORTPointer?
        try functions.check(
            functions.function(.defaultAllocator, as: Default.self)(&allocator),
            "find memory"
        )
        guard let allocator else {
            throw .failed(operation: "find memory", code: -1, message: "it gave nothing")
        }
        return allocator
    }

    /// Copies a tensor into memory of the runtime, which thus owns and aligns it.
    func value(of tensor: Tensor) throws(ONNXRuntimeError) -> ORTHandle {
        typealias Create =
            @convention(c) (ORTPointer, UnsafePointer<Int64>?, Int, Int32, ORTOut) -> ORTStatus
        let allocator = try allocator()
        let shape = tensor.shape.map(Int64.init)
        let create = functions.function(.createTensor, as: Create.self)
        let number = ORTElement.number(tensor.element)
        let value = try functions.make(releasing: .releaseValue, "make a tensor") { out in
            shape.withUnsafeBufferPointer { create(allocator, $0.baseAddress, shape.count, number, out) }
        }
        if tensor.element == .string {
            try fill(value, with: tensor.strings)
        } else if !tensor.bytes.isEmpty {
            try value.lend { value throws(ONNXRuntimeError) in
                let memory = try data(of: value)
                tensor.bytes.withUnsafeBytes { bytes in
                    UnsafeMutableRawBufferPointer(start: memory, count: bytes.count).copyMemory(from: bytes)
                }
            }
        }
        return value
    }

    private func fill(_ value: ORTHandle, with strings: [String]) throws(ONNXRuntimeError) {
        typealias Text = UnsafePointer<CChar>
        typealias Fill = @convention(c) (ORTPointer, UnsafePointer<Text?>?, Int) -> ORTStatus
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let texts = copies.map { $0.map { Text($0) } }
        guard !texts.contains(nil) else {
            throw .failed(operation: "copy text", code: -1, message: "no memory")
        }
        let call = functions.function(.fillText, as: Fill.self)
        let status = texts.withUnsafeBufferPointer { texts in
            value.lend { call($0, texts.baseAddress, texts.count) }
        }
        try functions.check(status, "fill a tensor with text")
    }

    private func data(of value: ORTPointer) throws(ONNXRuntimeError) -> UnsafeMutableRawPointer {
        typealias Data =
            @convention(c) (ORTPointer, UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> ORTStatus
        var memory: UnsafeMutableRawPointer?
        try functions.check(functions.function(.tensorData, as: Data.self)(value, &memory), "reach a tensor")
        guard let memory else {
            throw .failed(operation: "reach a tensor", code: -1, message: "it gave nothing")
        }
        return memory
    }

    /// Copies a result out, as far as the budget goes.
    ///
    /// - Throws: `ONNXRuntimeError.unsupported` for kinds and elements that
    ///   have no Swift value, and for text that is not UTF-8;
    ///   `InferenceError.outputsTooLarge` and `.noMemory`.
    func modelValue(
        of handle: ORTHandle,
        port: String,
        _ budget: inout OutputBudget
    ) throws -> ModelValue {
        typealias Kind = @convention(c) (ORTPointer, UnsafeMutablePointer<Int32>) -> ORTStatus
        var number: Int32 = 0
        let getKind = functions.function(.kindOfValue, as: Kind.self)
        try functions.check(handle.lend { getKind($0, &number) }, "read the kind of '\(port)'")
        let kind = ORTKind(rawValue: number) ?? .unknown
        switch kind {
        case .tensor: return .tensor(try tensor(of: handle, port: port, &budget))
        case .sequence:
            let count = try count(of: handle)
            try budget.take(count, of: MemoryLayout<ModelValue>.stride, for: port)
            var elements: [ModelValue] = []
            for index in 0..<count {
                elements.append(try modelValue(of: try element(index, of: handle), port: port, &budget))
            }
            return .sequence(elements)
        case .map:
            let keys = try tensor(of: try element(0, of: handle), port: port, &budget)
            let values = try tensor(of: try element(1, of: handle), port: port, &budget)
            return .map(keys: keys, values: values)
        case .unknown, .opaque, .sparseTensor, .optional:
            throw ONNXRuntimeError.unsupported(port: port, what: kind.text)
        }
    }

    private func count(of handle: ORTHandle) throws(ONNXRuntimeError) -> Int {
        typealias Count = @convention(c) (ORTPointer, UnsafeMutablePointer<Int>) -> ORTStatus
        var count = 0
        let call = functions.function(.valueCount, as: Count.self)
        try functions.check(handle.lend { call($0, &count) }, "count a sequence")
        return count
    }

    /// Entry `index` of a sequence; of a map, 0 are its keys and 1 its values.
    private func element(_ index: Int, of handle: ORTHandle) throws(ONNXRuntimeError) -> ORTHandle {
        typealias At = @convention(c) (ORTPointer, Int32, ORTPointer, ORTOut) -> ORTStatus
        let allocator = try allocator()
        let call = functions.function(.valueAt, as: At.self)
        return try functions.make(releasing: .releaseValue, "read a sequence") { out in
            handle.lend { call($0, Int32(clamping: index), allocator, out) }
        }
    }

    private func tensor(
        of handle: ORTHandle,
        port: String,
        _ budget: inout OutputBudget
    ) throws -> Tensor {
        let (number, shape) = try form(of: handle, port: port)
        guard let element = ORTElement.element(number) else {
            throw ONNXRuntimeError.unsupported(port: port, what: "a tensor of element type \(number)")
        }
        var count = 1
        for length in shape {
            let (product, overflows) = count.multipliedReportingOverflow(by: length)
            guard length >= 0, !overflows, shape.count <= 32 else {
                throw ONNXRuntimeError.unsupported(port: port, what: "a tensor of the shape \(shape)")
            }
            count = product
        }
        try budget.take(count, of: element.size ?? OutputBudget.textSize, for: port)
        guard let size = element.size else {
            let strings = try strings(of: handle, count: count, port: port, &budget)
            return try Tensor(strings: strings, shape: shape)
        }
        guard count > 0 else { return try Tensor(element: element, shape: shape, bytes: []) }
        // Once for the copy, once more where the tensor's own form asks for another.
        try Self.expectMemory(element == .bool ? 2 * count : count * size, for: port)
        let bytes = try handle.lend { value throws(ONNXRuntimeError) in
            Array(UnsafeRawBufferPointer(start: try data(of: value), count: count * size))
        }
        return try Tensor(element: element, shape: shape, bytes: bytes)
    }

    /// Element type and lengths.
    private func form(of handle: ORTHandle, port: String) throws(ONNXRuntimeError) -> (Int32, [Int]) {
        typealias Info = @convention(c) (ORTPointer, ORTOut) -> ORTStatus
        let getInfo = functions.function(.tensorInfoOfValue, as: Info.self)
        let info = try functions.make(releasing: .releaseTensorInfo, "read the shape of '\(port)'") { out in
            handle.lend { getInfo($0, out) }
        }
        return try info.lend { pointer throws(ONNXRuntimeError) in
            let info = ORTTensorInfo(functions: functions, info: pointer)
            return (try info.elementNumber(), try info.lengths().map { Int(clamping: $0) })
        }
    }

    /// Asks for memory in a way that may fail: an array that gets none ends the process.
    ///
    /// - Throws: `InferenceError.noMemory`.
    private static func expectMemory(_ bytes: Int, for port: String) throws(InferenceError) {
        // What an allocator and the rest of the call take beside it.
        let length = bytes + (1 << 20)
        let memory = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { throw .noMemory(port, bytes: bytes) }
        munmap(memory, length)
    }

    private func strings(
        of handle: ORTHandle,
        count: Int,
        port: String,
        _ budget: inout OutputBudget
    ) throws -> [String] {
        typealias Length = @convention(c) (ORTPointer, UnsafeMutablePointer<Int>) -> ORTStatus
        typealias Content =
            @convention(c) (ORTPointer, UnsafeMutableRawPointer?, Int, UnsafeMutablePointer<Int>?, Int) ->
            ORTStatus
        guard count > 0 else { return [] }
        var length = 0
        let getLength = functions.function(.textLength, as: Length.self)
        try functions.check(handle.lend { getLength($0, &length) }, "measure the text of '\(port)'")
        try budget.take(length, of: 1, for: port)
        // The text as the runtime has it and as strings, where each begins, and each string.
        try Self.expectMemory(2 * length + 2 * count * OutputBudget.textSize, for: port)
        var bytes = [UInt8](repeating: 0, count: length)
        var offsets = [Int](repeating: 0, count: count)
        let read = functions.function(.textContent, as: Content.self)
        let status = bytes.withUnsafeMutableBytes { bytes in
            offsets.withUnsafeMutableBufferPointer { offsets in
                handle.lend { read($0, bytes.baseAddress, length, offsets.baseAddress, count) }
            }
        }
        try functions.check(status, "read the text of '\(port)'")
        offsets.append(length)
        var strings: [String] = []
        for (start, end) in zip(offsets, offsets.dropFirst()) {
            guard 0 <= start, start <= end, end <= length,
                let text = String(validating: bytes[start..<end], as: UTF8.self)
            else { throw ONNXRuntimeError.unsupported(port: port, what: "text that is not UTF-8") }
            strings.append(text)
        }
        return strings
    }
}
