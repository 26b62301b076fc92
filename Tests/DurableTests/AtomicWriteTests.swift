import Blocking
import Durable
import Glibc
import Names
import Support
import Testing

@Suite("Atomic writes")
struct AtomicWriteTests {
    private let scratch = Scratch()

    @Test("the file has the mode asked for, whatever it had before")
    func mode() throws {
        let path = try scratch.write("file", [1], mode: 0o600)
        try Durable.writeAtomically(path, [2], mode: 0o444)
        #expect(try Durable.kind(of: path) == .file(length: 1, mode: 0o444))
        #expect(try Durable.names(in: scratch.path) == ["file"])
    }

    @Test("a link at the path is replaced and what it led to is not touched")
    func link() throws {
        let other = try scratch.write("other", [1])
        try Durable.replaceLink(scratch.path("file"), destination: other)
        try Durable.writeAtomically(scratch.path("file"), [2])
        #expect(try scratch.read("other") == [1])
        #expect(try Durable.kind(of: scratch.path("file")) == .file(length: 1, mode: 0o644))
    }

    @Test(
        "a process killed while it writes leaves the old file or the new",
        arguments: [
            ("write.created", false), ("write.synchronized", false), ("write.renamed", true),
            ("write.renamed:/other", true),
        ]
    )
    func killed(_ point: String, _ isNew: Bool) async throws {
        let path = try scratch.write("file", Array("old".utf8))
        let another = point.hasSuffix("/other")
        await #expect(processExitsWith: another ? .success : .signal(SIGKILL)) {
            [point, path = path as String] in
            setenv("SEALIFT_CRASH_AT", point, 1)
            try Durable.writeAtomically(path, Array("new".utf8))
        }
        #expect(try scratch.read("file") == Array((isNew ? "new" : "old").utf8))
    }

    @Test("what killed writers left is deleted, and what is being written stays")
    func leftovers() throws {
        try scratch.write(".old.1f.partial", [1])
        let busy = try scratch.write(".new.2f.partial", [2])
        try scratch.write("notes.partial", [3])
        let descriptor = open(busy, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX) == 0)
        Durable.removeLeftovers(in: scratch.path)
        #expect(try Durable.names(in: scratch.path) == [".new.2f.partial", "notes.partial"])
        Durable.removeLeftovers(in: scratch.path("missing"))
    }

    /// Clears up before every change, as another process may.
    private struct Clearing: DiskProbe {
        let directory: String

        func willPerform(_ operation: DiskOperation) {
            if case .remove = operation { return }
            Durable.removeLeftovers(in: directory)
        }

        func didPerform(_ operation: DiskOperation) {}
    }

    @Test("a writer keeps what it writes until it has its name, whoever clears up meanwhile")
    func cleared() throws {
        let path = scratch.path("file")
        try Disk.$probe.withValue(Clearing(directory: scratch.path)) {
            try Durable.writeAtomically(path, Array("new".utf8))
        }
        #expect(try scratch.read("file") == Array("new".utf8))
        #expect(try Durable.names(in: scratch.path) == ["file"])
    }

    @Test(
        "a process killed while it replaces a link leaves the old or the new",
        arguments: [("link.created", "1"), ("link.renamed", "2")]
    )
    func killedAtLink(_ point: String, _ destination: String) async throws {
        let path = scratch.path("current")
        try Durable.replaceLink(path, destination: "1")
        await #expect(processExitsWith: .signal(SIGKILL)) { [point, path = path as String] in
            setenv("SEALIFT_CRASH_AT", point, 1)
            try Durable.replaceLink(path, destination: "2")
        }
        #expect(try Durable.destination(ofLink: path) == destination)
    }

    @Test(
        "a full disk leaves the old file and no leftovers",
        arguments: ["write.created", "write.synchronized"]
    )
    func fullDisk(_ point: String) async throws {
        let path = try scratch.write("file", Array("old".utf8))
        await #expect(processExitsWith: .success) { [point, path = path as String] in
            setenv("SEALIFT_FAULT_AT", point, 1)
            let error = #expect(throws: DurableError.self) {
                try Durable.writeAtomically(path, Array("new".utf8))
            }
            #expect(error?.isOutOfSpace == true)
        }
        #expect(try scratch.read("file") == Array("old".utf8))
        #expect(try Durable.names(in: scratch.path) == ["file"])
    }

    @Test("a directory that is not there is named")
    func noDirectory() throws {
        let error = #expect(throws: DurableError.self) {
            try Durable.writeAtomically(scratch.path("none/file"), [1])
        }
        #expect(error?.isAbsent == true)
        #expect(error?.description.contains("none") == true)
    }
}

@Suite("Directory lock")
struct DirectoryLockTests {
    private let scratch = Scratch()

    @Test("a second holder in this process is refused and told who holds it, until the first lets go")
    func exclusive() throws {
        let path = scratch.path("lock")
        var first: DirectoryLock? = try DirectoryLock(path)
        #expect(first != nil)
        #expect(throws: DurableError.locked(path: path, holder: "process \(getpid())")) {
            try DirectoryLock(path)
        }
        first = nil
        // A process that another test starts has every descriptor of this one for a moment.
        _ = try DirectoryLock(path, waiting: 10)
        #expect(
            String(decoding: try scratch.read("lock"), as: UTF8.self)
                == "\(getpid()) \(DirectoryLock.bootID())\n"
        )
    }

    @Test("another process is refused while the lock is held, and gets it after")
    func betweenProcesses() async throws {
        let path = scratch.path("lock")
        var held: DirectoryLock? = try DirectoryLock(path)
        let pid = getpid()
        await #expect(processExitsWith: .success) { [path = path as String, pid = pid as pid_t] in
            #expect(throws: DurableError.locked(path: path, holder: "process \(pid)")) {
                try DirectoryLock(path, waiting: 0.1)
            }
        }
        _ = held
        held = nil
        await #expect(processExitsWith: .success) { [path = path as String] in
            _ = try DirectoryLock(path, waiting: 10)
        }
    }

    @Test("who waits gets the lock when it comes free")
    func waits() async throws {
        let path = scratch.path("lock")
        var held: DirectoryLock? = try DirectoryLock(path)
        async let waited: Bool = BlockingPool.shared.run { (try? DirectoryLock(path, waiting: 30)) != nil }
        try await Blocking.sleep(seconds: 0.1)
        _ = held
        held = nil
        #expect(await waited)
    }

    @Test("the lock of a killed process is free")
    func killedHolder() async throws {
        let path = scratch.path("lock")
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let lock = try DirectoryLock(path)
            kill(getpid(), SIGKILL)
            withExtendedLifetime(lock) {}
        }
        _ = try DirectoryLock(path)
    }

    @Test("a link in the place of the lock is refused")
    func link() throws {
        try Durable.replaceLink(scratch.path("lock"), destination: "elsewhere")
        #expect(throws: DurableError.notRegularFile(path: scratch.path("lock"))) {
            try DirectoryLock(scratch.path("lock"))
        }
    }
}
