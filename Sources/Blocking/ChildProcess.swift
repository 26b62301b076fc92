import Glibc
package import Names

/// Another program, run with bounds on time, output and resources.
package struct ChildProcess: Sendable {
    /// A path, not searched for.
    package var executable: String
    package var arguments: [String]

    /// The whole environment of the child; `nil` hands on our own.
    package var environment: [String: String]?
    package var directory: String?

    /// What it reads from its standard input; nothing unless given.
    package var input: [UInt8]?

    /// The most that is kept of each of its two outputs; the rest is read and dropped.
    package var outputLimit = ByteCount.mebibytes(1)

    /// Seconds after which its whole process group is killed.
    package var deadline = 60.0

    /// Applied right after the start, so they bound its work but not its first instructions.
    package var limits: [ResourceLimit] = []

    package init(_ executable: String, _ arguments: [String] = []) {
        self.executable = executable
        self.arguments = arguments
    }

    /// Runs the child to its end; cancelling the task kills it.
    ///
    /// - Throws: `ChildProcessError` when it could not be started, or was cancelled.
    package func run() async throws(ChildProcessError) -> ChildResult {
        let cancellation = Cancellation()
        return try await BlockingPool.shared.run(cancelling: cancellation) {
            () throws(ChildProcessError) -> ChildResult in
            try result(cancellation)
        }
    }

    /// Runs the child to its end on the calling thread, which blocks.
    ///
    /// - Throws: `ChildProcessError` when it could not be started.
    package func result(
        _ cancellation: Cancellation = Cancellation()
    ) throws(ChildProcessError) -> ChildResult {
        let child = try SpawnedChild(self)
        return try child.result(deadline: deadline, limit: outputLimit, cancellation: cancellation)
    }
}

/// A bound on what a child may use (setrlimit).
package enum ResourceLimit: Sendable, Equatable {
    case addressSpace(ByteCount)
    case processorSeconds(UInt64)
    case fileSize(ByteCount)
    case openFiles(UInt64)
}

/// How a child ended and what it said.
package struct ChildResult: Sendable, Equatable {
    package enum Ending: Sendable, Equatable {
        case exited(Int32)
        case signalled(Int32)

        /// Killed by us when its time was over.
        case overran(seconds: Double)
    }

    package let ending: Ending
    package let output: [UInt8]
    package let errors: [UInt8]

    package var outputText: String { String(decoding: output, as: UTF8.self) }
    package var errorText: String { String(decoding: errors, as: UTF8.self) }

    /// What is wrong with how the child ended, to be said after its name; `nil` when it ended with 0.
    package var trouble: String? {
        let said = errorText.split(separator: "\n").first.map { "; it said: \($0.prefix(200))" } ?? ""
        return switch ending {
        case .exited(0): nil
        case .exited(let code): "ended with exit code \(code)\(said)"
        case .signalled(SIGXCPU), .signalled(SIGKILL):
            "was ended by the system; it took too much time or memory\(said)"
        case .signalled(let number):
            "was ended by signal \(number), as a crash or want of memory ends one\(said)"
        case .overran(let seconds): "did not end within \(seconds) seconds and was killed\(said)"
        }
    }
}

/// Why there is no result.
package enum ChildProcessError: Error, Sendable, Equatable, CustomStringConvertible {
    case notStarted(executable: String, code: Int32, reason: String)
    case cancelled

    package var description: String {
        switch self {
        case .notStarted(let executable, _, let reason): "could not start \(executable): \(reason)"
        case .cancelled: "the child process was cancelled"
        }
    }
}
