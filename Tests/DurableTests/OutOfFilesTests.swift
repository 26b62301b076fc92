import Durable
import Glibc
import Names
import Support
import Testing

/// A file system of a few files, where the machine allows one to be mounted.
private final class FewFiles {
    static let works: Bool = {
        let scratch = Scratch()
        return FewFiles(at: scratch.path) != nil
    }()

    private let path: String

    init?(at path: String) {
        guard mount("tmpfs", path, "tmpfs", 0, "size=1m,nr_inodes=6") == 0 else { return nil }
        self.path = path
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }
}

@Suite("A file system that is out of inodes")
struct OutOfFilesTests {
    @Test(
        "is told as that, and not as one without room",
        .enabled(if: FewFiles.works, "this user may not mount a file system")
    )
    func inodes() throws {
        let scratch = Scratch()
        let files = FewFiles(at: scratch.path)
        #expect(try Durable.hasRoomForFiles(at: scratch.path))
        let error = #expect(throws: DurableError.self) {
            for number in 0..<20 { try Durable.writeAtomically(scratch.path("f\(number)"), [1]) }
        }
        #expect(error?.isOutOfSpace == true)
        #expect(
            error?.description.contains("out of inodes, not of bytes: delete files") == true,
            "\(error?.description ?? "none")"
        )
        #expect(try !Durable.hasRoomForFiles(at: scratch.path))
        #expect(try Durable.freeSpace(at: scratch.path).rawValue > 0)
        withExtendedLifetime(files) {}
    }

    @Test("a file system that is only full is told as full, and a lock by who holds it")
    func others() throws {
        let scratch = Scratch()
        let full = DurableError.system(operation: "write", path: scratch.path("a/b/c"), code: ENOSPC)
        #expect(full.description.hasSuffix("; free some space and try again"), "\(full)")
        let locked = DurableError.locked(path: "/m/lock", holder: "process 7")
        #expect(locked.description == "another process is at work there: process 7 holds /m/lock")
    }
}
