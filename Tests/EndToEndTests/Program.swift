import Glibc

/// One finished run of a real program.
struct Outcome: CustomStringConvertible {
    /// The exit code, or 128 plus the signal.
    let code: Int32
    let output: String
    let errors: String

    /// The lines on standard error, for "one clear line".
    var errorLines: [Substring] { errors.split(separator: "\n") }

    var description: String { "exit code \(code)\n\(output)\(errors)" }
}

/// A child process with its output in files, a deadline, and a kill that is always ours.
final class Child {
    let pid: pid_t
    private let outputFile: String
    private let errorFile: String
    private var ended: Int32?

    /// The most resident memory seen while waiting for its end, in bytes.
    private(set) var peakMemory = 0

    /// Starts `path` with `arguments`; nothing else of this process is inherited but the environment given.
    init(_ path: String, _ arguments: [String], environment: [String: String], folder: String) throws {
        let name = folder + "/\(Self.next())"
        outputFile = name + ".out"
        errorFile = name + ".err"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, outputFile, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errorFile, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var started = pid_t()
        let code = posix_spawn(&started, path, &actions, nil, words, variables)
        guard code == 0 else { throw Trouble("cannot start \(path): \(String(cString: strerror(code)))") }
        pid = started
    }

    deinit {
        if ended == nil {
            Glibc.kill(pid, SIGKILL)
            var status: Int32 = 0
            waitpid(pid, &status, 0)
        }
    }

    var output: String { Self.text(outputFile) }
    var errors: String { Self.text(errorFile) }

    func signal(_ number: Int32) { if ended == nil { Glibc.kill(pid, number) } }

    /// Waits for the end, at most `seconds`, then kills it and throws.
    func finished(within seconds: Int) throws -> Outcome {
        let end = Self.monotonic() + Double(seconds)
        while true {
            if let code = exitCode() { return Outcome(code: code, output: output, errors: errors) }
            guard Self.monotonic() < end else {
                Glibc.kill(pid, SIGKILL)
                throw Trouble("still running after \(seconds) s; it said:\n\(output)\(errors)")
            }
            usleep(2_000)
        }
    }

    /// Waits until `find` finds something in what it has printed.
    func waits<Found>(_ seconds: Int, for what: String, _ find: (String) -> Found?) throws -> Found {
        let end = Self.monotonic() + Double(seconds)
        while true {
            if let found = find(output) { return found }
            guard exitCode() == nil, Self.monotonic() < end else {
                throw Trouble("no \(what) within \(seconds) s; it said:\n\(output)\(errors)")
            }
            usleep(5_000)
        }
    }

    private func exitCode() -> Int32? {
        if let ended { return ended }
        var status: Int32 = 0
        noteMemory()
        guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
        let signal = status & 0x7F
        let code = signal == 0 ? status >> 8 & 0xFF : 128 + signal
        ended = code
        return code
    }

    /// Not by `wait4`: what the system says there begins with the memory of the process that started it.
    private func noteMemory() {
        let status = Self.text("/proc/\(pid)/status")
        guard let start = status.firstRange(of: "VmHWM:") else { return }
        let number = status[start.upperBound...].drop { $0 == " " || $0 == "\t" }.prefix { $0.isNumber }
        peakMemory = max(peakMemory, (Int(number) ?? 0) << 10)
    }

    private static func text(_ file: String) -> String {
        guard let stream = fopen(file, "r") else { return "" }
        defer { fclose(stream) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 {
            bytes += buffer[0..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func monotonic() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    private static func next() -> String { "run-" + String(UInt32.random(in: 0 ... .max), radix: 36) }
}

struct Trouble: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
