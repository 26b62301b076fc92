import Manifest
import ModelFormats
import Names
import Testing

@Suite("TensorFlow Lite: what lies behind the flatbuffer")
struct TFLiteExtentTests {
    private static func little(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    /// A ZIP archive with one stored member, as it stands behind `before` bytes; Python counts those, others do not.
    private static func archive(behind before: Int, comment: String = "") -> [UInt8] {
        let (name, content) = (Array("labels.txt".utf8), Array("cat\n".utf8))
        let sizes = [
            little(content.count, 4), little(content.count, 4), little(name.count, 2), little(0, 2),
        ]
        let head =
            [0x50, 0x4B, 3, 4] + little(20, 2) + little(0, 12) + Array(sizes.joined()) + name + content
        let rest = little(0, 10) + little(before, 4) + name
        let list = [0x50, 0x4B, 1, 2] + little(20, 4) + little(0, 12) + Array(sizes.joined()) + rest
        let end = little(0, 4) + little(1, 2) + little(1, 2) + little(list.count, 4)
        let place = little(before + head.count, 4) + little(comment.utf8.count, 2)
        return head + list + [0x50, 0x4B, 5, 6] + end + place + Array(comment.utf8)
    }

    private struct Found {
        let field: String
        let offset: UInt64
        let what: FormatError.Malformation
    }

    private func refusal(_ bytes: [UInt8]) -> Found? {
        do {
            _ = try ModelFile.inspect(source: MemorySource(bytes), name: "model.tflite")
        } catch FormatError.malformed(_, let field, let offset, let what) {
            return Found(field: field, offset: offset, what: what)
        } catch {
            Issue.record(error)
        }
        return nil
    }

    private static let models = (try? Fixtures.names("tflite").filter { $0.hasSuffix(".tflite") }) ?? []

    @Test("bytes that belong to nothing are refused where they start", arguments: models)
    func junk(_ name: String) throws {
        let bytes = try Fixtures.bytes("tflite/\(name)")
        #expect(refusal(bytes) == nil)
        let found = try #require(refusal(bytes + Array("GARBAGETRAIL".utf8)))
        #expect(found.what == .trailingBytes && found.field == "model")
        #expect(found.offset <= UInt64(bytes.count) && found.offset + 64 > UInt64(bytes.count))
        #expect(refusal(bytes + [UInt8](repeating: 0, count: 4_096))?.what == .trailingBytes)
        #expect(refusal(bytes + [0, 0, 0, 0]) == nil)
    }

    @Test("an archive of label files may stand there, and nothing behind it", arguments: models)
    func archives(_ name: String) throws {
        let bytes = try Fixtures.bytes("tflite/\(name)")
        #expect(refusal(bytes + Self.archive(behind: bytes.count)) == nil)
        #expect(refusal(bytes + Self.archive(behind: 0)) == nil)
        #expect(refusal(bytes + Self.archive(behind: 0, comment: "made by hand")) == nil)
        #expect(refusal(bytes + Self.archive(behind: 0) + [1])?.what == .trailingBytes)
        let junk = Array("GARBAGETRAIL".utf8)
        #expect(refusal(bytes + junk + Self.archive(behind: bytes.count + 12))?.what == .trailingBytes)
        let broken = Array(Self.archive(behind: bytes.count).dropFirst(4))
        #expect(refusal(bytes + broken)?.what == .trailingBytes)
    }

    /// A model whose one buffer, or two, lie behind the flatbuffer, and then `tail`.
    private func outside(
        at start: Int,
        size: Int,
        then second: (start: Int, size: Int)? = nil,
        tail: [UInt8]
    ) -> [UInt8] {
        var bytes = TFLiteRefusalTests.Small().bytes
        var places = [(start: start, size: size)]
        if let second { places.append(second) }
        // The buffers' tables, from 512 on: one vtable of 10 bytes, and for each two numbers of 8.
        let table = Self.little(10, 2) + Self.little(24, 2) + Self.little(0, 2) + Self.little(8, 2)
        var tables = table + Self.little(16, 2) + [0, 0, 0, 0, 0, 0]
        var vector = Self.little(places.count, 4)
        for place in places {
            // The vector of buffers, at 448, refers to where each table begins.
            vector += Self.little(512 + tables.count - 448 - vector.count, 4)
            tables += Self.little(tables.count, 4) + [0, 0, 0, 0]
            tables += Self.little(place.start, 8) + Self.little(place.size, 8)
        }
        bytes.replaceSubrange(448..<448 + vector.count, with: vector)
        bytes.replaceSubrange(512..<512 + tables.count, with: tables)
        return bytes + tail
    }

    @Test("buffers behind the flatbuffer are part of the model, and a gap before them is not")
    func buffers() {
        let length = TFLiteRefusalTests.Small().bytes.count
        let weights = [UInt8](repeating: 7, count: 1_000)
        #expect(refusal(outside(at: length, size: 1_000, tail: weights)) == nil)
        let short = refusal(outside(at: length, size: 990, tail: weights))
        #expect(short?.what == .trailingBytes && short?.offset == UInt64(length) + 990)
        let long = refusal(outside(at: length, size: 1_001, tail: weights))
        #expect(long?.what == .badReference && long?.field.hasSuffix(".size") == true)
        #expect(refusal(outside(at: length + 100, size: 900, tail: weights))?.what == .gap)
        #expect(
            refusal(outside(at: length + 2_000, size: 0, tail: weights))?.field.hasSuffix(".offset") == true
        )
        func between(_ gap: [UInt8]) -> Found? {
            let part = [UInt8](repeating: 7, count: 100)
            let second = (start: length + 100 + gap.count, size: 100)
            return refusal(outside(at: length, size: 100, then: second, tail: part + gap + part))
        }
        #expect(between([]) == nil)
        #expect(between([UInt8](repeating: 0, count: 40)) == nil)
        let hidden = between([UInt8](repeating: 9, count: 40))
        #expect(hidden?.what == .gap && hidden?.offset == UInt64(length) + 100)
        // 0 and 1 say that the buffer is not there.
        #expect(refusal(outside(at: 1, size: 1_000, tail: weights))?.what == .trailingBytes)
        #expect(refusal(outside(at: 1, size: 1_000, tail: [])) == nil)
    }
}
