import Durable
import Glibc
import Manifest
import Names
import Publishing
import Signing
import Support
import Testing

@Suite("Measured files")
struct MeasuredFileTests {
    @Test(
        "whole digest and block digests describe the same bytes",
        arguments: [0, 1, 65_535, 65_536, 65_537, 200_000, 1 << 20]
    )
    func digests(length: Int) throws {
        let scratch = Scratch()
        let content = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let path = try #require(FilePath("model.bin"))
        let file = try MeasuredFile(try scratch.write("model.bin", content), as: path)
        #expect(file.entry.length == UInt64(length))
        #expect(file.entry.sha256 == SHA256.digest(of: content))
        guard let plan = BlockPlan.for(length: UInt64(length)) else {
            #expect(file.blockList == nil && file.entry.blocks == nil)
            return
        }
        let list = try BlockList(try #require(file.blockList), fileLength: UInt64(length))
        for index in 0..<plan.blockCount {
            let range = plan.range(ofBlock: index)
            let block = Array(content[Int(range.lowerBound)..<Int(range.upperBound)])
            #expect(list.digest(ofBlock: index) == SHA256.digest(of: block))
        }
        #expect(file.entry.blocks?.list.sha256 == SHA256.digest(of: list.encoded))
    }

    @Test("a folder is listed through links, and what version control leaves is named")
    func folder() throws {
        let scratch = Scratch()
        try scratch.write("model/a.onnx", [1])
        try scratch.write("model/sub/b.txt", [2])
        try scratch.write("model/.git/config", [3])
        let folder = try ModelFolder(scratch.path("model"))
        #expect(folder.files.map { "\($0.path)" } == ["a.onnx", "sub/b.txt"])
        #expect(folder.leftOut == [".git/"])
    }

    @Test("a link that leads out of the folder is refused, also by way of a folder")
    func linksOut() throws {
        let scratch = Scratch()
        let secret = try scratch.write("elsewhere/secret", [1])
        try scratch.write("model/a.onnx", [1])
        try Durable.replaceLink(scratch.path("model/b.onnx"), destination: "a.onnx")
        #expect(try ModelFolder(scratch.path("model")).files.count == 2)
        for (name, target) in [("labels.txt", secret), ("extra", scratch.path("elsewhere"))] {
            let link = scratch.path("model/\(name)")
            try Durable.replaceLink(link, destination: target)
            #expect { try ModelFolder(scratch.path("model")) } throws: { "\($0)".contains(secret) }
            try Durable.removeFile(link)
        }
    }

    @Test("a snapshot of a model cache is read through its links to the blobs beside it")
    func cache() throws {
        let scratch = Scratch()
        try scratch.write("models--a--b/blobs/abc", [1])
        try scratch.write("models--a--b/snapshots/1/config.json", [2])
        let link = scratch.path("models--a--b/snapshots/1/model.onnx")
        try Durable.replaceLink(link, destination: "../../blobs/abc")
        let folder = try ModelFolder(scratch.path("models--a--b/snapshots/1"))
        #expect(folder.files.map { "\($0.path)" } == ["config.json", "model.onnx"])
    }

    @Test("another hard link is another name, and what is written through it is a change")
    func hardLinks() throws {
        let scratch = Scratch()
        let other = try scratch.write("elsewhere/a", [1, 2])
        try scratch.write("model/b.onnx", [3])
        #expect(link(other, scratch.path("model/a.onnx")) == 0)
        let listed = try ModelFolder(scratch.path("model")).files
        #expect(listed.map { "\($0.path)" } == ["a.onnx", "b.onnx"])
        func measured(_ file: ModelFolder.File) throws -> MeasuredFile {
            try MeasuredFile(file.location, as: file.path, unchangedSince: file.state)
        }
        #expect(try measured(listed[0]).entry.sha256 == SHA256.digest(of: [1, 2]))
        let descriptor = open(other, O_WRONLY)
        #expect(pwrite(descriptor, [9], 1, 1) == 1)
        // As a later write would leave it, whatever the clock of the file system shows.
        var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        #expect(futimens(descriptor, &times) == 0)
        close(descriptor)
        #expect { try measured(listed[0]) } throws: { "\($0)".contains("changed while it was read") }
        #expect(try measured(listed[1]).entry.length == 1)
    }

    @Test("a file that is replaced behind its listing is a change, even by one of the same length")
    func replaced() throws {
        let scratch = Scratch()
        try scratch.write("model/a.onnx", [1])
        let listed = try ModelFolder(scratch.path("model")).files[0]
        try Durable.writeAtomically(listed.location, [2])
        #expect {
            try MeasuredFile(listed.location, as: listed.path, unchangedSince: listed.state)
        } throws: { "\($0)".contains("changed while it was read") }
    }

    @Test("a name that may not stand in a manifest is refused with the name")
    func badName() throws {
        let scratch = Scratch()
        try scratch.write("model/nul", [1])
        #expect { try ModelFolder(scratch.path("model")) } throws: { "\($0)".contains("nul") }
    }

    @Test("nothing there is a usage error")
    func nothing() {
        #expect { try ModelFolder(Scratch().path("absent")) } throws: { error in
            guard case PublishingError.usage = error else { return false }
            return true
        }
    }
}
