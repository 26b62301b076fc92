/// Tensors as JSON text: what `sealift infer` reads and writes.
///
/// Signed documents have no fractions, tensors do, so this is a form of its
/// own and never signed. An input document is an object with one member for
/// each input, in either of two forms:
///
///     {"image": {"type": "uint8", "shape": [1, 2, 2], "data": [0, 1, 2, 255]},
///      "scale": [0.5, 1e-3]}
///
/// In the long form `type` and `shape` may be left out; `data` is flat, or
/// nested as the shape says. In the short form the value is the nested lists
/// themselves. What is left out is taken from the model's ports and from the
/// nesting.
///
/// Integers are exact: they have no fraction or exponent and must fit. Numbers
/// of floating point are rounded to the nearest, ties to even; one that is
/// too great is refused. JSON has no NaN and no infinities: they are the texts
/// `"NaN"`, `"Infinity"` and `"-Infinity"`, both ways. A bool is `true` or
/// `false`.
///
/// Outputs have the long form, keys sorted, each number of floating point in
/// the fewest digits that read back to the same value. A sequence is
/// `{"sequence": [...]}`, a map `{"keys": ..., "values": ...}`.
public enum TensorJSON {
    /// The greatest document that is read, in bytes.
    public static let maximumLength = 16 << 20

    /// Reads the inputs of one call.
    ///
    /// - Parameters:
    ///   - bytes: The document.
    ///   - ports: The model's, for the types that the document leaves out.
    /// - Returns: The tensors by name; they are not checked against the ports.
    /// - Throws: `InferenceError.text` with the place of what is wrong,
    ///   `.unknownInput` for a name that is no port, `.shape` or `.count` when a
    ///   shape and its data disagree.
    public static func inputs(
        _ bytes: [UInt8],
        for ports: ModelPorts
    ) throws(InferenceError) -> [String: Tensor] {
        guard bytes.count <= maximumLength else {
            throw .text(reason: "it has \(bytes.count) bytes, the limit is \(maximumLength)", offset: 0)
        }
        var scanner = TensorScanner(bytes)
        let written = try scanner.document()
        var byName: [[UInt8]: Port] = [:]
        for port in ports.inputs { byName[Array(port.name.utf8)] = port }
        var inputs: [String: Tensor] = [:]
        for tensor in written {
            guard let port = byName[Array(tensor.name.utf8)] else {
                throw .unknownInput(tensor.name, known: ports.inputs.map(\.name))
            }
            inputs[port.name] = try tensor.tensor(for: port, in: bytes)
        }
        return inputs
    }

    /// Writes the outputs of one call.
    ///
    /// - Parameter outputs: By name, as a model gave them.
    /// - Returns: One line of JSON, without a line break.
    public static func text(of outputs: [String: ModelValue]) -> [UInt8] {
        var text: [UInt8] = []
        write(outputs) { piece in
            text += piece
            return true
        }
        return text
    }

    /// Writes the outputs of one call piece by piece, since a text has many times the length of the numbers.
    ///
    /// - Parameters:
    ///   - outputs: By name, as a model gave them.
    ///   - take: Gets each piece, and says whether it wants more.
    package static func write(_ outputs: [String: ModelValue], _ take: ([UInt8]) -> Bool) {
        withoutActuallyEscaping(take) { take in
            var writer = TensorWriter(take)
            writer.write(outputs)
        }
    }

    /// The beginning of the text, written no further than that.
    ///
    /// - Parameters:
    ///   - outputs: By name, as a model gave them.
    ///   - length: The most bytes, to the end of a character.
    /// - Returns: The text, and whether it is the whole one.
    package static func beginning(
        of outputs: [String: ModelValue],
        length: Int
    ) -> (text: String, isWhole: Bool) {
        var bytes: [UInt8] = []
        write(outputs) { piece in
            bytes += piece
            return bytes.count <= length
        }
        guard bytes.count > length else { return (String(decoding: bytes, as: UTF8.self), true) }
        var end = length
        while end > 0, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return (String(decoding: bytes[..<end], as: UTF8.self), false)
    }
}
