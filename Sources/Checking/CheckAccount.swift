/// What a process that runs golden vectors tells on its way: a line when the runtime is open, one when the model is
/// loaded, one before each vector, and last its answer.
///
///     opened onnxruntime 1.24.1
///     loaded
///     check 0
///     {"passed":true,"type":"sealift/check-answer@1"}
///
/// So it is known of one that crashed what it was about. Before the runtime is
/// open it may say `obstacle` and why it cannot be used.
package struct CheckAccount: Sendable, Equatable {
    package enum Line: Sendable, Equatable {
        case opened(name: String, version: String)
        case obstacle(String)
        case loaded
        case check(Int)

        package var text: String {
            switch self {
            case .opened(let name, let version): "opened \(name) \(version)"
            case .obstacle(let reason): "obstacle \(reason.split(separator: "\n").joined(separator: " "))"
            case .loaded: "loaded"
            case .check(let index): "check \(index)"
            }
        }
    }

    /// Name and version of the runtime; `nil` when it was not opened.
    let runtime: String?

    /// Why it was not.
    let obstacle: String?

    /// What the process was about when it said the last line.
    let stage: String

    /// The rest.
    let answer: [UInt8]

    private static let longestLine = 1_024

    init(_ output: [UInt8]) {
        var rest = output[...]
        var runtime: String?
        var obstacle: String?
        var stage = "while the model was loaded"
        while let end = rest.prefix(Self.longestLine).firstIndex(of: 0x0A), rest.first != 0x7B {
            let line = String(decoding: rest[..<end], as: UTF8.self)
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            let isPlain = line.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            switch words.first {
            case "opened" where words.count == 2 && isPlain && line.utf8.count <= 128: runtime = words[1]
            case "obstacle" where words.count == 2: obstacle = words[1]
            case "loaded": stage = "after the model was loaded"
            case "check" where words.count == 2:
                if let index = Int(words[1]) { stage = "in check \(index)" }
            default: break
            }
            rest = rest[rest.index(after: end)...]
        }
        self.runtime = runtime
        self.obstacle = obstacle
        self.stage = stage
        answer = Array(rest)
    }
}
