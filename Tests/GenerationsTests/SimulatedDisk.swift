import Blocking
import Durable
import Glibc
import Names

/// Records what is asked of the disk, in order.
final class DiskRecorder: DiskProbe {
    private let operations = Guarded<[DiskOperation]>([])

    var all: [DiskOperation] { operations.withLock { $0 } }

    func willPerform(_ operation: DiskOperation) throws(DurableError) {}
    func didPerform(_ operation: DiskOperation) { operations.withLock { $0.append(operation) } }
}

/// A disk that forgets what was not synchronized, as a power cut makes it.
///
/// Contents and date of a file are safe once the file is synchronized, names
/// once their directory is. Of what is not safe any number of steps may be there
/// all the same, in the order in which they were made, and contents whole, by
/// half or not at all.
struct SimulatedDisk {
    /// What becomes of contents that were not synchronized.
    enum Contents: CaseIterable {
        case kept, torn, lost
    }

    /// One change, by what it concerns and not by its path.
    private enum Step {
        case name(in: Int, String, Int?, movedFrom: (Int, String)?)
        case exchange(Int, String, Int, String)
        case append(Int, [UInt8])
        case date(Int, UnixTime)
    }

    private let base: String
    private let start: DiskTree
    private var made: [Int: DiskTree.Node] = [:]
    private var steps: [Step] = []

    /// For each step, after how many operations it is safe.
    private var safeAfter: [Int] = []

    /// How many steps there are after each number of operations.
    private var stepCounts = [0]

    /// - Parameters:
    ///   - base: A directory as it stands on the real disk.
    ///   - operations: What was asked from then on, by paths in `base`.
    /// - Throws: When `base` cannot be read.
    init(_ base: String, _ operations: [DiskOperation]) throws {
        self.base = base
        start = try DiskTree(reading: base)
        var live = start
        for operation in operations {
            for step in record(operation, &live) {
                Self.apply(step, .kept, &live)
                steps.append(step)
                safeAfter.append(.max)
            }
            stepCounts.append(steps.count)
            settle(operation, after: stepCounts.count - 1, live)
        }
    }

    var operationCount: Int { stepCounts.count - 1 }

    /// How many steps are not safe when the power fails after `operations` operations.
    func unsafeCount(after operations: Int) -> Int {
        safeAfter[..<stepCounts[operations]].count { $0 > operations }
    }

    /// What is left.
    ///
    /// - Parameters:
    ///   - operations: How many were done when the power failed.
    ///   - kept: How many of the steps that were not safe are there all the same.
    ///   - contents: What became of contents that were not safe.
    /// - Returns: The disk after the power came back.
    func state(after operations: Int, keeping kept: Int, _ contents: Contents) -> DiskTree {
        var tree = start
        for (id, node) in made { tree.nodes[id] = node }
        var unsafeSteps = 0
        for index in 0..<stepCounts[operations] {
            let isSafe = safeAfter[index] <= operations
            if !isSafe { unsafeSteps += 1 }
            if isSafe || unsafeSteps <= kept {
                Self.apply(steps[index], isSafe ? .kept : contents, &tree)
            }
        }
        return tree
    }

    // MARK: recording

    private mutating func record(_ operation: DiskOperation, _ live: inout DiskTree) -> [Step] {
        switch operation {
        case .makeDirectory(let path): make(path, .directory([:]), &live)
        case .makeFile(let path): make(path, .file([], nil), &live)
        case .makeLink(let path, let destination): make(path, .link(destination), &live)
        case .addName(let path, let other):
            if let (parent, name) = place(path, live), let id = id(other, live) {
                [.name(in: parent, name, id, movedFrom: nil)]
            } else {
                []
            }
        case .append(let path, let bytes): id(path, live).map { [.append($0, bytes)] } ?? []
        case .date(let path, let time): id(path, live).map { [.date($0, time)] } ?? []
        case .rename(let path, let other):
            if let from = place(path, live), let (parent, name) = place(other, live), let id = id(path, live)
            {
                [.name(in: parent, name, id, movedFrom: from)]
            } else {
                []
            }
        case .exchange(let path, let other):
            if let (one, left) = place(path, live), let (two, right) = place(other, live) {
                [.exchange(one, left, two, right)]
            } else {
                []
            }
        case .remove(let path), .removeDirectory(let path):
            if let (parent, name) = place(path, live), id(path, live) != nil {
                [.name(in: parent, name, nil, movedFrom: nil)]
            } else {
                []
            }
        case .synchronizeFile, .synchronizeDirectory: []
        }
    }

    private mutating func make(_ path: String, _ node: DiskTree.Node, _ live: inout DiskTree) -> [Step] {
        guard let (parent, name) = place(path, live) else { return [] }
        let id = start.nodes.count + made.count
        made[id] = node
        live.nodes[id] = node
        return [.name(in: parent, name, id, movedFrom: nil)]
    }

