import CLinux
import Checking
import Glibc
import Manifest
import ModelRuntimes

/// `sealift run-checks`: the process that `sync` and `publish` start to try a model with its golden vectors.
///
/// Not for people, and in no help. It gives up everything but reading and
/// computing before it takes the first byte of its request, tells each step on
/// standard output, answers there, and ends.
enum RunChecks {
    static let name = CheckProgram.verb

    /// Ends the process: with 0 when it answered, whatever the answer says.
    static func main(_ words: [String]) -> Never {
        let numbers = words.dropFirst().compactMap { UInt64($0) }
        guard numbers.count == 3 else { end("it is started by sealift itself, with three limits") }
        // What a runtime prints must not be taken for an answer.
        let output = dup(STDOUT_FILENO)
        guard output >= 0, dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 else { end("it has no output") }
        guard clinux_confine_computing(numbers[0], numbers[1], numbers[2]) >= 0 else {
            end("could not limit itself: \(String(cString: strerror(errno)))")
        }
        guard let bytes = try? PlainStreams.input(atMost: CheckRequest.maximumLength) else {
            end("its request could not be read")
        }
        let request: CheckRequest
        do throws(ManifestError) { request = try CheckRequest(canonical: bytes) } catch { end("\(error)") }
        // The parent may have ended before this process asked to end with it.
        guard Int64(getppid()) == request.parent else { end("its parent is gone") }
        Task.detached { @Sendable in
            await run(request, output)
            exit(0)
        }
        while true { pause() }
    }

    private static func run(_ request: CheckRequest, _ output: Int32) async {
        @Sendable func tell(_ line: CheckAccount.Line) { write(Array("\(line.text)\n".utf8), to: output) }
        let runtime: ONNXRuntime
        do throws(ONNXRuntimeError) {
            runtime = try await ONNXRuntime(ONNXRuntimeLocator(path: request.runtime))
        } catch { return tell(.obstacle("\(error)")) }
        tell(.opened(name: runtime.name, version: runtime.version))
        write(await CheckRun(request).answer(by: runtime, telling: tell).canonical, to: output)
    }

    private static func write(_ bytes: [UInt8], to output: Int32) {
        guard PlainStreams.write(bytes, to: output) == 0 else { end("its answer could not be written") }
    }

    private static func end(_ reason: String) -> Never {
        Output.note("sealift \(name): \(reason)")
        exit(ExitCode.internalError.rawValue)
    }
}
