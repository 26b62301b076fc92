/// Golden vectors as JSON text, as a person writes them for `publish --checks`.
///
///     {"type": "sealift/checks@1",
///      "checks": [{"name": "a cat",
///                  "inputs": {"image": [[0.5, 1e-3]]},
///                  "outputs": {"scores": [[0.1, 0.9]]},
///                  "relative": 0.001, "absolute": 0.00001}]}
///
/// Inputs and outputs are tensors as `TensorJSON` has them. A check without
/// `outputs` is one whose outputs are to be recorded. In place of tolerances
/// there may be `"argmax": true`. Members that are not known, or stand twice,
/// are refused.
package enum CheckDocument {
    package static let type = "sealift/checks@1"

    /// Checks that one document may have.
    package static let most = 64

    /// Reads a document.
    ///
    /// - Parameters:
    ///   - bytes: The document.
    ///   - ports: The model's, for the types that the document leaves out.
    ///   - file: What to call it in messages.
    /// - Returns: The checks in their order; what they say is not checked against the ports.
    /// - Throws: `InferenceError.text` with the place of what is wrong.
    package static func checks(
        _ bytes: [UInt8],
        for ports: ModelPorts,
        named file: String
    ) throws(InferenceError) -> [WrittenCheck] {
        guard bytes.count <= TensorJSON.maximumLength else {
            throw .text(
                reason: "it has \(bytes.count) bytes, the limit is \(TensorJSON.maximumLength)",
                offset: 0
            )
        }
        var scanner = TensorScanner(bytes)
        let scanned = try scanner.checks()
        var checks: [WrittenCheck] = []
        for (index, check) in scanned.enumerated() {
            checks.append(try check.check("\(file), check \(index)", ports, bytes))
        }
        return checks
    }
}

/// One check as it stands in the text.
struct ScannedCheck {
    var name: String?
    var inputs: [WrittenTensor] = []
    var outputs: [WrittenTensor] = []
    var relative: String?
    var absolute: String?
    var isArgmax = false

    func check(
        _ place: String,
        _ ports: ModelPorts,
        _ document: [UInt8]
    ) throws(InferenceError) -> WrittenCheck {
        WrittenCheck(
            name: name.map { "\(place) (\($0))" } ?? place,
            inputs: try Self.tensors(inputs, ports.inputs, document),
            outputs: try Self.tensors(outputs, ports.outputs, document),
            relative: relative,
            absolute: absolute,
            isArgmax: isArgmax
        )
    }

    private static func tensors(
        _ written: [WrittenTensor],
        _ ports: [Port],
        _ document: [UInt8]
    ) throws(InferenceError) -> [String: Tensor] {
        var tensors: [String: Tensor] = [:]
        for tensor in written {
            guard let port = ports.first(where: { $0.name.utf8.elementsEqual(tensor.name.utf8) }) else {
                let known = ports.map(\.name).joined(separator: ", ")
                throw .golden(name: tensor.name, reason: "is none of the model's: \(known)")
            }
            tensors[port.name] = try tensor.tensor(for: port, in: document)
        }
        return tensors
    }
}

extension TensorScanner {
    /// The whole document.
    mutating func checks() throws(InferenceError) -> [ScannedCheck] {
        var checks: [ScannedCheck] = []
        var type: String?
        var seen: Set<String> = []
        passSpace()
        try members { (scanner, key, offset) throws(InferenceError) in
            guard seen.insert(key).inserted else {
                throw .text(reason: "'\(key)' stands twice", offset: offset)
            }
            switch key {
            case "type": type = try scanner.text()
            case "checks":
                try scanner.elements { (scanner) throws(InferenceError) in
                    guard checks.count < CheckDocument.most else {
                        throw scanner.wrong("more than \(CheckDocument.most) checks")
                    }
                    checks.append(try scanner.check())
                }
            default: throw .text(reason: "'\(key)' is neither type nor checks", offset: offset)
            }
        }
        try end()
        guard type == CheckDocument.type else {
            throw .text(reason: "its 'type' is not '\(CheckDocument.type)'", offset: 0)
        }
        guard !checks.isEmpty else { throw .text(reason: "it has no checks", offset: 0) }
        return checks
    }

    private mutating func check() throws(InferenceError) -> ScannedCheck {
        var check = ScannedCheck()
        var seen: Set<String> = []
        try members { (scanner, key, offset) throws(InferenceError) in
            guard seen.insert(key).inserted else {
                throw .text(reason: "'\(key)' stands twice", offset: offset)
            }
            switch key {
            case "name": check.name = try scanner.text()
            case "inputs": check.inputs = try scanner.tensors()
            case "outputs": check.outputs = try scanner.tensors()
            case "relative": check.relative = try scanner.decimal()
            case "absolute": check.absolute = try scanner.decimal()
            case "argmax":
                check.isArgmax = scanner.current == UInt8(ascii: "t")
                if check.isArgmax { try scanner.expect("true") } else { try scanner.expect("false") }
            default:
                throw .text(
                    reason: "'\(key)' is none of name, inputs, outputs, relative, absolute and argmax",
                    offset: offset
                )
            }
        }
        guard seen.contains("inputs"), !check.inputs.isEmpty else { throw wrong("a check has no inputs") }
        guard !seen.contains("outputs") || !check.outputs.isEmpty else {
            throw wrong("a check has empty outputs; leave them out to have them recorded")
        }
        return check
    }

    private mutating func tensors() throws(InferenceError) -> [WrittenTensor] {
        var tensors: [WrittenTensor] = []
        try members { (scanner, name, offset) throws(InferenceError) in
            guard !tensors.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
                throw .text(reason: "'\(name)' stands twice", offset: offset)
            }
            tensors.append(try scanner.tensor(named: name, offset: offset))
        }
        return tensors
    }

    /// A number, or a text that is one, as it is written.
    private mutating func decimal() throws(InferenceError) -> String {
        guard current != UInt8(ascii: "\"") else { return try text() }
        return text(try number())
    }
}
