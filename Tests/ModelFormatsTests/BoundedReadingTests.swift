import Manifest
import ModelFormats
import Names
import Testing

/// Files made to cost more than they are long.
///
/// Each is made in two sizes, one twice the other. What a reader looks at may
/// then grow to twice as much and no further, and what it takes at once never
/// beyond the greatest part that any format may have.
@Suite("What hostile files may cost")
struct BoundedReadingTests {
    /// Of all texts and tables that are read whole, the longest, with room.
    static let largestRead: UInt64 = 33 << 20

    @Test("twice as much costs at most twice as much, whatever the answer", arguments: HostileFile.all)
    func linear(_ hostile: HostileFile) throws {
        func cost(_ count: Int) -> (length: UInt64, read: UInt64) {
            let bytes = hostile.make(count)
            let source = CountingSource(MemorySource(bytes))
            _ = try? ModelFile.inspect(source: source, name: hostile.name)
            #expect(source.largestRead <= Self.largestRead)
            return (UInt64(bytes.count), source.bytesRead)
        }
        let (small, large) = (cost(2_000), cost(4_000))
        #expect(small.length > 2_000 && large.length > small.length * 3 / 2)
        #expect(large.read <= small.read * 5 / 2 + 65_536, "\(small) \(large)")
        #expect(large.read <= large.length * 8 + 65_536, "\(large)")
    }

    @Test("parts that are referred to many times are counted each time")
    func references() throws {
        let bytes = HostileFile.shared(256, 2_000)
        let error = #expect(throws: FormatError.self) {
            try ModelFile.inspect(source: MemorySource(bytes), name: "m.tflite")
        }
        guard case .limit(.tflite, let which, _, let found, let limit) = error else {
            Issue.record("\(error.map { "\($0)" } ?? "taken")")
            return
        }
        #expect(["fields", "bytes of structure"].contains(which) && found > limit)
        #expect(limit <= UInt64(bytes.count) * 32 + 1 << 20)
    }

    @Test(
        "a file that claims gigabytes of structure is refused before so much of it is read",
        arguments: HostileFile.gigabytes.indices
    )
    func gigabytes(_ index: Int) throws {
        let (name, head) = HostileFile.gigabytes[index]
        let source = CountingSource(HollowSource(head: head, hole: 1 << 32, tail: []))
        #expect(throws: FormatError.self) { try ModelFile.inspect(source: source, name: name) }
        #expect(source.largestRead <= 16 << 20, "\(source.largestRead)")
        #expect(source.bytesRead <= 80 << 20, "\(source.bytesRead)")
    }

    @Test("every hostile fixture ends within a few times its length")
    func fixtures() throws {
        for name in try Fixtures.names("hostile") where name != "expected.json" {
            let bytes = try Fixtures.bytes("hostile/\(name)")
            let source = CountingSource(MemorySource(bytes))
            #expect(throws: FormatError.self, "\(name)") { try ModelFile.inspect(source: source, name: name) }
            #expect(source.bytesRead <= UInt64(bytes.count) * 8 + 65_536, "\(name)")
            #expect(source.largestRead <= UInt64(bytes.count) + 16_384, "\(name)")
        }
    }
}
