import ModelFormats
import Names
import Publishing
import Support
import Synchronization
import Testing

/// Archives whose members would unfold to many times their length.
///
/// Nothing in this program unfolds anything: what is compressed is refused by
/// what its head says of it. So neither what it would become, nor what it
/// claims to become, may cost anything.
@Suite("What packed content may cost")
struct PackedContentTests {
    /// Counts what is asked of it, in whole and at once.
    private final class Counted: ByteSource {
        private let bytes: [UInt8]
        private let counts = Mutex((all: 0, most: 0))

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var length: UInt64 { UInt64(bytes.count) }
        var all: Int { counts.withLock { $0.all } }
        var most: Int { counts.withLock { $0.most } }

        func bytes(at offset: UInt64, count: Int) throws(ByteSourceError) -> [UInt8] {
            guard count >= 0, offset <= length, UInt64(count) <= length - offset else {
                throw .outOfBounds(offset: offset, count: count, length: length)
            }
            counts.withLock { $0 = ($0.all + count, max($0.most, count)) }
            return Array(bytes[Int(offset)..<Int(offset) + count])
        }
    }

    private static func little(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// Zeros as deflate packs them with its fixed code: 13 bits for 258 of them.
    private static func packedZeros(_ repeats: Int) -> [UInt8] {
        var (bytes, byte, used): ([UInt8], UInt8, UInt8) = ([], 0, 0)
        func put(_ bits: String) {
            for bit in bits {
                if bit == "1" { byte |= 1 << used }
                used += 1
                if used == 8 {
                    bytes.append(byte)
                    (byte, used) = (0, 0)
                }
            }
        }
        put("1" + "10" + "00110000")
        for _ in 0..<repeats { put("11000101" + "00000") }
        put("0000000" + "0000000")
        return bytes + [byte]
    }

    /// A ZIP archive of one member that says that it becomes `claim` bytes.
    private static func zip(_ name: String, _ content: [UInt8], method: Int, claim: Int) -> [UInt8] {
        let text = Array(name.utf8)
        let sizes = little(content.count, 4) + little(claim, 4) + little(text.count, 2)
        let local =
            [0x50, 0x4B, 3, 4] + little(20, 2) + little(0, 2) + little(method, 2) + little(0, 8) + sizes
            + little(0, 2) + text
        let entry =
            [0x50, 0x4B, 1, 2] + little(20, 2) + little(20, 2) + little(0, 2) + little(method, 2)
            + little(0, 8) + sizes + little(0, 16) + text
        let end =
            [0x50, 0x4B, 5, 6] + little(0, 4) + little(1, 2) + little(1, 2) + little(entry.count, 4)
            + little(local.count + content.count, 4) + little(0, 2)
        return local + content + entry + end
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: [UInt8]

        init(_ description: String, _ bytes: [UInt8]) {
            testDescription = description
            self.bytes = bytes
        }
    }

    static let cases: [Case] = {
        let real = packedZeros(50_000)
        let few = packedZeros(4)
        let inner = zip("a", real, method: 8, claim: 0xFFFF_FFFE)
        return [
            Case("npz, 1:158 in truth", zip("weights.npy", real, method: 8, claim: 50_000 * 258 + 1)),
            Case(
                "npz that says 1:65,000",
                zip("weights.npy", real, method: 8, claim: real.count * 65_000 & 0xFFFF_FFFF)
            ),
            Case("npz that says 4 GiB", zip("weights.npy", few, method: 8, claim: 0xFFFF_FFFE)),
            Case("torch", zip("archive/data/0", real, method: 8, claim: 0x7FFF_FFFF)),
            Case("zip, bzip2", zip("a", few, method: 12, claim: 0xFFFF_FFFE)),
            Case("zip, zstd", zip("a", few, method: 93, claim: 0xFFFF_FFFE)),
            Case(
                "zip in a zip",
                zip("b.zip", inner, method: 0, claim: inner.count)
            ),
            Case(
                "gzip",
                [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3] + real + little(0, 4) + little(0xFFFF_FFFE, 4)
            ),
            Case("zlib", [0x78, 0x9C] + real + little(0, 4)),
        ]
    }()

    @Test(
        "it is refused for its head, whatever it would become, and none of its content is taken",
        arguments: cases
    )
    func refused(_ example: Case) throws {
        let source = Counted(example.bytes)
        let found = try #require(try RunnableContent.found(in: source))
        #expect("\(found)".contains("compressed"))
        // The end of an archive, where its list is looked for, and heads.
        #expect(source.most <= 65_535 + 22 && source.all <= 3 * 70_000, "\(source.all)")
    }

    @Test("a member that is not packed has no more bytes than the archive, whatever it says")
    func stored() throws {
        let zeros = [UInt8](repeating: 0, count: 1_000)
        let source = Counted(Self.zip("weights", zeros, method: 0, claim: 0xFFFF_FFFE))
        #expect(try RunnableContent.found(in: source) == nil)
        #expect(source.most <= example(zeros) && source.all <= 64 * 1_024, "\(source.most) \(source.all)")
    }

    private func example(_ content: [UInt8]) -> Int {
        Self.zip("weights", content, method: 0, claim: 0).count
    }
}
