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
        guard strings.allSatisfy({ !$0.utf8.contains(0) }) else {
            throw .unsupported(port: "an input", what: "text with a NUL, which ONNX Runtime would cut off")
        }
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

    /// Copies a result out.
    ///
    /// - Throws: `ONNXRuntimeError.unsupported` for kinds and elements that
    ///   have no Swift value, and for text that is not UTF-8.
    func modelValue(of handle: ORTHandle, port: String) throws(ONNXRuntimeError) -> ModelValue {
        typealias Kind = @convention(c) (ORTPointer, UnsafeMutablePointer<Int32>) -> ORTStatus
        var number: Int32 = 0
        let getKind = functions.function(.kindOfValue, as: Kind.self)
        try functions.check(handle.lend { getKind($0, &number) }, "read the kind of '\(port)'")
        let kind = ORTKind(rawValue: number) ?? .unknown
        switch kind {
        case .tensor: return .tensor(try tensor(of: handle, port: port))
        case .sequence:
            var elements: [ModelValue] = []
            for index in 0..<(try count(of: handle)) {
                elements.append(try modelValue(of: try element(index, of: handle), port: port))
            }
            return .sequence(elements)
        case .map:
            let keys = try tensor(of: try element(0, of: handle), port: port)
            return .map(keys: keys, values: try tensor(of: try element(1, of: handle), port: port))
        case .unknown, .opaque, .sparseTensor, .optional:
            throw .unsupported(port: port, what: kind.text)
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

    private func tensor(of handle: ORTHandle, port: String) throws(ONNXRuntimeError) -> Tensor {
        typealias Info = @convention(c) (ORTPointer, ORTOut) -> ORTStatus
        let getInfo = functions.function(.tensorInfoOfValue, as: Info.self)
        let info = try functions.make(releasing: .releaseTensorInfo, "read the shape of '\(port)'") { out in
            handle.lend { getInfo($0, out) }
        }
        let (number, shape) = try info.lend { pointer throws(ONNXRuntimeError) in
            let info = ORTTensorInfo(functions: functions, info: pointer)
            return (try info.elementNumber(), try info.lengths().map { Int(clamping: $0) })
        }
        guard let element = ORTElement.element(number) else {
            throw .unsupported(port: port, what: "a tensor of element type \(number)")
        }
        var count = 1
        for length in shape {
            let (product, overflows) = count.multipliedReportingOverflow(by: length)
            guard length >= 0, !overflows else {
                throw .unsupported(port: port, what: "a tensor of the shape \(shape)")
            }
            count = product
        }
        do {
            guard let size = element.size else {
                return try Tensor(strings: try strings(of: handle, count: count, port: port), shape: shape)
            }
            guard count > 0 else { return try Tensor(element: element, shape: shape, bytes: []) }
            let bytes = try handle.lend { value throws(ONNXRuntimeError) in
                Array(UnsafeRawBufferPointer(start: try data(of: value), count: count * size))
            }
            return try Tensor(element: element, shape: shape, bytes: bytes)
        } catch let error as ONNXRuntimeError {
            throw error
        } catch {
            throw .unsupported(port: port, what: "a tensor of the shape \(shape)")
        }
    }

    private func strings(of handle: ORTHandle, count: Int, port: String) throws(ONNXRuntimeError) -> [String]
    {
        typealias Length = @convention(c) (ORTPointer, UnsafeMutablePointer<Int>) -> ORTStatus
        typealias Content =
            @convention(c) (ORTPointer, UnsafeMutableRawPointer?, Int, UnsafeMutablePointer<Int>?, Int) ->
            ORTStatus
        guard count > 0 else { return [] }
        var length = 0
        let getLength = functions.function(.textLength, as: Length.self)
        try functions.check(handle.lend { getLength($0, &length) }, "measure the text of '\(port)'")
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
            else { throw .unsupported(port: port, what: "text that is not UTF-8") }
            strings.append(text)
        }
        return strings
    }
}
