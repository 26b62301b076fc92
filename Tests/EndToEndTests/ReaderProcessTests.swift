import Durable
import Glibc
import Names
import Support
import SyncAgent
import Testing

extension EndToEnd {
    @Suite("The process that reads received models", .serialized)
    struct ReaderProcessTests {
        /// The program, started by a shell that waits for it, with its request not yet written.
        private func started(
            _ world: World,
            _ words: String = "read-model"
        ) throws -> (shell: Child, reader: pid_t, request: Int32) {
            let pipe = world.scratch.path("request")
            guard mkfifo(pipe, 0o600) == 0 else { throw Trouble("no pipe") }
            // Held open for both ways, so that nobody waits for the other and nothing ends yet.
            let request = open(pipe, O_RDWR | O_CLOEXEC)
            let script = "\"$0\" \(words) < \"$1\" & echo $!; wait"
            let shell = try Child(
                "/bin/sh",
                ["-c", script, world.program, pipe],
                environment: [:],
                folder: world.scratch.path
            )
            let reader = try shell.waits(20, for: "process") { text in
                text.hasSuffix("\n") ? pid_t(text.dropLast()) : nil
            }
            return (shell, reader, request)
        }

        private func status(_ name: String, of process: pid_t) -> String? {
            let bytes = try? Durable.readFile("/proc/\(process)/\(name)", maximum: .kibibytes(64))
            return bytes.map { String(decoding: $0, as: UTF8.self) }
        }

        /// Tries for at most 20 s.
        private func eventually(_ what: String, _ isSo: () -> Bool) throws {
            for _ in 0..<4_000 {
                if isSo() { return }
                usleep(5_000)
            }
            throw Trouble("not within 20 s: \(what)")
        }

        @Test("it gives up everything but reading before its request comes, and ends with its parent")
        func confined() throws {
            let world = try World()
            let (shell, reader, request) = try started(world)
            defer { close(request) }
            try eventually("no new privileges") {
                status("status", of: reader)?.contains("NoNewPrivs:\t1") == true
            }
            try eventually("system calls are bounded") {
                status("status", of: reader)?.contains("Seccomp:\t2") == true
            }
            let limits = try #require(status("limits", of: reader)).split(separator: "\n").map { line in
                line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
            for expected in [
                "Max cpu time 20 25 seconds", "Max file size 0 0 bytes", "Max core file size 0 0 bytes",
                "Max processes 0 0 processes", "Max open files 64 64 files",
                "Max address space 536870912 536870912 bytes",
            ] {
                #expect(limits.contains(expected), "\(limits)")
            }
            shell.signal(SIGKILL)
            try eventually("it ends") {
                status("stat", of: reader).map { $0.contains(") Z ") } ?? true
            }
        }

        @Test(
            "the one that runs golden vectors may compute as well, within what it was told, and nothing else"
        )
        func computing() throws {
            let world = try World()
            let (shell, reader, request) = try started(world, "run-checks 1073741824 7 99")
            defer { close(request) }
            try eventually("system calls are bounded") {
                status("status", of: reader)?.contains("Seccomp:\t2") == true
            }
            #expect(status("status", of: reader)?.contains("NoNewPrivs:\t1") == true)
            let limits = try #require(status("limits", of: reader)).split(separator: "\n").map { line in
                line.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            }
            for expected in [
                "Max cpu time 7 12 seconds", "Max file size 0 0 bytes", "Max core file size 0 0 bytes",
                "Max open files 99 99 files", "Max address space 1073741824 1073741824 bytes",
            ] {
                #expect(limits.contains(expected), "\(limits)")
            }
            #expect(status("oom_score_adj", of: reader) == "1000\n")
            shell.signal(SIGKILL)
            try eventually("it ends") {
                status("stat", of: reader).map { $0.contains(") Z ") } ?? true
            }
            try world.run(["run-checks"]).expecting(70)
            try world.run(["run-checks", "1073741824", "7", "99"]).expecting(70)
            #expect(try !world.run(["help"]).output.contains("run-checks"))
        }

        @Test("without a parent that waits for the answer, or a sound request, it reads nothing")
        func alone() throws {
            let world = try World()
            let outcome = try world.run(["read-model"]).expecting(70)
            #expect(outcome.output.isEmpty)
            #expect(try !world.run(["help"]).output.contains("read-model"))
        }

        @Test(
            "a program with too little memory is a refusal, and the old version stays; with enough it is taken"
        )
        func memory() async throws {
            let world = try World()
            try world.created()
            try world.serve()
            for (label, version) in [("a", "1.0.0"), ("b", "1.1.0")] {
                let file = try world.scratch.write("\(label).onnx", TestModel.bytes(label: label))
                try world.publish(file, version).expecting(0)
                if version == "1.0.0" { try world.sync().expecting(0) }
            }
            var configuration = try world.syncConfiguration()
            configuration.readerProgram = world.program
            configuration.reader?.limits.memory = .mebibytes(1)
            let refused = try await SyncAgent(configuration: configuration).sync()
            #expect(refused.exitCode == 1, "\(refused)")
            #expect(refused.models[0].failure?.message.contains("the process that read it") == true)
            #expect(try world.activeVersion() == "1.0.0")
            configuration.readerProgram = world.program
            let taken = try await SyncAgent(configuration: configuration).sync()
            #expect(taken.exitCode == 0, "\(taken)")
            #expect(try world.activeVersion() == "1.1.0")
        }
    }
}
