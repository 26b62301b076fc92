/// Protobuf as it stands on the wire, for models that no official library would write.
struct Wire {
    var bytes: [UInt8] = []

    init() {}

    init(_ parts: Wire...) { bytes = parts.flatMap(\.bytes) }

    static func varint(_ value: UInt64) -> [UInt8] {
        var left = value
        var bytes: [UInt8] = []
        while left >= 0x80 {
            bytes.append(UInt8(left & 0x7F) | 0x80)
            left >>= 7
        }
        return bytes + [UInt8(left)]
    }

    static func raw(_ bytes: [UInt8]) -> Wire {
        var wire = Wire()
        wire.bytes = bytes
        return wire
    }

    static func number(_ field: UInt64, _ value: Int64) -> Wire {
        raw(varint(field << 3) + varint(UInt64(bitPattern: value)))
    }

    static func payload(_ field: UInt64, _ bytes: [UInt8]) -> Wire {
        raw(varint(field << 3 | 2) + varint(UInt64(bytes.count)) + bytes)
    }

    static func text(_ field: UInt64, _ text: String) -> Wire { payload(field, Array(text.utf8)) }

    static func message(_ field: UInt64, _ parts: Wire...) -> Wire { payload(field, parts.flatMap(\.bytes)) }

    static func message(_ field: UInt64, _ parts: [Wire]) -> Wire { payload(field, parts.flatMap(\.bytes)) }
}

/// The pieces of an ONNX model (field numbers of ONNX 1.23).
enum ONNX {
    static func model(ir: Int64 = 8, graph: [Wire], extra: [Wire] = []) -> [UInt8] {
        ([.number(1, ir), .message(7, graph), opset("", 17)] + extra).flatMap(\.bytes)
    }

    /// One input `x` and one output `y`, of `float32[2]`, and the node that makes the one of the other.
    static let minimal = [input("x"), output("y"), node("Identity", ["x"], ["y"])]

    static func opset(_ domain: String, _ version: Int64) -> Wire {
        .message(8, domain.isEmpty ? Wire() : .text(1, domain), .number(2, version))
    }

    static func tensorType(element: Int64 = 1, dimensions: [Wire]? = [.number(1, 2)]) -> Wire {
        .message(1, .number(1, element), dimensions.map { .message(2, $0.map { .message(1, $0) }) } ?? Wire())
    }

    static func input(_ name: String, _ type: Wire = tensorType()) -> Wire {
        .message(11, .text(1, name), .message(2, type))
    }

    static func output(_ name: String, _ type: Wire = tensorType()) -> Wire {
        .message(12, .text(1, name), .message(2, type))
    }

    /// The fields of a TensorProto of `float32`, in one dimension.
    static func tensor(_ name: String, data: [UInt8] = [0, 0, 0, 0]) -> Wire {
        Wire(.number(1, Int64(data.count / 4)), .number(2, 1), .text(8, name), .payload(9, data))
    }

    /// Of as many `float32` as `length` has room for, or else `count`.
    static func external(
        _ location: String,
        offset: String? = nil,
        length: String? = "4",
        count: Int64 = 1
    ) -> Wire {
        func entry(_ key: String, _ value: String?) -> Wire {
            value.map { .message(13, .text(1, key), .text(2, $0)) } ?? Wire()
        }
        return Wire(
            .number(1, length.flatMap { Int64($0) }.map { $0 / 4 } ?? count),
            .number(2, 1),
            .text(8, "W"),
            entry("location", location),
            entry("offset", offset),
            entry("length", length),
            .number(14, 1)
        )
    }

    static func node(
        _ operation: String,
        _ inputs: [String] = [],
        _ outputs: [String] = [],
        domain: String = "",
        attributes: [Wire] = []
    ) -> Wire {
        let values = inputs.map { Wire.text(1, $0) } + outputs.map { .text(2, $0) }
        return .message(1, values + [.text(4, operation)] + attributes + [.text(7, domain)])
    }

    static func attribute(_ name: String, _ parts: Wire...) -> Wire { .message(5, [.text(1, name)] + parts) }
}

extension Wire {
    /// What is inside a message that was written with `message`.
    var content: Wire {
        var rest = bytes.drop { $0 >= 0x80 }.dropFirst()
        rest = rest.drop { $0 >= 0x80 }.dropFirst()
        return .raw(Array(rest))
    }
}
