#if os(Linux)
import CLinux
import Glibc

/// Asks the system that this is built for.
public typealias SystemMemoryProbe = LinuxMemoryProbe

/// Control groups, `MemAvailable`, the limit on address space, and what this process holds.
public struct LinuxMemoryProbe: MemoryProbe {
    private let text: @Sendable (String) -> String?

    /// Asks this machine.
    public init() { text = { SystemFile.text($0) } }

    /// - Parameter text: The content of a file; `nil` when it cannot be read.
    init(text: @escaping @Sendable (String) -> String?) { self.text = text }

    /// The least of what the machine, every control group and the limit of the process leave.
    public func state() -> MemoryState {
        var state = MemoryState(available: nil, limit: nil, source: "the machine")
        let machine = text("/proc/meminfo") ?? ""
        state.available = SystemText.number(after: "MemAvailable", in: machine).map { $0 << 10 }
        state.limit = SystemText.number(after: "MemTotal", in: machine).map { $0 << 10 }
        for group in CGroupMemory(text).groups() {
            state.lower(
                available: group.available,
                limit: group.limit,
                source: "the control group \(group.path)"
            )
        }
        let limits = text("/proc/self/limits") ?? ""
        if let most = SystemText.number(after: "Max address space", in: limits),
            let used = SystemText.number(after: "VmSize", in: text("/proc/self/status") ?? "").map({
                $0 << 10
            })
        {
            state.lower(available: most - min(most, used), limit: most, source: "the limit on address space")
        }
        return state
    }

    /// From `smaps_rollup`, which costs up to a millisecond.
    public func footprint() -> MemoryFootprint? {
        guard let rollup = text("/proc/self/smaps_rollup"),
            let anonymous = SystemText.number(after: "Anonymous", in: rollup),
            let resident = SystemText.number(after: "Rss", in: rollup)
        else { return nil }
        return MemoryFootprint(anonymous: anonymous << 10, resident: resident << 10)
    }

    /// The C library keeps what was freed unless it is told to give it back.
    public func giveBack() { clinux_trim_heap() }
}

extension MemoryState {
    fileprivate mutating func lower(available: UInt64, limit: UInt64, source: String) {
        if available < self.available ?? .max {
            self.available = available
            self.source = source
        }
        self.limit = min(self.limit ?? .max, limit)
    }
}

/// Small files of the system, whose length is not known before they are read.
enum SystemFile {
    /// The first 64 KiB; `nil` when the file cannot be read.
    static func text(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        var filled = 0
        while filled < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                read(descriptor, $0.baseAddress?.advanced(by: filled), $0.count - filled)
            }
            if count < 0 { return nil }
            if count == 0 { break }
            filled += count
        }
        return String(decoding: bytes[..<filled], as: UTF8.self)
    }
}
#endif
