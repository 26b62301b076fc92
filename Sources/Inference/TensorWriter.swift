import CanonicalJSON

/// Writes what a model gave as JSON.
struct TensorWriter {
    private(set) var bytes: [UInt8] = []

    mutating func write(_ outputs: [String: ModelValue]) {
        let names = outputs.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        list("{", names, "}") { writer, name in
            writer.string(name)
            writer.append(":")
            if let value = outputs[name] { writer.write(value) }
        }
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
        switch tensor.element {
        case .string: list("[", tensor.strings, "]") { writer, text in writer.string(text) }
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
        list("[", values, "]") { writer, value in writer.append(value.description) }
    }

    private mutating func floats<Number: BinaryFloatingPoint & CustomStringConvertible>(_ values: [Number]) {
        list("[", values, "]") { writer, value in
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
        for (index, value) in values.enumerated() {
            if index > 0 { append(",") }
            body(&self, value)
        }
        append(close)
    }

    private mutating func string(_ text: String) { bytes += JSONValue.text(text).compactJSON }

    private mutating func append(_ text: String) { bytes += Array(text.utf8) }
}
