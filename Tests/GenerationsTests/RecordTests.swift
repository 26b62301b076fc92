import Generations
import Names
import Testing

@Suite("Generation record")
struct RecordTests {
    @Test("what is written is read back, and its bytes are the only form")
    func roundTrip() throws {
        let model = try DeviceFixture.record(of: DeviceFixture.manifest("vision/detector", "1.0.0-rc.1"))
        let other = try DeviceFixture.record(of: DeviceFixture.manifest("audio/wake", "2.0.0"))
        let record = try require(
            GenerationRecord(number: 7, previous: 6, created: DeviceFixture.start, models: [model, other])
        )
        #expect(GenerationRecord(canonical: record.canonical) == record)
        #expect(record.models.map(\.identity.model.description) == ["audio/wake", "vision/detector"])
        #expect(GenerationRecord(canonical: record.canonical + [0x0A]) == nil)
        #expect(GenerationRecord(canonical: [0x20] + record.canonical) == nil)
    }

    @Test("a model twice, number zero, or a previous one that is not lower, make no record")
    func refusals() throws {
        let model = try DeviceFixture.record(of: DeviceFixture.manifest("vision/detector", "1.0.0"))
        let time = DeviceFixture.start
        #expect(GenerationRecord(number: 1, previous: nil, created: time, models: [model, model]) == nil)
        #expect(GenerationRecord(number: 0, previous: nil, created: time, models: []) == nil)
        #expect(GenerationRecord(number: 3, previous: 3, created: time, models: []) == nil)
    }

    @Test(
        "a record with a name that leads elsewhere is no record",
        arguments: [
            ("\"vision/detector\"", "\"../detector\""), ("\"model.onnx\"", "\"../model.onnx\""),
            ("\"fp32\"", "\"fp32/..\""), ("\"1.0.0\"", "\"1.0.0/x\""), ("sealift/generation@1", "other@1"),
        ]
    )
    func hostileNames(_ sound: String, _ hostile: String) throws {
        let model = try DeviceFixture.record(of: DeviceFixture.manifest("vision/detector", "1.0.0"))
        let record = try require(
            GenerationRecord(number: 1, previous: nil, created: DeviceFixture.start, models: [model])
        )
        let text = String(decoding: record.canonical, as: UTF8.self)
        #expect(text.contains(sound))
        let changed = text.split(separator: sound, omittingEmptySubsequences: false).joined(
            separator: hostile
        )
        #expect(GenerationRecord(canonical: Array(changed.utf8)) == nil)
    }

    @Test("a trust state is read back, with its recalled digests in order and each once")
    func trustState() throws {
        let one = try require(Digest(bytes: [UInt8](repeating: 1, count: 32)))
        let two = try require(Digest(bytes: [UInt8](repeating: 2, count: 32)))
        let state = TrustState(
            checked: DeviceFixture.start,
            freshUntil: DeviceFixture.start.adding(seconds: 10),
            graceUntil: DeviceFixture.start.adding(seconds: 20),
            recalled: [two, one, two],
            clockFloor: DeviceFixture.start
        )
        #expect(state.recalled == [one, two])
        #expect(TrustState(canonical: state.canonical) == state)
        #expect(state.isFresh(at: DeviceFixture.start.adding(seconds: 9)))
        #expect(!state.isFresh(at: DeviceFixture.start.adding(seconds: 10)))
        #expect(state.isWithinGrace(at: DeviceFixture.start.adding(seconds: 19)))
        #expect(!state.isWithinGrace(at: DeviceFixture.start.adding(seconds: 20)))
    }
}
