import Blocking
import Glibc
package import Manifest
package import Names

/// The program that runs golden vectors in a process of its own.
///
/// A model is a program of a stranger, and its runtime a large library in C++:
/// what a model does there must not happen to whoever publishes or receives
/// it. The process may compute and read, with bounded memory and time, and can
/// neither write, nor start another, nor reach a network. Its answer is taken
/// like bytes from outside, and so is its silence: once the runtime is open, a
/// crash, a hang or more memory than it may take, when it comes twice, is what
/// the model does. A kill by the system is not, and is told apart when it comes
/// twice, nor is what a runtime cannot do here: nothing is known of the model then.
package struct CheckProgram: Sendable, Equatable {
    /// How much the process may use.
    package struct Limits: Sendable, Equatable {
        /// Address space for the program, the runtime and small models.
        package var memory = ByteCount.mebibytes(1_024)

        /// What a model may take besides, for each byte of its files.
        package var memoryPerByte: UInt64 = 4

        /// Until it is killed, whatever it does.
        package var seconds = 120.0

        /// Seconds more for each GiB of files.
        package var secondsPerGibibyte = 60.0
        package var openFiles: UInt64 = 256

        package init() {}
    }

    /// What makes `sealift` such a process; its first argument.
    package static let verb = "run-checks"

    package var path: String

    /// The runtime's library, whose owner and mode were looked at.
    package var library: String
    package var limits = Limits()

    package init(_ path: String, library: String) {
        self.path = path
        self.library = library
    }

    /// What came of it.
    package enum Verdict: Sendable, Equatable {
        /// All vectors were reproduced, by this runtime.
        case passed(runtime: String)

        /// One was not, or the model crashed or hung each time; why, for people.
        case failed(runtime: String, reason: String)

        /// The elements of each vector's outputs.
        case recorded(runtime: String, [[String: [UInt8]]])

        /// The system ended it each time, which may be for want of memory of any other program; how, for people.
        case killed(runtime: String, reason: String)

        /// It could not be tried here, which says nothing of the model; why, for people.
        case notRun(String)
    }

    /// Runs the golden vectors in `request`.
    ///
    /// - Parameters:
    ///   - request: Its runtime and parent are filled in here.
    ///   - length: Bytes of the model's files.
    ///   - memory: What the model's publisher states that it takes, if anything.
    /// - Returns: What came of it.
    /// - Throws: `CheckError` when the system could not, or the task was cancelled: nothing is known then.
    package func verdict(
        on request: CheckRequest,
        length: UInt64,
        memory: MemoryNeed? = nil
    ) async throws(CheckError) -> Verdict {
        var request = request
        request.runtime = library
        request.parent = Int64(getpid())
        var child = child(for: length, memory)
        child.input = request.canonical
        // What a machine does once under load, a model does each time: the ending that comes twice counts.
        var endings: [Ending] = []
        while true {
            switch try await attempt(child, request) {
            case .verdict(let verdict): return verdict
            case .unreadable(let reason): throw .unreadable(reason)
            case .ended(let ending, let runtime, let reason):
                guard endings.contains(ending) else {
                    endings.append(ending)
                    continue
                }
                switch ending {
                case .killed: return .killed(runtime: runtime, reason: reason)
                case .troubled: return .failed(runtime: runtime, reason: reason)
                }
            }
        }
    }

    /// How a process ends without an answer.
    private enum Ending: Equatable {
        /// The system ended it.
        case killed

        /// It crashed, hung or spoke nonsense.
        case troubled
    }

    /// What came of one process.
    private enum Attempt {
        case verdict(Verdict)
        case ended(Ending, runtime: String, reason: String)
        case unreadable(String)
    }

    private func attempt(
        _ child: ChildProcess,
        _ request: CheckRequest
    ) async throws(CheckError) -> Attempt {
        let result: ChildResult
        do { result = try await child.run() } catch {
            switch error {
            case .cancelled: throw .cancelled
            case .notStarted: throw .notStarted("the program that runs checks: \(error)")
            }
        }
        let account = CheckAccount(result.output)
        guard let runtime = account.runtime else {
            let reason = result.trouble.map { "the process that opened it \($0)" } ?? "it said nothing"
            return .verdict(.notRun("\(library) could not be used: \(account.obstacle ?? reason)"))
        }
        if let trouble = result.trouble {
            let reason = "\(account.stage), the process that ran it \(trouble)"
            // The system kills without a word where memory runs out that is not the process's own.
            let ending: Ending = result.ending == .signalled(SIGKILL) ? .killed : .troubled
            return .ended(ending, runtime: runtime, reason: reason)
        }
        let answer: CheckAnswer
        do throws(ManifestError) { answer = try CheckAnswer(canonical: account.answer) } catch {
            return .ended(
                .troubled,
                runtime: runtime,
                reason: "\(account.stage), the process that ran it gave no sound answer: \(error)"
            )
        }
        switch answer.outcome {
        case .passed where request.wish == .compare: return .verdict(.passed(runtime: runtime))
        case .failed(let reason): return .verdict(.failed(runtime: runtime, reason: reason))
        case .untried(let reason): return .verdict(.notRun("with \(runtime), \(reason)"))
        case .unreadable(let reason): return .unreadable(reason)
        case .recorded(let vectors) where request.wish == .record && vectors.count == request.checks.count:
            return .verdict(.recorded(runtime: runtime, vectors))
        case .passed, .recorded:
            return .ended(
                .troubled,
                runtime: runtime,
                reason: "the process that ran it answered another question"
            )
        }
    }

    private func child(for length: UInt64, _ memory: MemoryNeed?) -> ChildProcess {
        let share = length.multipliedReportingOverflow(by: limits.memoryPerByte)
        let stated = memory.map { max($0.peak, $0.resident) } ?? 0
        let needed = max(share.overflow ? UInt64.max / 2 : share.partialValue, stated)
        let most = limits.memory.rawValue + min(needed, UInt64.max / 2)
        let seconds = limits.seconds + limits.secondsPerGibibyte * Double(length >> 20) / 1_024
        let processor = UInt64(seconds.rounded(.up))
        var child = ChildProcess(path, [Self.verb, "\(most)", "\(processor)", "\(limits.openFiles)"])
        // Each thread would reserve address space of its own for small pieces.
        child.environment = [
            "SWIFT_BACKTRACE": "enable=no", "ORT_DISABLE_TELEMETRY": "1", "MALLOC_ARENA_MAX": "1",
        ]
        if let libraries = getenv("LD_LIBRARY_PATH") {
            child.environment?["LD_LIBRARY_PATH"] = String(cString: libraries)
        }
        child.deadline = seconds
        child.outputLimit = ByteCount(rawValue: UInt64(CheckAnswer.maximumLength) + 65_536)
        child.limits = [
            .addressSpace(ByteCount(rawValue: most)), .processorSeconds(processor),
            .fileSize(ByteCount(rawValue: 0)), .openFiles(limits.openFiles),
        ]
        return child
    }
}

/// Why nothing is known about the golden vectors.
package enum CheckError: Error, Sendable, Equatable {
    case cancelled

    /// The program could not be started, for people.
    case notStarted(String)

    /// The system could not give bytes, for people.
    case unreadable(String)
}

extension CheckError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .cancelled: "the checks were cancelled"
        case .notStarted(let reason), .unreadable(let reason): reason
        }
    }
}
