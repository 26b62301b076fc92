import Blocking
import DeviceSupport
import Foundation
import Generations
import Glibc
import Names
import Support
import Testing

/// What the library promises in numbers, each in a process of its own: other tests take memory too.
@Suite("Model library: what is measured", .serialized, .withRuntime)
struct MeasuredTests {
    /// Runs a measurement of `library-time` on a model of 192 MiB.
    private func row(_ name: String, rounds: Int = 1, limits: [ResourceLimit] = []) async throws -> Row {
        let scratch = Scratch()
        let result = try await run([scratch.path, name, "\(rounds)"], limits: limits)
        #expect(result.ending == .exited(0), "\(result.errorText)")
        let line = try #require(result.outputText.split(separator: "\n").last)
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
        return Row(members: try #require(object as? [String: Any]))
    }

    private func run(_ words: [String], limits: [ResourceLimit] = []) async throws -> ChildResult {
        let own = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        let folder = own.deletingLastPathComponent().path
        let runtime = try #require(RealDevice.runtimePath)
        var child = ChildProcess("\(folder)/library-time", [runtime] + words)
        child.deadline = 300
        child.limits = limits
        return try await child.run()
    }

    @Test(
        "a version that takes its process down when it is loaded does so once, and the one before answers the next"
    )
    func crash() async throws {
        let real = try ModelDevice()
        let work = Scratch()
        for version in ["1.0.0", "1.1.0"] {
            let files = try ModelDevice.files(rows: 8, columns: 8, marker: version, in: work)
            try real.activate("bench/small", version, files)
        }
        for _ in 0..<2 {
            let first = try await run([real.device.path, "crash"])
            #expect(first.ending == .signalled(SIGABRT), "\(first.errorText)")
        }
        #expect(try real.device.note(Quarantine.self).entries.isEmpty, "nobody was there to note it")
        for _ in 0..<2 {
            let next = try await run([real.device.path, "crash"])
            #expect(next.ending == .exited(0), "\(next.errorText)")
            #expect(next.outputText.contains("\"version\": \"1.0.0\""))
        }
        let entries = try real.device.note(Quarantine.self).entries
        #expect(entries.map { "\($0.version)" } == ["1.1.0"])
        #expect(entries.first?.reason.contains("2 processes in a row ended while they loaded it") == true)
    }

    @Test("a process that ends in good order while it loads a version says nothing against that")
    func orderlyEnd() async throws {
        let real = try ModelDevice()
        let files = try ModelDevice.files(rows: 8, columns: 8, marker: "1.2.0", in: Scratch())
        let identity = try real.activate("bench/small", "1.2.0", files)
        for _ in 0..<3 {
            let result = try await run([real.device.path, "crash"])
            #expect(result.ending == .exited(3), "\(result.errorText)")
        }
        #expect(real.device.loadHistory(of: identity.manifest) == LoadHistory(crashes: 0, hasLoaded: false))
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
