import Durable
import Generations
import Names
import Support
import Testing

@Suite("Collection")
struct CollectionTests {
    private let fixture: DeviceFixture

    init() throws { fixture = try DeviceFixture() }

    private func versions() throws -> [String] {
        try Durable.names(in: "\(fixture.device.versionsPath)/vision/detector")
            .filter { !$0.hasSuffix(".json") }
            .map { String($0.prefix { $0 != "-" }) }
    }

    @Test("the active generation, the one before it and those left lately stay; the rest goes")
    func retention() throws {
        for (index, version) in ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0"].enumerated() {
            try fixture.activate(version, after: Int64(index) * 100)
        }
        // 1.3.0 was left at 400, 1.2.0 at 300, 1.1.0 at 200, 1.0.0 at 100.
        let now = DeviceFixture.start.adding(seconds: 450)
        let planned = try fixture.device.collect(
            now: now,
            retain: 200,
            isWanted: { _ in false },
            mode: .report
        )
        #expect(try versions().count == 5)
        let report = try fixture.device.collect(now: now, retain: 200, isWanted: { _ in false })
        #expect(report == planned)
        #expect(report.generations == [1, 2])
        #expect(try versions() == ["1.2.0", "1.3.0", "1.4.0"])
        _ = try fixture.device.collect(now: now, retain: 0, isWanted: { _ in false })
        #expect(try versions() == ["1.3.0", "1.4.0"])
        #expect(try Durable.names(in: fixture.device.generationsPath) == ["000004", "000005"])
        #expect(try fixture.activeVersion == "1.4.0")
    }

    @Test("fifty updates leave two versions")
    func manyUpdates() throws {
        for index in 1...50 {
            try fixture.activate("1.0.\(index)", after: Int64(index))
            _ = try fixture.device.collect(
                now: DeviceFixture.start.adding(seconds: 1_000),
                retain: 0,
                isWanted: { _ in false }
            )
        }
        #expect(try versions() == ["1.0.49", "1.0.50"])
    }

    @Test("a leased version stays until the lease ends")
    func lease() throws {
        try fixture.activate("1.0.0")
        var lease = try fixture.device.activeModel(fixture.detector).lease()
        #expect(lease != nil)
        try fixture.activate("1.1.0")
        try fixture.activate("1.2.0")
        let now = DeviceFixture.start.adding(seconds: 1_000)
        let first = try fixture.device.collect(now: now, retain: 0, isWanted: { _ in false })
        #expect(first.leased.count == 1)
        #expect(try versions() == ["1.0.0", "1.1.0", "1.2.0"])
        lease = nil
        _ = try fixture.device.collect(now: now, retain: 0, isWanted: { _ in false })
        #expect(try versions() == ["1.1.0", "1.2.0"])
    }

    @Test("left-overs of stopped work go, and downloads that are still wanted stay")
    func leftovers() throws {
        try fixture.activate("1.0.0")
        let device = fixture.device
        try Durable.makeDirectory("\(device.versionsPath)/vision/detector/.staging-1/extra")
        try Durable.writeAtomically("\(device.incomingPath)/wanted", [1])
        try Durable.writeAtomically("\(device.incomingPath)/unwanted", [1])
        let partial = [".current.77", "trust/.root.json.78", "trust/targets/.a.79", "device/.rollout.80"]
        for name in partial {
            try Durable.makeDirectory(Durable.parent(of: "\(device.path)/\(name)"))
            try Durable.writeAtomically("\(device.path)/\(name).partial", [1])
        }
        _ = try device.collect(now: DeviceFixture.start, retain: 0, isWanted: { $0 == "wanted" })
        #expect(try versions() == ["1.0.0"])
        #expect(try Durable.names(in: device.incomingPath) == ["wanted"])
        for name in partial { #expect(try Durable.kind(of: "\(device.path)/\(name).partial") == nil) }
    }

    @Test("nothing is collected where nothing is active")
    func nothingActive() throws {
        try DeviceFixture.install("1.0.0", on: fixture.device)
        try Durable.makeDirectory("\(fixture.device.generationsPath)/000001")
        let report = try fixture.device.collect(now: DeviceFixture.start, retain: 0, isWanted: { _ in true })
        #expect(report.generations.isEmpty)
    }
}
