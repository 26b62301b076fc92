package import CanonicalJSON
import Manifest
package import Names

/// One golden vector of a manifest: inputs, and what must come out of them.
///
///     { "inputs": { NAME: VALUE, … }, "outputs": { NAME: VALUE, … },
///       "relative": DECIMAL, "absolute": DECIMAL, "argmax": true }
///
/// A NAME is the `FeatureName/key(of:)` of a port's name, which is the name itself where that is ASCII.
/// A VALUE is `{"base64": TEXT}` or `{"file": PATH}`: the elements of the
/// port's type in their order, little-endian. It has no shape of its own. A
/// length that the port leaves open is that of the same symbol in an earlier
/// input, else follows from the number of elements; where several are left
/// open, all but the last are 1.
///
/// Numbers agree within `absolute` + `relative` × the expected magnitude, 1e-5
/// and 1e-3 unless stated; integers, bools exactly unless a tolerance is
/// stated. With `argmax` only the place of the greatest element along the last
/// dimension counts.
package struct GoldenVector: Sendable {
    /// Bytes that one of its files may have.
    package static let longestFile = ByteCount.mebibytes(64)

    /// What to call the model with.
    package let inputs: [String: Tensor]

    private let expected: [(name: String, tensor: Tensor)]
    private let relative: Double?
    private let absolute: Double?
    private let isArgmax: Bool

    /// Reads one of a manifest's `checks`.
    ///
    /// - Parameters:
    ///   - value: As the manifest has it.
    ///   - ports: As the manifest declares them.
    ///   - file: The content of one of the variant's files; `nil` when it has none of that name.
    /// - Throws: `InferenceError.golden` with the member that is wrong.
    package init(
        _ value: JSONValue,
        ports: ModelPorts,
        file: (String) -> [UInt8]?
    ) throws(InferenceError) {
        guard let outputs = value["outputs"]?.object, !outputs.isEmpty else {
            throw .golden(name: "outputs", reason: "must be an object with what is expected")
        }
        inputs = try Self.inputs(of: value, ports: ports, file: file)
        var expected: [(name: String, tensor: Tensor)] = []
        for (key, written) in outputs.members.map({ ($0.key.string, $0.value) }) {
            guard let port = ports.outputs.first(where: { $0.key.utf8.elementsEqual(key.utf8) }) else {
                throw .golden(name: key, reason: "is no output of the model")
            }
            // Lengths of outputs may follow from the inputs in ways that no symbol tells.
            var own: [String: Int] = [:]
            expected.append((port.name, try port.tensor(try Self.bytes(written, of: port.name, file), &own)))
        }
        self.expected = expected
        relative = try Self.decimal(value, "relative")
        absolute = try Self.decimal(value, "absolute")
        isArgmax = value["argmax"] == .bool(true)
    }

    /// Reads the inputs alone, of a vector whose outputs are still to be recorded.
    ///
    /// - Throws: `InferenceError.golden` with the member that is wrong.
    package static func inputs(
        of value: JSONValue,
        ports: ModelPorts,
        file: (String) -> [UInt8]?
    ) throws(InferenceError) -> [String: Tensor] {
        guard let given = value["inputs"]?.object else {
            throw .golden(name: "inputs", reason: "must be an object")
        }
        var lengths: [String: Int] = [:]
        var inputs: [String: Tensor] = [:]
        for port in ports.inputs {
            guard let written = given[port.key] else { continue }
            let bytes = try Self.bytes(written, of: port.name, file)
            inputs[port.name] = try port.tensor(bytes, &lengths)
        }
        let known = Set(ports.inputs.map(\.key))
        if let stranger = given.members.map(\.key).first(where: { !known.contains($0.string) }) {
            throw .golden(name: stranger.string, reason: "is no input of the model")
        }
        return inputs
    }

    private static func bytes(
        _ value: JSONValue,
        of name: String,
        _ file: (String) -> [UInt8]?
    ) throws(InferenceError) -> [UInt8] {
        if let text = value["base64"]?.string {
            guard let bytes = Base64.bytes(text) else { throw .golden(name: name, reason: "is no base64") }
            return bytes
        }
        guard let path = value["file"]?.string else {
            throw .golden(name: name, reason: "has neither base64 nor a file")
        }
        guard let bytes = file(path) else {
            throw .golden(name: name, reason: "stands in \(path), which is not among the files")
        }
        return bytes
    }

    private static func decimal(_ value: JSONValue, _ key: String) throws(InferenceError) -> Double? {
        guard let member = value[key] else { return nil }
        guard let number = member.string.flatMap({ Double($0) }), number.isFinite, number >= 0 else {
            throw .golden(name: key, reason: "must be a decimal number from 0 up, as text")
        }
        return number
    }

    /// What in the answer differs from what is expected; empty when nothing does.
    ///
    /// - Parameter found: What the model gave for ``inputs``.
    /// - Returns: A sentence for each output.
    package func disagreements(with found: [String: ModelValue]) -> [String] {
        expected.compactMap { name, tensor in
            guard let answer = found[name]?.tensor else {
                return "the output '\(name)' is missing or no tensor"
            }
            guard answer.element == tensor.element, answer.count == tensor.count else {
                return "the output '\(name)' has \(answer.count) of \(answer.element.rawValue), "
                    + "expected \(tensor.count) of \(tensor.element.rawValue)"
            }
            let difference = isArgmax ? rows(answer, tensor) : elements(answer, tensor)
            return difference.map { "the output '\(name)' \($0)" }
        }
    }

    private func rows(_ answer: Tensor, _ tensor: Tensor) -> String? {
        let length = max(1, answer.shape.last ?? 1)
        let (found, wanted) = (answer.numbers, tensor.numbers)
        for start in stride(from: 0, to: found.count, by: length) {
            let row = start..<min(start + length, found.count)
            let (place, other) = (Self.greatest(found[row]), Self.greatest(wanted[row]))
            if place != other { return "is greatest at \(place) in row \(start / length), expected \(other)" }
        }
        return nil
    }

    /// The place of the first greatest number; NaN is never it.
    static func greatest(_ row: ArraySlice<Double>) -> Int {
        var place = row.startIndex
        for index in row.indices where row[index] > row[place] || row[place].isNaN { place = index }
        return place - row.startIndex
    }

    private func elements(_ answer: Tensor, _ tensor: Tensor) -> String? {
        let isFloat = tensor.widened != nil
        let absolute = absolute ?? (isFloat ? 1e-5 : 0)
        let relative = relative ?? (isFloat ? 1e-3 : 0)
        let isExact = absolute == 0 && relative == 0
        if isExact, answer.bytes == tensor.bytes { return nil }
        var worst = Worst()
        for (index, (found, wanted)) in zip(answer.numbers, tensor.numbers).enumerated() {
            guard found != wanted, !(found.isNaN && wanted.isNaN) else { continue }
            let excess = abs(found - wanted) - (absolute + relative * abs(wanted))
            // An infinity, and NaN on one side, is as far from anything as can be.
            if !(wanted.isFinite && excess <= 0) { worst.add(index, excess.isNaN ? .infinity : excess) }
        }
        guard worst.count > 0 else {
            // Bits that no number shows: the sign of a zero, the payload of a NaN, the end of a long integer.
            return isExact ? "has other bits than expected at element \(differing(answer, tensor))" : nil
        }
        let (found, wanted) = (answer.numbers[worst.index], tensor.numbers[worst.index])
        let allowed = isExact ? "exactly" : "within \(absolute) + \(relative) × it"
        return "is \(found) at element \(worst.index), expected \(wanted) \(allowed); "
            + "\(worst.count) of \(tensor.count) differ, this one most"
    }

    private func differing(_ answer: Tensor, _ tensor: Tensor) -> Int {
        let byte = zip(answer.bytes, tensor.bytes).enumerated().first { $0.element.0 != $0.element.1 }
        return (byte?.offset ?? 0) / max(1, tensor.element.size ?? 1)
    }

    /// The element that is furthest from what was expected, and how many are too far.
    private struct Worst {
        private(set) var index = 0
        private(set) var count = 0
        private var excess = -Double.infinity

        mutating func add(_ index: Int, _ excess: Double) {
            count += 1
            guard excess > self.excess else { return }
            self.excess = excess
            self.index = index
        }
    }
}

extension Port {
    /// The name as a manifest has it in `checks`.
    fileprivate var key: String { FeatureName.key(of: name) }
}

extension Tensor {
    /// The elements as numbers; 64-bit integers may lose their last digits.
    var numbers: [Double] {
        if let widened { return widened }
        return switch element {
        case .int8: (try? values(as: Int8.self))?.map { Double($0) } ?? []
        case .int16: (try? values(as: Int16.self))?.map { Double($0) } ?? []
        case .int32: (try? values(as: Int32.self))?.map { Double($0) } ?? []
        case .int64: (try? values(as: Int64.self))?.map { Double($0) } ?? []
        case .uint16: (try? values(as: UInt16.self))?.map { Double($0) } ?? []
        case .uint32: (try? values(as: UInt32.self))?.map { Double($0) } ?? []
        case .uint64: (try? values(as: UInt64.self))?.map { Double($0) } ?? []
        case .uint8, .bool: bytes.map { Double($0) }
        case .float16, .bfloat16, .float32, .float64, .string: []
        }
    }
}
