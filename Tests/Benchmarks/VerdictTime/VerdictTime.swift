import CanonicalJSON
import Manifest
import Names

/// Times what is too short for a whole process: one verdict, over and over, in this process.
///
/// Prints one JSON object a line; `run.py` reads them.
@main
enum VerdictTime {
    static func main() throws {
        for (name, ports, labels) in [("detector", 4, 1_000), ("large", 64, 0)] {
            let interface = try interface(ports: ports, labels: labels)
            let expectation = Manifest.Expectation.satisfied(by: interface)
            try print(name, expectation, interface, fits: true)
            let others = try self.interface(ports: ports, labels: labels, symbols: "size")
            try print(name + ", symbols of other names", expectation, others, fits: true)
            try print(name + ", refused", expectation, try renamed(interface), fits: false)
        }
    }

    private static func print(
        _ name: String,
        _ expectation: Manifest.Expectation,
        _ interface: Interface,
        fits: Bool
    ) throws {
        let clock = ContinuousClock()
        var times: [Double] = []
        for _ in 0..<300 {
            var verdict: Verdict?
            let time = clock.measure { verdict = Compatibility.verdict(expectation, interface) }
            guard verdict?.allowsUse == fits else { throw Trouble.verdict(name) }
            let (seconds, attoseconds) = time.components
            times.append(Double(seconds) * 1e6 + Double(attoseconds) / 1e12)
        }
        times.sort()
        let row = JSONValue.members([
            "name": .text(name), "interface": .text(String(decoding: interface.canonical, as: UTF8.self)),
            "median_ns": .integer(Int64(times[150] * 1_000)), "least_ns": .integer(Int64(times[0] * 1_000)),
            "worst_ns": .integer(Int64(times[299] * 1_000)),
        ])
        Swift.print(String(decoding: row.compactJSON, as: UTF8.self))
    }

    /// As many inputs as outputs, of four dimensions each, two of them symbols that recur.
    private static func interface(
        ports: Int,
        labels: Int,
        symbols: String = "height"
    ) throws -> Interface {
        func features(_ prefix: String) throws -> [Feature] {
            try (0..<ports).map { index in
                let shape = Shape.dimensions([
                    .symbol(try name("batch")), .fixed(3), .symbol(try name("\(symbols)_\(index % 8)")),
                    .fixed(224),
                ])
                let type = TensorType(element: .float32, shape: shape)
                return Feature(name: try name("\(prefix)_\(index)"), type: .tensor(type))
            }
        }
        let texts = (0..<labels).map { JSONText("label \($0)") }
        return Interface(
            inputs: try features("input"),
            outputs: try features("output"),
            labels: labels > 0 ? .texts(texts) : nil
        )
    }

    /// One output has another name.
    private static func renamed(_ interface: Interface) throws -> Interface {
        var other = interface
        other.outputs[1].name = try name("renamed")
        return other
    }

    private static func name(_ text: String) throws -> FeatureName {
        guard let name = FeatureName(text) else { throw Trouble.name(text) }
        return name
    }
}

enum Trouble: Error {
    case name(String)
    case verdict(String)
}
