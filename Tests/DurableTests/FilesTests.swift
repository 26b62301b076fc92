import Durable
import Glibc
import Names
import Support
import Testing

@Suite("Reading files")
struct ReadingTests {
    private let scratch = Scratch()

    @Test("a file is read whole, up to the limit and not a byte over", arguments: [0, 1, 70_000, 200_000])
    func whole(_ length: Int) throws {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        let path = try scratch.write("file", bytes)
        #expect(try Durable.readFile(path, maximum: ByteCount(length)) == bytes)
        guard length > 0 else { return }
        #expect(throws: DurableError.tooLong(path: path, limit: UInt64(length - 1))) {
            try Durable.readFile(path, maximum: ByteCount(length - 1))
        }
    }

    @Test("a link is refused, also when it leads to a regular file")
    func links() throws {
        let path = try scratch.write("file", [1])
        let link = scratch.path("link")
        try Durable.replaceLink(link, destination: path)
        #expect(throws: DurableError.notRegularFile(path: link)) {
            try Durable.readFile(link, maximum: ByteCount(10))
        }
    }

    @Test("a directory and a pipe are refused without waiting")
    func otherKinds() throws {
        let pipe = scratch.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        for path in [pipe, scratch.path] {
            #expect(throws: DurableError.notRegularFile(path: path)) {
                try Durable.readFile(path, maximum: ByteCount(10))
            }
        }
    }

    @Test("a missing file is absent, or nil for who asks so")
    func missing() throws {
        let path = scratch.path("none")
        let error = #expect(throws: DurableError.self) { try Durable.readFile(path, maximum: ByteCount(10)) }
        #expect(error?.isAbsent == true)
        #expect(try Durable.readFileIfPresent(path, maximum: ByteCount(10)) == nil)
    }

    @Test(
        "a private file that others may touch is refused, with the remedy",
        arguments: [0o604, 0o640, 0o620, 0o601] as [UInt32]
    )
    func tooOpen(_ mode: UInt32) throws {
        let path = try scratch.write("key", [1], mode: mode)
        #expect(throws: DurableError.tooOpen(path: path, mode: mode)) {
            try Durable.readFile(path, maximum: ByteCount(10), privacy: .ownerOnly)
        }
        let text = DurableError.tooOpen(path: path, mode: mode).description
        #expect(text.contains("chmod 600 \(path)"))
        #expect(text.contains("0\(String(mode, radix: 8))"))
    }

    @Test("a private file is read when only its owner may touch it", arguments: [0o600, 0o400] as [UInt32])
    func closedEnough(_ mode: UInt32) throws {
        let path = try scratch.write("key", [1, 2], mode: mode)
        #expect(try Durable.readFile(path, maximum: ByteCount(10), privacy: .ownerOnly) == [1, 2])
        // Only root can give a file away.
        guard geteuid() == 0, chown(path, 12_345, 0) == 0 else { return }
        #expect(throws: DurableError.foreignOwner(path: path, owner: 12_345)) {
            try Durable.readFile(path, maximum: ByteCount(10), privacy: .ownerOnly)
        }
    }

    @Test("a file source reads anywhere inside and nowhere outside")
    func source() throws {
        let source = try FileSource(scratch.write("file", Array(0..<100)))
        #expect(source.length == 100)
        #expect(try source.bytes(at: 10, count: 3) == [10, 11, 12])
        #expect(try source.bytes(at: 100, count: 0) == [])
        #expect(throws: ByteSourceError.outOfBounds(offset: 98, count: 3, length: 100)) {
            try source.bytes(at: 98, count: 3)
        }
        #expect(throws: ByteSourceError.self) { try source.bytes(at: .max, count: 2) }
    }

    @Test("a file that shrinks under its source is an error")
    func shrunk() throws {
        let path = try scratch.write("file", Array(0..<100))
        let source = try FileSource(path)
        #expect(truncate(path, 50) == 0)
        #expect(throws: ByteSourceError.unreadable(code: EIO)) { try source.bytes(at: 40, count: 20) }
    }
}

@Suite("Directories")
struct DirectoryTests {
    private let scratch = Scratch()

