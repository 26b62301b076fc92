import Durable
import Glibc
import Manifest
import Names
import Support
import Testing
import Transfer

@Suite("Lists of block digests")
struct BlockDigestsTests {
    /// The digest of block `index` in the lists below.
    private static func digest(_ index: UInt64) -> [UInt8] {
        (0..<4).flatMap { _ in
            (0..<8).map { UInt8(truncatingIfNeeded: index &* 0x9E37_79B9 >> (8 * UInt64($0))) }
        }
    }

    @Test("any digest of a list on the disk is found, in any order")
    func anyOrder() throws {
        let plan = try #require(BlockPlan.for(length: 400_000_000))
        let scratch = Scratch()
        let path = try scratch.write("list", (0..<plan.blockCount).flatMap { Self.digest($0) })
        let digests = try BlockDigests(try FileSource(path), fileLength: 400_000_000)
        var random = SeededRandom(seed: 1)
        for index in (0..<2_000).map({ _ in random.next() % plan.blockCount }) + [0, plan.blockCount - 1] {
            #expect(digests.digest(ofBlock: index)?.bytes == Self.digest(index))
        }
        #expect(digests.digest(ofBlock: plan.blockCount) == nil)
    }

    @Test("the list of the largest file is read in pieces")
    func largest() throws {
        let length: UInt64 = 1 << 40
        let plan = try #require(BlockPlan.for(length: length))
        let scratch = Scratch()
        let path = try scratch.write("list", [])
        try #require(truncate(path, Int(plan.listLength)) == 0)
        let digests = try BlockDigests(try FileSource(path), fileLength: length)
        let last = digests.digest(ofBlock: plan.blockCount - 1)
        #expect(last?.bytes == [UInt8](repeating: 0, count: 32))
    }

    @Test("a list of another length is refused, and one that shrinks later proves nothing")
    func wrongLength() throws {
        let scratch = Scratch()
        let path = try scratch.write("list", [UInt8](repeating: 1, count: 64))
        #expect(throws: ManifestError.blockList(expected: 96, found: 64)) {
            try BlockDigests(try FileSource(path), fileLength: 3 * 65_536)
        }
        let digests = try BlockDigests(try FileSource(path), fileLength: 2 * 65_536)
        try #require(truncate(path, 10) == 0)
        #expect(digests.digest(ofBlock: 1) == nil)
    }
}
