import Foundation
import Glibc

/// A running program with its output in files; killed when it is no longer wanted.
final class Program {
    private let pid: pid_t
    private let files: String
    private var isWaitedFor = false

    /// Starts `words[0]`, found along `PATH`; output goes to `files.out` and `files.err`.
    init(_ words: [String], _ environment: [String: String], _ files: String) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, files + ".out", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, files + ".err", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        let arguments = words.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var pid = pid_t()
        let code = posix_spawnp(&pid, words[0], &actions, nil, arguments, variables)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        self.pid = pid
        self.files = files
    }

    deinit {
        guard !isWaitedFor else { return }
        kill(pid, SIGKILL)
        _ = wait()
    }

    /// - Returns: The exit code, or the signal below zero.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        isWaitedFor = true
        return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
    }

    var errors: String { Self.text(files + ".err") }

    /// The first line that it prints, waited for at most 20 seconds.
    func firstLine() throws -> Substring {
        for _ in 0..<4_000 {
            let output = Self.text(files + ".out")
            if output.contains("\n"), let line = output.split(separator: "\n").first { return line }
            usleep(5_000)
        }
        throw POSIXError(.ETIMEDOUT)
    }

    private static func text(_ file: String) -> String {
        String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
    }
}
