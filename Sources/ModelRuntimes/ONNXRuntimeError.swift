public import Inference

/// Why ONNX Runtime could not be opened, or refused a model or a call.
public enum ONNXRuntimeError: Error, Equatable, Sendable {
    /// The library is in none of the places that were looked at.
    case notFound(searched: [String])

    /// The library was found but will not be opened: others could have written it, or it is no file.
    case refused(path: String, reason: String)

    /// The file is no ONNX Runtime library of this machine.
    case notUsable(path: String, reason: String)

    /// The library is older than what Sealift needs.
    case tooOld(path: String, found: String, needed: String)

    /// This process opened another copy before; one process runs one copy.
    case anotherIsOpen(open: String, asked: String)

    /// ONNX Runtime answered with an error; `code` is its own.
    case failed(operation: String, code: Int32, message: String)

    /// The model takes or gives something that this adapter does not carry.
    case unsupported(port: String, what: String)
}

extension ONNXRuntimeError: RuntimeFailure {
    /// Whether the same files would fail again: not where memory, threads or
    /// descriptors ran out, and not where this version of the runtime lacks
    /// something that another one has.
    public var isModelAtFault: Bool {
        switch self {
        case .failed(_, let code, _):
            code != Self.notImplemented && !isForWantOfMemory
                && !Self.passing.contains { said.contains($0) }
        case .unsupported: true
        case .notFound, .refused, .notUsable, .tooOld, .anotherIsOpen: false
        }
    }

    /// Whether memory ran out, by what ONNX Runtime and the system say then.
    public var isForWantOfMemory: Bool {
        Self.wants.contains { said.contains($0) }
    }

    /// What ONNX Runtime itself says where something may have run out, without
    /// the names that the model's publisher gave to its files and nodes: those
    /// must not excuse it.
    private var said: Substring {
        guard case .failed(let operation, let code, let message) = self, !Self.verdicts.contains(code) else {
            return ""
        }
        var said = message[...]
        let load = "load "
        if operation.hasPrefix(load) {
            let opening = "Load model from \(operation.dropFirst(load.count)) failed:"
            if said.hasPrefix(opening) { said = said.dropFirst(opening.count) }
        }
        if let status = said.ranges(of: "Status Message: ").last { said = said[status.upperBound...] }
        return said
    }

    /// Codes by which it says that the model or the call is wrong, whatever the text is: an invalid argument, no
    /// model, no protocol buffer, an invalid graph.
    private static let verdicts: Set<Int32> = [2, 4, 7, 10]

    private static let wants = [
        "bad_alloc", "bad allocation", "Failed to allocate", "Cannot allocate memory", "out of memory",
    ]

    /// `ORT_NOT_IMPLEMENTED`.
    private static let notImplemented: Int32 = 9

    /// What they say when something else ran out, or is of a later version.
    private static let passing = [
        "Resource temporarily unavailable", "Too many open files", "pthread_create",
        "Unsupported model IR version", "is under development and support for this is limited",
    ]
}

extension ONNXRuntimeError: CustomStringConvertible {
    /// What to type to get a library that Sealift takes.
    public static let installation = """
        python3 -m venv .venv && .venv/bin/pip install 'onnxruntime>=1.24,<1.29', \
        then set SEALIFT_ORT_DIR to the absolute path of .venv
        """

    /// For people.
    public var description: String {
        switch self {
        case .notFound, .tooOld: "\(found). Install it: \(Self.installation)"
        case .refused: "\(found). Correct that, or install it: \(Self.installation)"
        case .notUsable: "\(found). Install one: \(Self.installation)"
        case .anotherIsOpen, .failed, .unsupported: found
        }
    }

    /// What is so, without what to do about it.
    package var found: String {
        switch self {
        case .notFound(let searched):
            "ONNX Runtime is not installed where Sealift looks (\(searched.joined(separator: ", ")))"
        case .refused(let path, let reason): "ONNX Runtime at \(path) is refused: \(reason)"
        case .notUsable(let path, let reason): "\(path) is not a usable ONNX Runtime: \(reason)"
        case .tooOld(let path, let found, let needed):
            "ONNX Runtime at \(path) is \(found), Sealift needs \(needed)"
        case .anotherIsOpen(let open, let asked):
            "this process runs ONNX Runtime from \(open) already and cannot also open \(asked)"
        case .failed(let operation, let code, let message):
            "ONNX Runtime could not \(operation): \(message) (code \(code))"
        case .unsupported(let port, let what): "'\(port)' is \(what), which Sealift does not carry"
        }
    }
}
