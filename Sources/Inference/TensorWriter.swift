import CanonicalJSON

/// Writes what a model gave as JSON, in pieces of some kilobytes.
struct TensorWriter {
    private static let pieceLength = 64 << 10

    /// Elements that are turned into numbers at a time.
    private static let window = 4_096

    private var piece: [UInt8] = []
    private var isWanted = true
    private let take: ([UInt8]) -> Bool

    /// - Parameter take: Gets each piece, and says whether it wants more.
    init(_ take: @escaping ([UInt8]) -> Bool) { self.take = take }

    mutating func write(_ outputs: [String: ModelValue]) {
        let names = outputs.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        list("{", names, "}") { writer, name in
            writer.string(name)
            writer.append(":")
            if let value = outputs[name] { writer.write(value) }
        }
        passOn()
    }

    private mutating func write(_ value: ModelValue) {
        switch value {
        case .tensor(let tensor): write(tensor)
        case .sequence(let values):
            append("{\"sequence\":")
            list("[", values, "]") { writer, value in writer.write(value) }
            append("}")
        case .map(let keys, let values):
            append("{\"keys\":")
            write(keys)
            append(",\"values\":")
            write(values)
            append("}")
        }
    }

    private mutating func write(_ tensor: Tensor) {
        append("{\"data\":")
        elements(of: tensor)
        append(",\"shape\":")
        list("[", tensor.shape, "]") { writer, length in writer.append(String(length)) }
        append(",\"type\":\"\(tensor.element.rawValue)\"}")
    }

    private mutating func elements(of tensor: Tensor) {
        guard let size = tensor.element.size else {
            list("[", tensor.strings, "]") { writer, text in writer.string(text) }
            return
        }
        append("[")
        var index = 0
        while index < tensor.count, isWanted {
            if index > 0 { append(",") }
            let end = min(index + Self.window, tensor.count)
            let bytes = Array(tensor.bytes[index * size..<end * size])
            if let part = try? Tensor(element: tensor.element, shape: [end - index], bytes: bytes) {
                numbers(part)
            }
            index = end
        }
        append("]")
    }

    private mutating func numbers(_ tensor: Tensor) {
        switch tensor.element {
        case .string: break
        case .bool: numbers(tensor, Bool.self)
        case .int8: numbers(tensor, Int8.self)
        case .int16: numbers(tensor, Int16.self)
        case .int32: numbers(tensor, Int32.self)
        case .int64: numbers(tensor, Int64.self)
        case .uint8: numbers(tensor, UInt8.self)
        case .uint16: numbers(tensor, UInt16.self)
        case .uint32: numbers(tensor, UInt32.self)
        case .uint64: numbers(tensor, UInt64.self)
        case .float64: floats(tensor.widened ?? [])
        // The shortest digits depend on the type: 0.1 as a Float is not 0.1 as a Double.
        case .float16, .bfloat16, .float32: floats((tensor.widened ?? []).map { Float($0) })
        }
    }

    private mutating func numbers<Number: TensorNumber & CustomStringConvertible>(
        _ tensor: Tensor,
        _: Number.Type
    ) {
        let values = (try? tensor.values(as: Number.self)) ?? []
        list("", values, "") { writer, value in writer.append(value.description) }
    }

    private mutating func floats<Number: BinaryFloatingPoint & CustomStringConvertible>(_ values: [Number]) {
        list("", values, "") { writer, value in
            if value.isNaN {
                writer.append("\"NaN\"")
            } else if value.isInfinite {
                writer.append(value < 0 ? "\"-Infinity\"" : "\"Infinity\"")
            } else {
                writer.append(value.description)
            }
        }
    }

    private mutating func list<Value>(
        _ open: String,
        _ values: [Value],
        _ close: String,
        _ body: (inout TensorWriter, Value) -> Void
    ) {
        append(open)
        for (index, value) in values.enumerated() where isWanted {
            if index > 0 { append(",") }
            body(&self, value)
        }
        append(close)
    }

    private mutating func string(_ text: String) {
        piece += JSONValue.text(text).compactJSON
        if piece.count >= Self.pieceLength { passOn() }
    }

    private mutating func append(_ text: String) {
        piece += text.utf8
        if piece.count >= Self.pieceLength { passOn() }
    }

    private mutating func passOn() {
        if isWanted, !piece.isEmpty { isWanted = take(piece) }
        piece.removeAll(keepingCapacity: true)
    }
}
