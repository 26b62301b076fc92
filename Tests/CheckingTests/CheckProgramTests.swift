import CanonicalJSON
import Checking
import Durable
import Inference
import Manifest
import Names
import Support
import Testing

@Suite("Golden vectors in another process")
struct CheckProgramTests {
    private let scratch = Scratch()

    private func request(_ wish: CheckRequest.Wish = .compare) throws -> CheckRequest {
        CheckRequest(
            runtime: "/",
            entry: "/model.onnx",
            interface: Interface(inputs: [], outputs: []),
            checks: [.members(["inputs": .members([:])])],
            wish: wish,
            parent: 1
        )
    }

    /// What comes of a shell script in the place of the program.
    private func verdict(
        _ script: String,
        _ wish: CheckRequest.Wish = .compare,
        seconds: Double = 30
    ) async throws -> CheckProgram.Verdict {
        let text = "#!/bin/sh\n\(script)\n"
        let path = try scratch.write("program", Array(text.utf8), mode: 0o755)
        var program = CheckProgram(path, library: "/usr/lib/libonnxruntime.so")
        program.limits.seconds = seconds
        return try await program.verdict(on: try request(wish), length: 1)
    }

    /// A script that opens the runtime, comes to the first vector, and then does `rest`.
    private func begun(_ rest: String) -> String { "printf 'opened fake 1.0\\nloaded\\ncheck 0\\n'\n\(rest)" }

    private func answer(_ outcome: CheckAnswer.Outcome) -> String {
        begun("printf '%s' '\(String(decoding: CheckAnswer(outcome).canonical, as: UTF8.self))'")
    }

