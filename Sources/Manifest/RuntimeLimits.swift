/// What releases of runtimes read, by having tried them.
extension Machine.Runtime {
    /// One release of ONNX Runtime and the greatest versions that it loaded.
    private struct Tried {
        let release: (major: Int, minor: Int)
        let irVersion: Int64
        let operators: Int64
        let learningOperators: Int64
    }

    /// Tried with the packages on PyPI for x86-64; a release refuses whatever is stamped higher.
    private static let tried = [
        Tried(release: (1, 20), irVersion: 10, operators: 21, learningOperators: 5),
        Tried(release: (1, 22), irVersion: 10, operators: 22, learningOperators: 5),
        Tried(release: (1, 23), irVersion: 11, operators: 23, learningOperators: 5),
        Tried(release: (1, 24), irVersion: 13, operators: 25, learningOperators: 5),
        Tried(release: (1, 31), irVersion: 13, operators: 26, learningOperators: 5),
        Tried(release: (1, 32), irVersion: 14, operators: 28, learningOperators: 5),
    ]

    /// A runtime by its name and version.
    ///
    /// A release of ONNX Runtime between two of the table reads at most what
    /// the later of them does, and nothing is known of those after the last.
    /// `nil` for a name that is neither, or a version that is none.
    ///
    /// - Parameters:
    ///   - name: `onnxruntime` or `tflite`.
    ///   - version: Such as `1.24.1`.
    package init?(named name: String, version: String) {
        let numbers = version.split(separator: ".").prefix(2).compactMap { Int($0) }
        guard numbers.count == 2, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        switch name {
        case "onnxruntime":
            self.init(name: name, version: version, formats: [.onnx])
            let release = (numbers[0], numbers[1])
            guard let limits = Self.tried.first(where: { $0.release >= release }) else { return }
            irVersion = limits.irVersion
            opsets = ["ai.onnx": limits.operators, "ai.onnx.ml": limits.learningOperators]
        case "tflite": self.init(name: name, version: version, formats: [.tflite])
        default: return nil
        }
    }
}