    private mutating func settle(_ operation: DiskOperation, after count: Int, _ live: DiskTree) {
        for index in steps.indices where safeAfter[index] == .max {
            let isSafe =
                switch (operation, steps[index]) {
                case (.synchronizeFile(let path), .append(let file, _)),
                    (.synchronizeFile(let path), .date(let file, _)):
                    id(path, live) == file
                case (.synchronizeDirectory(let path), .name(let directory, _, _, _)):
                    id(path, live) == directory
                case (.synchronizeDirectory(let path), .exchange(let one, _, let two, _)):
                    [one, two].contains(id(path, live))
                default: false
                }
            if isSafe { safeAfter[index] = count }
        }
    }

    private func parts(_ path: String) -> [String]? {
        guard path == base || path.hasPrefix(base + "/") else { return nil }
        return path.dropFirst(base.utf8.count).split(separator: "/").map(String.init)
    }

    private func id(_ path: String, _ tree: DiskTree) -> Int? { parts(path).flatMap { tree.find($0[...]) } }

    private func place(_ path: String, _ tree: DiskTree) -> (Int, String)? {
        guard let parts = parts(path), let name = parts.last, let parent = tree.find(parts.dropLast()) else {
            return nil
        }
        return (parent, name)
    }

    // MARK: replaying

    private static func apply(_ step: Step, _ contents: Contents, _ tree: inout DiskTree) {
        switch step {
        case .name(let directory, let name, let id, let from):
            if let (other, old) = from, tree[other, old] == id { tree[other, old] = nil }
            tree[directory, name] = id
        case .exchange(let one, let left, let two, let right):
            (tree[one, left], tree[two, right]) = (tree[two, right], tree[one, left])
        case .append(let file, let bytes):
            guard case .file(let before, let time)? = tree.nodes[file] else { return }
            let added =
                switch contents {
                case .kept: bytes[...]
                case .torn: bytes.prefix(bytes.count / 2)
                case .lost: bytes.prefix(0)
                }
            tree.nodes[file] = .file(before + added, time)
        case .date(let file, let time):
            if case .file(let bytes, _)? = tree.nodes[file] { tree.nodes[file] = .file(bytes, time) }
        }
    }
}

/// Directories, files and links, each with a number, the root 0.
struct DiskTree: Hashable {
    enum Node: Hashable {
        case directory([String: Int])
        case file([UInt8], UnixTime?)
        case link(String)
    }

    var nodes: [Int: Node] = [0: .directory([:])]

    init(reading path: String) throws { try read(path, into: 0) }

    private mutating func read(_ path: String, into directory: Int) throws {
        for name in try Durable.names(in: path) {
            let (entry, id) = ("\(path)/\(name)", nodes.count)
            switch try Durable.kind(of: entry) {
            case .directory?:
                nodes[id] = .directory([:])
                self[directory, name] = id
                try read(entry, into: id)
            case .link?:
                nodes[id] = .link(try Durable.destination(ofLink: entry) ?? "")
                self[directory, name] = id
            case .file?:
                var status = stat()
                lstat(entry, &status)
                let bytes = try Durable.readFile(entry, maximum: .mebibytes(16))
                nodes[id] = .file(bytes, UnixTime(rawValue: Int64(status.st_mtim.tv_sec)))
                self[directory, name] = id
            case .other?, nil: break
            }
        }
    }

    subscript(directory: Int, name: String) -> Int? {
        get {
            guard case .directory(let entries)? = nodes[directory] else { return nil }
            return entries[name]
        }
        set {
            guard case .directory(var entries)? = nodes[directory] else { return }
            entries[name] = newValue
            nodes[directory] = .directory(entries)
        }
    }

    func find(_ parts: ArraySlice<String>) -> Int? {
        parts.reduce(0) { directory, name in directory.flatMap { self[$0, name] } }
    }

    /// What can be reached, for telling states apart.
    func reachable(_ id: Int = 0) -> [String: Node] {
        guard case .directory(let entries)? = nodes[id] else { return [:] }
        var found: [String: Node] = [:]
        for (name, entry) in entries {
            found[name] = nodes[entry].map { if case .directory = $0 { .directory([:]) } else { $0 } }
            for (path, node) in reachable(entry) { found["\(name)/\(path)"] = node }
        }
        return found
    }

    /// Writes it to the real disk.
    func write(_ path: String, _ id: Int = 0) throws {
        switch nodes[id] {
        case .directory(let entries)?:
            try Durable.makeDirectory(path)
            for (name, entry) in entries { try write("\(path)/\(name)", entry) }
        case .link(let destination)?: symlink(destination, path)
        case .file(let bytes, let time)?:
            let file = creat(path, 0o644)
            _ = bytes.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            close(file)
            if let time {
                let stamp = timespec(tv_sec: time_t(time.rawValue), tv_nsec: 0)
                utimensat(AT_FDCWD, path, [stamp, stamp], 0)
            }
        case nil: break
        }
    }
}