    @Test("missing directories are made with the mode asked for, present ones left alone")
    func make() throws {
        let path = scratch.path("a/b/c")
        try Durable.makeDirectory(path, mode: 0o700)
        try Durable.makeDirectory(path, mode: 0o755)
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o700)
        try scratch.write("file", [])
        #expect(throws: DurableError.self) { try Durable.makeDirectory(scratch.path("file")) }
    }

    @Test("names are sorted by their bytes")
    func names() throws {
        for name in ["b", "a", "é", "Z"] { try scratch.write(name, []) }
        #expect(try Durable.names(in: scratch.path) == ["Z", "a", "b", "é"])
    }

    @Test("deleting a tree follows no link and empties read-only directories")
    func removeTree() throws {
        let kept = try scratch.write("kept/file", [1])
        try scratch.write("tree/deep/er/file", [1], mode: 0o444)
        try Durable.replaceLink(scratch.path("tree/link"), destination: scratch.path("kept"))
        try Durable.replaceLink(scratch.path("tree/deep/filelink"), destination: kept)
        #expect(chmod(scratch.path("tree/deep/er"), 0o555) == 0)
        try Durable.removeTree(scratch.path("tree"))
        #expect(try Durable.names(in: scratch.path) == ["kept"])
        #expect(try Durable.readFile(kept, maximum: ByteCount(10)) == [1])
        try Durable.removeTree(scratch.path("tree"))
    }

    @Test("a link to a directory is deleted as a link")
    func removeLink() throws {
        try scratch.write("kept/file", [1])
        try Durable.replaceLink(scratch.path("link"), destination: "kept")
        try Durable.removeTree(scratch.path("link"))
        #expect(try Durable.names(in: scratch.path) == ["kept"])
        #expect(try Durable.names(in: scratch.path("kept")) == ["file"])
    }

    @Test("kinds are told apart, links not followed")
    func kinds() throws {
        try scratch.write("file", [1, 2, 3], mode: 0o640)
        try Durable.replaceLink(scratch.path("link"), destination: "file")
        #expect(try Durable.kind(of: scratch.path("file")) == .file(length: 3, mode: 0o640))
        #expect(try Durable.kind(of: scratch.path("link")) == .link)
        #expect(try Durable.kind(of: scratch.path) == .directory)
        #expect(try Durable.kind(of: "/dev/null") == .other)
        #expect(try Durable.kind(of: scratch.path("none")) == nil)
        #expect(try Durable.kind(of: scratch.path("file/below")) == nil)
    }

    @Test("a link is replaced, and read back")
    func links() throws {
        let link = scratch.path("current")
        #expect(try Durable.destination(ofLink: link) == nil)
        try Durable.replaceLink(link, destination: "generations/1")
        try Durable.replaceLink(link, destination: "generations/2")
        #expect(try Durable.destination(ofLink: link) == "generations/2")
        #expect(try Durable.names(in: scratch.path) == ["current"])
        try scratch.write("file", [])
        #expect(try Durable.destination(ofLink: scratch.path("file")) == nil)
    }

    @Test("free space is a number, and an error for no place")
    func freeSpace() throws {
        #expect(try Durable.freeSpace(at: scratch.path) > ByteCount(0))
        #expect(throws: DurableError.self) { try Durable.freeSpace(at: scratch.path("none")) }
    }

    @Test("the directory above is found for every shape of path")
    func parents() {
        let table = ["/a/b": "/a", "/a": "/", "a": ".", "a/b/": "a", "/": "/"]
        for (path, parent) in table { #expect(Durable.parent(of: path) == parent) }
    }
}

@Suite("Making directories")
struct MakingDirectoriesTests {
    private let scratch = Scratch()

    @Test("those above are made too, and one that is there stays as it is")
    func above() throws {
        let path = scratch.path("a/b/c")
        try Durable.makeDirectory(path)
        try Durable.makeDirectory(path)
        #expect(try Durable.kind(of: path) == .directory)
    }

    @Test(
        "a place that takes no directory is an error, not an attempt without end",
        arguments: ["/proc/sealift", "/proc/sealift/a/b", ""]
    )
    func impossible(_ path: String) {
        #expect(throws: DurableError.self) { try Durable.makeDirectory(path) }
    }

    @Test("a file, and a link to nothing, are in the way")
    func inTheWay() throws {
        let file = try scratch.write("file", [1])
        let link = scratch.path("link")
        try Durable.replaceLink(link, destination: "/nonexistent/place")
        for path in [file, link, file + "/below", link + "/below"] {
            #expect(throws: DurableError.self) { try Durable.makeDirectory(path) }
        }
    }

    @Test("way is made where a directory stands, and nowhere else")
    func way() throws {
        let file = try scratch.write("file", [1])
        try Durable.makeDirectory(scratch.path("folder/below"))
        for path in [file, scratch.path("folder"), scratch.path("nothing")] { try Durable.makeWay(at: path) }
        #expect(try Durable.names(in: scratch.path) == ["file"])
    }
}
