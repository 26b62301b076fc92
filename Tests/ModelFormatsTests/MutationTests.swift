import Manifest
import ModelFormats
import Names
import Testing

@Suite("Files that were damaged")
struct MutationTests {
    /// SplitMix64, so that a failure can be had again from its seed.
    struct Random: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
            return value ^ value >> 31
        }
    }

    /// One to four of: another byte, a bit turned, bytes taken out, put in or doubled, the end cut off.
    static func damaged(_ original: [UInt8], by random: inout Random) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
            let at = Int.random(in: 0..<bytes.count, using: &random)
            let count = Int.random(in: 1...min(16, bytes.count - at), using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes[at] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 2: bytes.removeSubrange(at..<at + count)
            case 3: bytes.insert(contentsOf: Array(repeating: 0xFF, count: count), at: at)
            case 4: bytes.insert(contentsOf: Array(bytes[at..<at + count]), at: at)
            default: bytes.removeLast(bytes.count - at)
            }
        }
        return bytes
    }

    static let files = try? ["onnx", "coreml", "gguf", "safetensors", "tflite"].flatMap { folder in
        try Fixtures.contents(folder, inside: "").keys.sorted()
            .filter {
                [".onnx", ".mlmodel", ".gguf", ".safetensors", ".tflite"].contains(where: $0.hasSuffix)
            }
            .map { "\(folder)/\($0)" }
    }

    @Test(
        "each of a thousand is read or refused, at a cost of a few times its length",
        arguments: files ?? []
    )
    func mutations(_ name: String) throws {
        let original = try Fixtures.bytes(name)
        var refused = 0
        for seed in 0..<1_000 as Range<UInt64> {
            var random = Random(state: seed)
            let bytes = Self.damaged(original, by: &random)
            let source = CountingSource(MemorySource(bytes))
            do {
                let found = try ModelFile.inspect(source: source, name: name)
                #expect(found.interface.inputs.count <= bytes.count, "seed \(seed)")
            } catch {
                refused += 1
                #expect(!"\(error)".isEmpty, "seed \(seed)")
            }
            #expect(source.bytesRead <= UInt64(bytes.count) * 64 + 65_536, "seed \(seed)")
        }
        #expect(refused > 100)
    }

    @Test("every fixture is among them")
    func complete() { #expect((Self.files ?? []).count >= 24) }
}
