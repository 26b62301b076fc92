import Blocking
import Foundation
import Names
import Support
import Testing

/// What the library promises in numbers, each in a process of its own: other tests take memory too.
@Suite(
    "Model library: what is measured",
    .serialized,
    .enabled(if: RealDevice.runtimePath != nil, Comment(rawValue: RealDevice.absent))
)
struct MeasuredTests {
    /// Runs a measurement of `library-time` on a model of 192 MiB.
    private func row(_ name: String, rounds: Int = 1, limits: [ResourceLimit] = []) async throws -> Row {
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let folder = own.deletingLastPathComponent().path
        let scratch = Scratch()
        let runtime = try #require(RealDevice.runtimePath)
        var child = ChildProcess("\(folder)/library-time", [runtime, scratch.path, name, "\(rounds)"])
        child.deadline = 300
        child.limits = limits
        let result = try await child.run()
        #expect(result.ending == .exited(0), "\(result.errorText)")
        let line = try #require(result.outputText.split(separator: "\n").last)
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
        return Row(members: try #require(object as? [String: Any]))
    }

    @Test("a hundred callers of a model that is not in memory cause one load and get a hundred answers")
    func callers() async throws {
        let row = try await row("callers")
        #expect(row.number("loads") == 1)
        #expect(row.number("answers") == 100)
    }

    @Test("two models in turn leave no more memory behind each time, and nothing when both are gone")
    func memory() async throws {
        let row = try await row("memory", rounds: Soak.rounds(6, whole: 50))
        #expect(try #require(row.number("drift")) < 0.05)
        #expect(try #require(row.number("left_mb")) < 10)
    }

    @Test(
        "requests at a hundred a second through hot swaps, one of them to a broken version, are all answered"
    )
    func swaps() async throws {
        let rounds = Soak.rounds(8, whole: 50)
        let row = try await row("swaps", rounds: rounds)
        #expect(row.number("failed") == 0)
        #expect(try #require(row.number("requests")) > Double(rounds) * 10)
        #expect(row.text("last") == "1.0.\(rounds)")
        #expect(row.text("quarantined") == "1.0.\(rounds / 2)")
        #expect(row.number("residents") == 1)
    }

    @Test("a model that is larger than the process may be is a typed error, and the process lives")
    func limit() async throws {
        let row = try await row("limit", limits: [.addressSpace(.mebibytes(700))])
        let error = try #require(row.text("error"))
        #expect(error.contains("bench/first 1.0.0 needs"))
        #expect(error.contains("the limit on address space"))
    }
}

/// What one measurement printed.
private struct Row {
    let members: [String: Any]

    func number(_ name: String) -> Double? { (members[name] as? NSNumber)?.doubleValue }
    func text(_ name: String) -> String? { members[name] as? String }
}
