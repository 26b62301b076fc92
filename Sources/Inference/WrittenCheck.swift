package import CanonicalJSON
import Manifest

/// A golden vector as a person has it: named tensors with their shapes, before it becomes one of a manifest's `checks`.
package struct WrittenCheck: Sendable, Equatable {
    /// Where it comes from, for messages.
    package var name: String
    package var inputs: [String: Tensor]

    /// What must come out; empty when that is still to be recorded.
    package var outputs: [String: Tensor]

    /// Decimal texts; `nil` leaves the tolerance to the format.
    package var relative: String?
    package var absolute: String?

    /// Whether only the place of the greatest element counts.
    package var isArgmax: Bool

    package init(
        name: String,
        inputs: [String: Tensor],
        outputs: [String: Tensor] = [:],
        relative: String? = nil,
        absolute: String? = nil,
        isArgmax: Bool = false
    ) {
        self.name = name
        self.inputs = inputs
        self.outputs = outputs
        self.relative = relative
        self.absolute = absolute
        self.isArgmax = isArgmax
    }

    /// Whether what must come out is still to be recorded.
    package var isOpen: Bool { outputs.isEmpty }

    /// Everything that can be known without running the model.
    ///
    /// Inputs are checked as those of a call are. An output must be one of the
    /// model's, with its type and a shape that it may have. With `argmax` each
    /// row must have a greatest element, and no tolerance is stated, since none
    /// would count; a relative tolerance above 1 would find anything good.
    ///
    /// - Throws: `InferenceError` for the first that is wrong.
    package func check(against ports: ModelPorts) throws(InferenceError) {
        try ports.check(inputs)
        for (name, tensor) in outputs.sorted(by: { $0.key < $1.key }) {
            guard let port = ports.outputs.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
                let known = ports.outputs.map(\.name).joined(separator: ", ")
                throw .golden(name: name, reason: "is no output of the model, which has \(known)")
            }
            let value = ModelValue.tensor(tensor)
            guard case .tensor = port.kind, port.kind.takes(value) else {
                throw .golden(name: name, reason: "is \(value.kind); the model gives \(port.kind)")
            }
            if isArgmax { try Self.checkRows(tensor, of: name) }
        }
        for (key, text) in [("relative", relative), ("absolute", absolute)] {
            guard let text else { continue }
            guard Self.isDecimal(text) else {
                throw .golden(name: key, reason: "must be a decimal number from 0 up, such as 0.001")
            }
            guard !isArgmax else {
                throw .golden(name: key, reason: "does not go with argmax, by which no tolerance counts")
            }
        }
        if let relative, let number = Double(relative), number > 1 {
            throw .golden(name: "relative", reason: "is above 1, by which anything would be good")
        }
    }

    private static func checkRows(_ tensor: Tensor, of name: String) throws(InferenceError) {
        let length = tensor.shape.last ?? 1
        let numbers = tensor.numbers
        guard length > 0, numbers.count == tensor.count, !numbers.isEmpty else {
            throw .golden(name: name, reason: "has no greatest element, which argmax asks for")
        }
        for start in stride(from: 0, to: numbers.count, by: length)
        where numbers[start..<start + length].allSatisfy(\.isNaN) {
            throw .golden(
                name: name,
                reason: "has nothing but NaN in row \(start / length); argmax needs a greatest element"
            )
        }
    }

    /// As manifests write tolerances.
    static func isDecimal(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: 0x2E, omittingEmptySubsequences: false)
        return (1...2).contains(parts.count) && text.utf8.count <= 32
            && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy { (0x30...0x39).contains($0) } }
    }

    /// The form in which a manifest has it.
    ///
    /// - Parameter placed: Gives the value of one tensor: its bytes in base64, or the name of a file with them.
    /// - Returns: One of a manifest's `checks`.
    /// - Throws: What `placed` throws.
    package func canonical<Failure: Error>(
        _ placed: (Tensor) throws(Failure) -> JSONValue
    ) throws(Failure) -> JSONValue {
        func object(_ tensors: [String: Tensor]) throws(Failure) -> JSONValue {
            var members = JSONObject()
            for (name, tensor) in tensors { members[FeatureName.key(of: name)] = try placed(tensor) }
            return .object(members)
        }
        var members = JSONObject()
        members["inputs"] = try object(inputs)
        if !outputs.isEmpty { members["outputs"] = try object(outputs) }
        members["relative"] = relative.map { .text($0) }
        members["absolute"] = absolute.map { .text($0) }
        if isArgmax { members["argmax"] = .bool(true) }
        return .object(members)
    }

    /// Refuses what the form in a manifest could not say, since that has no shapes.
    ///
    /// - Parameters:
    ///   - read: The inputs as they come out of that form again.
    ///   - ports: By which they were read.
    /// - Throws: `InferenceError.golden` for an input that would have another shape.
    package func checkShapes(_ read: [String: Tensor], ports: ModelPorts) throws(InferenceError) {
        for (name, tensor) in inputs.sorted(by: { $0.key < $1.key }) {
            guard let found = read[name], found.shape != tensor.shape else { continue }
            throw .golden(
                name: name,
                reason:
                    "has the shape \(tensor.shape), and a manifest, which keeps elements alone, would give it "
                    + "\(found.shape): of the lengths that the model leaves open all but the last must be 1"
            )
        }
    }
}
