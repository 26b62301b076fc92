import CLinux
import Glibc
import Names

/// A child that runs, leader of a process group of its own.
struct SpawnedChild {
    private let pid: pid_t
    private let outputs: (Int32, Int32)

    init(_ child: ChildProcess) throws(ChildProcessError) {
        var output: [Int32] = [-1, -1]
        var errors: [Int32] = [-1, -1]
        guard clinux_pipe(&output) == 0 else { throw Self.failure(child, errno) }
        guard clinux_pipe(&errors) == 0 else {
            let code = errno
            for end in output { close(end) }
            throw Self.failure(child, code)
        }
        defer {
            close(output[1])
            close(errors[1])
        }
        let input = Self.file(holding: child.input)
        defer { if input >= 0 { close(input) } }
        var pid: pid_t = 0
        let code =
            child.input != nil && input < 0 ? errno : Self.spawn(child, input, output[1], errors[1], &pid)
        guard code == 0 else {
            close(output[0])
            close(errors[0])
            throw Self.failure(child, code)
        }
        self.pid = pid
        outputs = (output[0], errors[0])
        for limit in child.limits { Self.apply(limit, to: pid) }
    }

    private static func failure(_ child: ChildProcess, _ code: Int32) -> ChildProcessError {
        .notStarted(executable: child.executable, code: code, reason: String(cString: strerror(code)))
    }

    /// - Returns: A descriptor at the start of the bytes; -1 for none, and when it cannot be had.
    private static func file(holding bytes: [UInt8]?) -> Int32 {
        guard let bytes else { return -1 }
        let descriptor = clinux_memory_file()
        guard descriptor >= 0 else { return -1 }
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else {
                close(descriptor)
                return -1
            }
            rest = rest.dropFirst(written)
        }
        lseek(descriptor, 0, SEEK_SET)
        return descriptor
    }

    private static func spawn(
        _ child: ChildProcess,
        _ input: Int32,
        _ output: Int32,
        _ errors: Int32,
        _ pid: inout pid_t
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if input >= 0 {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        // An app has descriptors that nobody marked as its own.
        clinux_spawn_close_from(&actions, 3)
        if let directory = child.directory { clinux_spawn_in(&actions, directory) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Our threads block every signal and ignore some; a child starts with neither.
        var none = sigset_t()
        var every = sigset_t()
        sigemptyset(&none)
        sigfillset(&every)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &every)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        posix_spawnattr_setflags(&attributes, Int16(flags))
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(child.executable)]
        arguments += child.arguments.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        guard let environment = child.environment else {
            return posix_spawn(&pid, child.executable, &actions, &attributes, arguments, environ)
        }
        var pairs: [UnsafeMutablePointer<CChar>?] =
            environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pair in pairs { free(pair) } }
        return posix_spawn(&pid, child.executable, &actions, &attributes, arguments, &pairs)
    }

    private static func apply(_ limit: ResourceLimit, to pid: pid_t) {
        switch limit {
        case .addressSpace(let bytes): clinux_limit(pid, clinux_limit_address_space, bytes.rawValue)
        case .processorSeconds(let seconds): clinux_limit(pid, clinux_limit_processor, seconds)
        case .fileSize(let bytes): clinux_limit(pid, clinux_limit_file_size, bytes.rawValue)
        case .openFiles(let count): clinux_limit(pid, clinux_limit_files, count)
        }
    }

    /// Reads both outputs until the child ends, its time is over, or the task is cancelled.
    consuming func result(
        deadline: Double,
        limit: ByteCount,
        cancellation: Cancellation
    ) throws(ChildProcessError) -> ChildResult {
        var collectors = [Collector(outputs.0, limit), Collector(outputs.1, limit)]
        defer { for collector in collectors { collector.close() } }
        let end = MonotonicTime.now.adding(seconds: deadline)
        var wasStopped = false
        while true {
            if let status = reaped() {
                for index in collectors.indices { collectors[index].drain() }
                if wasStopped && cancellation.isCancelled { throw .cancelled }
                let ending: ChildResult.Ending =
                    wasStopped ? .overran(seconds: deadline) : Self.ending(status)
                return ChildResult(ending: ending, output: collectors[0].bytes, errors: collectors[1].bytes)
            }
            if !wasStopped && (cancellation.isCancelled || MonotonicTime.now >= end) {
                wasStopped = true
                kill(-pid, SIGKILL)
            }
            var watched = collectors.map { pollfd(fd: $0.watched, events: Int16(POLLIN), revents: 0) }
            watched.append(
                pollfd(fd: wasStopped ? -1 : cancellation.descriptor, events: Int16(POLLIN), revents: 0)
            )
            poll(&watched, 3, 10)
            for index in collectors.indices where watched[index].revents != 0 { collectors[index].drain() }
        }
    }

    private func reaped() -> Int32? {
        var status: Int32 = 0
        return waitpid(pid, &status, WNOHANG) == pid ? status : nil
    }

    private static func ending(_ status: Int32) -> ChildResult.Ending {
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }
}

/// One output of a child, kept up to a limit.
private struct Collector {
    private let descriptor: Int32
    private let limit: ByteCount
    private var isOpen = true
    private(set) var bytes: [UInt8] = []

    init(_ descriptor: Int32, _ limit: ByteCount) {
        self.descriptor = descriptor
        self.limit = limit
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    /// For `poll`, which ignores negative ones.
    var watched: Int32 { isOpen ? descriptor : -1 }

    func close() { Glibc.close(descriptor) }

    mutating func drain() {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while isOpen {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            if count < 0 && errno == EAGAIN { return }
            guard count > 0 else {
                isOpen = false
                return
            }
            let room = Int(limit.rawValue) - bytes.count
            bytes += buffer[..<min(count, max(0, room))]
        }
    }
}
