import Blocking
import Glibc
import Names
import Testing

@Suite("Child processes")
struct ChildProcessTests {
    @Test("outputs, exit code, environment and directory are the child's own")
    func runs() async throws {
        var child = ChildProcess("/bin/sh", ["-c", "echo \"$WORD\"; pwd; echo bad >&2; cat; exit 7"])
        child.environment = ["WORD": "hello"]
        child.directory = "/usr"
        let result = try await child.run()
        #expect(result.ending == .exited(7))
        #expect(result.outputText == "hello\n/usr\n")
        #expect(result.errorText == "bad\n")
    }

    @Test("a child reads exactly what it is given, also more than a pipe holds")
    func input() async throws {
        var child = ChildProcess("/usr/bin/wc", ["-c"])
        child.input = [UInt8](repeating: 10, count: 300_000)
        let result = try await child.run()
        #expect(result.outputText == "300000\n")
        child.input = []
        #expect(try child.result().outputText == "0\n")
    }

    @Test("a child that overruns is killed with its own children")
    func overruns() async throws {
        var child = ChildProcess("/bin/sh", ["-c", "sleep 60 & echo started; sleep 60"])
        child.deadline = 0.3
        let result = try await child.run()
        #expect(result.ending == .overran(seconds: 0.3))
        #expect(result.outputText == "started\n")
    }

    @Test("output beyond the limit is dropped and does not block the child")
    func limitedOutput() async throws {
        var child = ChildProcess("/bin/sh", ["-c", "head -c 500000 /dev/zero"])
        child.outputLimit = ByteCount(1_000)
        let result = try await child.run()
        #expect(result.ending == .exited(0))
        #expect(result.output.count == 1_000)
    }

    @Test("limits hold in the child")
    func limits() async throws {
        var child = ChildProcess("/bin/sh", ["-c", "sleep 0.2; ulimit -n; ulimit -t; ulimit -v; ulimit -f"])
        child.limits = [
            .openFiles(16), .processorSeconds(5), .addressSpace(.mebibytes(512)), .fileSize(ByteCount(1_024)),
        ]
        #expect(try await child.run().outputText == "16\n5\n524288\n2\n")
    }

    @Test("a child that takes more processor time than it may is ended by the signal that says so")
    func processorTime() async throws {
        var child = ChildProcess("/bin/sh", ["-c", "while :; do :; done"])
        child.limits = [.processorSeconds(1)]
        child.deadline = 50
        #expect(try await child.run().ending == .signalled(SIGXCPU))
    }

    @Test("a program that is not there is named")
    func absent() async {
        await #expect(throws: ChildProcessError.self) { try await ChildProcess("/nonexistent/program").run() }
    }

    @Test("cancelling kills the child")
    func cancelled() async throws {
        let start = MonotonicTime.now
        let task = Task { try await ChildProcess("/bin/sleep", ["60"]).run() }
        try await Blocking.sleep(seconds: 0.05)
        task.cancel()
        await #expect(throws: ChildProcessError.cancelled) { try await task.value }
        #expect(MonotonicTime.now.seconds(since: start) < 30)
    }
}
