import Manifest
import Names
import Testing

@Suite("Block plan")
struct BlockPlanTests {
    static let plans: [(UInt64, UInt64, UInt64)] = [
        (64 << 10, 64 << 10, 1),
        ((64 << 10) + 1, 64 << 10, 2),
        (2 << 30, 64 << 10, 32_768),
        ((2 << 30) + 1, 128 << 10, 16_385),
        (4 << 30, 128 << 10, 32_768),
        (32 << 30, 1 << 20, 32_768),
        ((32 << 30) + 1, 1 << 20, 32_769),
        (1 << 40, 1 << 20, 1 << 20),
    ]

    @Test("blocks double while the list would exceed 1 MiB, up to 1 MiB", arguments: plans)
    func plan(_ length: UInt64, _ size: UInt64, _ count: UInt64) throws {
        let plan = try #require(BlockPlan.for(length: length))
        #expect(plan.blockSize == size)
        #expect(plan.blockCount == count)
        #expect(plan.listLength == count * 32)
        #expect(plan.range(ofBlock: count - 1).upperBound == length)
    }

    @Test("a file under 64 KiB has no plan", arguments: [0, 1, 65_535])
    func small(_ length: UInt64) { #expect(BlockPlan.for(length: length) == nil) }

    @Test("blocks cover the file without gap or overlap")
    func ranges() throws {
        let plan = try #require(BlockPlan.for(length: 200_000))
        let ranges = (0..<plan.blockCount).map(plan.range(ofBlock:))
        #expect(ranges.map(\.lowerBound) == [0, 65_536, 131_072, 196_608])
        #expect(ranges.last?.upperBound == 200_000)
    }

    @Test("a list has one digest a block, in order, and no other length")
    func list() throws {
        let digests = try (1...2).map { try Samples.digest($0) }
        let list = try BlockList(digests, fileLength: 70_000)
        #expect(try BlockList(list.encoded, fileLength: 70_000) == list)
        #expect(list.digest(ofBlock: 1) == digests[1])
        #expect(list.digest(ofBlock: 2) == nil)
        #expect(throws: ManifestError.blockList(expected: 64, found: 63)) {
            try BlockList(Array(list.encoded.dropLast()), fileLength: 70_000)
        }
        #expect(throws: ManifestError.blockList(expected: 0, found: 32)) {
            try BlockList(digests[0].bytes, fileLength: 100)
        }
    }
}
