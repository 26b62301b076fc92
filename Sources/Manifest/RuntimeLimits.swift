/// What releases of runtimes read.
extension Machine.Runtime {
    /// One release of ONNX Runtime and the greatest versions that it loads.
    private struct Reads {
        let release: (major: Int, minor: Int)
        let irVersion: Int64
        let operators: Int64
        let learningOperators: Int64
    }

    /// From 1.15 on tried with the packages on PyPI for x86-64; a release refuses whatever is stamped higher.
    ///
    /// Older ones as the version matrix of ONNX Runtime's documentation has
    /// them, the lower number where two editions of it differ.
    private static let known = [
        Reads(release: (1, 2), irVersion: 6, operators: 11, learningOperators: 2),
        Reads(release: (1, 5), irVersion: 6, operators: 12, learningOperators: 2),
        Reads(release: (1, 7), irVersion: 7, operators: 13, learningOperators: 2),
        Reads(release: (1, 8), irVersion: 7, operators: 14, learningOperators: 2),
        Reads(release: (1, 10), irVersion: 7, operators: 15, learningOperators: 2),
        Reads(release: (1, 11), irVersion: 7, operators: 16, learningOperators: 2),
        Reads(release: (1, 13), irVersion: 8, operators: 17, learningOperators: 3),
        Reads(release: (1, 14), irVersion: 8, operators: 18, learningOperators: 3),
        Reads(release: (1, 15), irVersion: 9, operators: 18, learningOperators: 3),
        Reads(release: (1, 16), irVersion: 9, operators: 19, learningOperators: 3),
        Reads(release: (1, 17), irVersion: 9, operators: 20, learningOperators: 4),
        Reads(release: (1, 20), irVersion: 10, operators: 21, learningOperators: 5),
        Reads(release: (1, 22), irVersion: 10, operators: 22, learningOperators: 5),
        Reads(release: (1, 23), irVersion: 11, operators: 23, learningOperators: 5),
        Reads(release: (1, 24), irVersion: 13, operators: 25, learningOperators: 5),
        Reads(release: (1, 31), irVersion: 13, operators: 26, learningOperators: 5),
        Reads(release: (1, 32), irVersion: 14, operators: 28, learningOperators: 5),
    ]

    /// A runtime by its name and version.
    ///
    /// A release of ONNX Runtime between two of the table reads at most what
    /// the later of them does. Those after the last read what it does and more
    /// that is not known, so nothing is refused because of them. `nil` for a
    /// name that is neither, a version that is none, and an ONNX Runtime before
    /// 1.0, of which nothing is known.
    ///
    /// - Parameters:
    ///   - name: `onnxruntime` or `tflite`.
    ///   - version: Such as `1.24.1`.
    package init?(named name: String, version: String) {
        let numbers = version.split(separator: ".").prefix(2).compactMap { Int($0) }
        guard numbers.count == 2, numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        switch name {
        case "onnxruntime":
            guard numbers[0] > 0 else { return nil }
            self.init(name: name, version: version, formats: [.onnx])
            let release = (numbers[0], numbers[1])
            guard let limits = Self.known.first(where: { $0.release >= release }) else { return }
            irVersion = limits.irVersion
            opsets = ["ai.onnx": limits.operators, "ai.onnx.ml": limits.learningOperators]
        case "tflite": self.init(name: name, version: version, formats: [.tflite])
        default: return nil
        }
    }
}