    @Test("an answer is taken with the runtime that gave it")
    func answers() async throws {
        #expect(try await verdict(answer(.passed)) == .passed(runtime: "fake 1.0"))
        #expect(
            try await verdict(answer(.failed("check 0: no")))
                == .failed(runtime: "fake 1.0", reason: "check 0: no")
        )
        #expect(
            try await verdict(answer(.recorded([["y": [1, 2]]])), .record)
                == .recorded(runtime: "fake 1.0", [["y": [1, 2]]])
        )
        await #expect(throws: CheckError.unreadable("the disk")) {
            try await verdict(answer(.unreadable("the disk")))
        }
    }

    @Test(
        "a crash, a hang, silence and nonsense that come twice are failures, and it is said of which vector",
        arguments: [
            ("kill -SEGV $$", "in check 0, the process that ran it was ended by signal 11"),
            ("while :; do :; done", "in check 0, the process that ran it did not end within 1.0 seconds"),
            ("sleep 60", "did not end within 1.0 seconds"), ("exit 70", "ended with exit code 70"),
            ("exit 0", "gave no sound answer"), ("echo '{}'", "gave no sound answer"),
            ("head -c 80000000 /dev/zero", "gave no sound answer"),
            (
                #"printf '{"passed":true,"trusted":true,"type":"sealift/check-answer@1"}'"#,
                "gave no sound answer"
            ),
            (#"printf '{"recorded":[{}],"type":"sealift/check-answer@1"}'"#, "answered another question"),
        ]
    )
    func failures(_ rest: String, _ text: String) async throws {
        let verdict = try await verdict(begun(rest), seconds: text.contains("1.0 s") ? 1 : 30)
        guard case .failed(runtime: "fake 1.0", let reason) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(reason.contains(text), "\(reason)")
    }

    @Test("a kill by the system that comes twice says nothing of the model, and is told apart")
    func killed() async throws {
        guard case .killed(runtime: "fake 1.0", let reason) = try await verdict(begun("kill -KILL $$")) else {
            Issue.record("taken for something else")
            return
        }
        let text = "in check 0, the process that ran it was ended by the system"
        #expect(reason.hasPrefix(text), "\(reason)")
    }

    @Test(
        "a kill and a crash are one of each, and the third process decides",
        arguments: [["KILL", "SEGV"], ["SEGV", "KILL"]],
        ["KILL", "SEGV", ""]
    )
    func each(_ signals: [String], _ last: String) async throws {
        let mark = scratch.path("mark")
        // It can make files, and write nothing into them.
        let rest = """
            if [ ! -e \(mark)1 ]; then touch \(mark)1; kill -\(signals[0]) $$; fi
            if [ ! -e \(mark)2 ]; then touch \(mark)2; kill -\(signals[1]) $$; fi
            \(last.isEmpty ? "" : "kill -\(last) $$")
            """
        let answer = String(decoding: CheckAnswer(.passed).canonical, as: UTF8.self)
        switch (last, try await verdict(begun("\(rest)\nprintf '%s' '\(answer)'"))) {
        case ("KILL", .killed), ("SEGV", .failed), ("", .passed): break
        case (_, let verdict): Issue.record("\(verdict)")
        }
    }

    @Test(
        "more memory than the process may take, each time, is what the model does",
        arguments: ["echo \"terminate called: 'std::bad_alloc'\" >&2; kill -ABRT $$", "exit 2"]
    )
    func noMemory(_ rest: String) async throws {
        let verdict = try await verdict(begun(rest))
        guard case .failed(runtime: "fake 1.0", _) = verdict else {
            Issue.record("\(verdict)")
            return
        }
    }

    @Test("what a runtime cannot do here is no failure of the model")
    func untried() async throws {
        let reason = "check 0: the call cannot be made: no memory"
        #expect(try await verdict(answer(.untried(reason))) == .notRun("with fake 1.0, \(reason)"))
    }

    @Test("a crash that comes once is none: the second answer counts", arguments: ["SEGV", "ABRT", "KILL"])
    func once(_ signal: String) async throws {
        let mark = scratch.path("mark")
        let rest = "if [ ! -e \(mark) ]; then touch \(mark); kill -\(signal) $$; fi"
        let answer = String(decoding: CheckAnswer(.passed).canonical, as: UTF8.self)
        #expect(try await verdict(begun("\(rest)\nprintf '%s' '\(answer)'")) == .passed(runtime: "fake 1.0"))
    }

    @Test(
        "what ends before the runtime is open says nothing of the model",
        arguments: [
            ("kill -SEGV $$", "was ended by signal 11"), ("exit 0", "it said nothing"),
            ("echo obstacle too old; exit 0", "too old"),
            ("exit 70", "ended with exit code 70"), ("echo loaded; exit 1", "ended with exit code 1"),
        ]
    )
    func unusable(_ script: String, _ text: String) async throws {
        guard case .notRun(let reason) = try await verdict(script) else {
            Issue.record("not told as a runtime that is none")
            return
        }
        #expect(reason.contains("libonnxruntime.so could not be used") && reason.contains(text), "\(reason)")
    }

    @Test("a program that is not there is no verdict")
    func missing() async throws {
        let program = CheckProgram("/nowhere/sealift", library: "/lib.so")
        await #expect(throws: CheckError.self) {
            try await program.verdict(on: try request(), length: 1)
        }
    }

    @Test("it inherits no variable but what a runtime needs, and may use what the model's size allows")
    func bounds() async throws {
        let script = begun("echo \"$2 $3 $4 $(env | grep -c HOME=)\" >&2; exit 9")
        let path = try scratch.write("program", Array("#!/bin/sh\n\(script)\n".utf8), mode: 0o755)
        var program = CheckProgram(path, library: "/lib.so")
        program.limits.memory = .mebibytes(100)
        let verdict = try await program.verdict(on: try request(), length: 1 << 20)
        guard case .failed(_, let reason) = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(reason.contains("it said: 109051904 121 256 0"), "\(reason)")
    }

    @Test("a request and an answer have one form, and what is no such form is refused")
    func documents() throws {
        var request = try request()
        let path = try #require(FilePath("a/b.vector"))
        request.files = [path: "/a/b.vector"]
        #expect(try CheckRequest(canonical: request.canonical) == request)
        request.files = [path: "relative"]
        #expect(throws: ManifestError.self) { try CheckRequest(canonical: request.canonical) }
        for outcome in [.passed, .failed("a"), .untried("c"), .unreadable("b"), .recorded([["y": [1]]])]
            as [CheckAnswer.Outcome]
        {
            #expect(try CheckAnswer(canonical: CheckAnswer(outcome).canonical).outcome == outcome)
        }
        for text in [
            "{}", #"{"type":"sealift/check-answer@1"}"#,
            #"{"passed":false,"type":"sealift/check-answer@1"}"#,
            #"{"failed":"a","passed":true,"type":"sealift/check-answer@1"}"#,
            #"{"recorded":[{"y":"?"}],"type":"sealift/check-answer@1"}"#,
        ] {
            #expect(throws: ManifestError.self, "\(text)") { try CheckAnswer(canonical: Array(text.utf8)) }
        }
    }
}
