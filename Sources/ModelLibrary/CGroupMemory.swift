/// What the control groups of a process say of memory; pure over a function that reads a file.
///
/// `/proc/self/cgroup` names the groups: `0::/app` for version 2, and a line
/// with the controller `memory` for version 1, which may be there beside it.
/// The limit of every group above counts too. Inside a container the named
/// path may not be there, since it is that of the host; those that are there
/// are looked at, the root of the tree included.
struct CGroupMemory {
    /// One group with a limit.
    struct Group: Equatable, Sendable {
        let path: String
        let limit: UInt64

        /// What is used and cannot be taken back by dropping file pages.
        let used: UInt64

        var available: UInt64 { limit - min(limit, used) }
    }

    private let text: (String) -> String?

    /// - Parameter text: The content of a file; `nil` when it cannot be read.
    init(_ text: @escaping (String) -> String?) { self.text = text }

    /// Every group that limits this process, innermost first.
    func groups() -> [Group] {
        directories().flatMap { directory in
            ancestors(of: directory.path).compactMap { path in
                directory.isUnified ? unified(directory.root, path) : legacy(directory.root, path)
            }
        }
    }

    /// How often this group and those above it met their limits until now.
    ///
    /// Of a group above, only what met its own limit: its other members' are no
    /// concern of this process.
    ///
    /// - Returns: `nil` where no group says.
    func limitsMet() -> UInt64? {
        var met: UInt64?
        func count(_ number: UInt64?) {
            if let number { met = (met ?? 0).addingSaturated(number) }
        }
        for directory in directories() {
            for (level, path) in ancestors(of: directory.path).enumerated() {
                let group = directory.root + path
                guard directory.isUnified else {
                    count(number("\(group)/memory.failcnt"))
                    count(
                        text("\(group)/memory.oom_control").flatMap {
                            SystemText.number(after: "oom_kill", in: $0)
                        }
                    )
                    continue
                }
                let events = text("\(group)/memory.events" + (level == 0 ? "" : ".local")) ?? ""
                for name in ["high", "max", "oom"] { count(SystemText.number(after: name, in: events)) }
            }
        }
        return met
    }

    private struct Directory {
        let root: String
        let path: String
        let isUnified: Bool
    }

    private func directories() -> [Directory] {
        (text("/proc/self/cgroup") ?? "").split(separator: "\n").flatMap { line -> [Directory] in
            let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count == 3 else { return [] }
            let path = fields[2] == "/" ? "" : String(fields[2])
            if fields[1].isEmpty {
                return ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].map {
                    Directory(root: $0, path: path, isUnified: true)
                }
            }
            guard fields[1].split(separator: ",").contains("memory") else { return [] }
            return [Directory(root: "/sys/fs/cgroup/memory", path: path, isUnified: false)]
        }
    }

    private func ancestors(of path: String) -> [String] {
        var found = [path]
        while let slash = found.last?.lastIndex(of: "/"), let last = found.last {
            found.append(String(last[..<slash]))
        }
        return found
    }

    private func unified(_ root: String, _ path: String) -> Group? {
        let directory = root + path
        let limits = ["memory.max", "memory.high"].compactMap { number("\(directory)/\($0)") }
        guard let limit = limits.min(), let current = number("\(directory)/memory.current") else {
            return nil
        }
        let reclaimable = statistic("inactive_file", in: "\(directory)/memory.stat")
        return Group(path: path.isEmpty ? "/" : path, limit: limit, used: current - min(current, reclaimable))
    }

    private func legacy(_ root: String, _ path: String) -> Group? {
        let directory = root + path
        guard let own = number("\(directory)/memory.limit_in_bytes"),
            let usage = number("\(directory)/memory.usage_in_bytes")
        else { return nil }
        let statistics = "\(directory)/memory.stat"
        // In a container the groups above are not to be seen, and this says what they allow.
        let above = statistic("hierarchical_memory_limit", in: statistics)
        let limit = above > 0 ? min(own, above) : own
        guard limit < 1 << 62 else { return nil }
        let reclaimable = statistic("total_inactive_file", in: statistics)
        return Group(path: path.isEmpty ? "/" : path, limit: limit, used: usage - min(usage, reclaimable))
    }

    /// - Returns: `nil` for `max`, which is no limit, and for what is no number.
    private func number(_ path: String) -> UInt64? {
        text(path).flatMap { UInt64($0.prefix { $0 != "\n" }) }
    }

    private func statistic(_ name: String, in path: String) -> UInt64 {
        SystemText.number(after: name, in: text(path) ?? "") ?? 0
    }
}

/// The lines of `/proc`: a name, blanks or a colon, a number, perhaps a unit.
enum SystemText {
    /// The number after `name` at the start of a line.
    static func number(after name: String, in text: String) -> UInt64? {
        for line in text.split(separator: "\n") where line.hasPrefix(name) {
            let rest = line.dropFirst(name.count)
            guard let first = rest.first, first == ":" || first == " " else { continue }
            return UInt64(rest.drop { $0 == ":" || $0 == " " || $0 == "\t" }.prefix { $0.isNumber })
        }
        return nil
    }
}
