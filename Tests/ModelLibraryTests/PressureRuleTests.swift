import Testing

@testable import ModelLibrary

@Suite("Pressure rule")
struct PressureRuleTests {
    private func sight(
        some: Double? = nil,
        full: Double? = nil,
        met: UInt64? = nil,
        left: UInt64? = nil
    )
        -> PressureRule.Sight
    {
        PressureRule.Sight(
            some: some,
            full: full,
            limitsMet: met,
            state: left.map { MemoryState(available: $0, limit: 100, source: "the test") }
        )
    }

    @Test("stalls and what is left make the level")
    func levels() {
        var rule = PressureRule()
        #expect(rule.see(sight(some: 7.4, full: 4.9, left: 10), at: .seconds(1)) == nil)
        #expect(rule.see(sight(some: 7.5), at: .seconds(2)) == .warning)
        #expect(rule.see(sight(full: 5), at: .seconds(3)) == .critical)
        #expect(rule.level == .critical)
        var other = PressureRule()
        #expect(other.see(sight(left: 9), at: .zero) == .warning)
        #expect(other.see(sight(left: 4), at: .zero) == .critical)
    }

    @Test("a group that meets its limit is critical, and one that met it long ago is not")
    func events() {
        var rule = PressureRule()
        #expect(rule.see(sight(met: 17), at: .zero) == nil)
        #expect(rule.see(sight(met: 17), at: .seconds(2)) == nil)
        #expect(
            rule.see(sight(met: 18, left: 60), at: .seconds(4)) == nil,
            "pages of files alone, with the rest free"
        )
        #expect(rule.see(sight(met: 18, left: 15), at: .seconds(6)) == nil)
        #expect(rule.see(sight(met: 19, left: 15), at: .seconds(8)) == .critical)
    }

    @Test("a level falls after ten quiet seconds and not before")
    func hysteresis() {
        var rule = PressureRule()
        #expect(rule.see(sight(full: 9), at: .seconds(0)) == .critical)
        #expect(rule.see(sight(), at: .seconds(9)) == nil)
        #expect(rule.see(sight(full: 9), at: .seconds(9)) == nil)
        #expect(rule.see(sight(some: 8), at: .seconds(18)) == nil)
        #expect(rule.see(sight(some: 8), at: .seconds(19)) == .warning)
        #expect(rule.see(sight(), at: .seconds(29)) == .normal)
    }

    @Test("a storm that comes and goes every second changes the level once")
    func storm() {
        var rule = PressureRule()
        var changes: [MemoryPressure] = []
        for second in 0..<60 {
            let seen = sight(full: second % 2 == 0 ? 50 : 0)
            if let level = rule.see(seen, at: .seconds(second)) { changes.append(level) }
        }
        #expect(changes == [.critical])
    }

    @Test("the kernel's lines are read, and others are passed over")
    func reading() {
        var sight = PressureRule.Sight()
        sight.read(
            pressure: """
                some avg10=12.50 avg60=1.00 avg300=0.10 total=123
                full avg10=3.25 avg60=0.00 avg300=0.00 total=45
                other avg10=99.00
                """
        )
        #expect(sight == PressureRule.Sight(some: 12.5, full: 3.25, limitsMet: nil, state: nil))
        var empty = PressureRule.Sight()
        empty.read(pressure: "some avg10=lots\nnonsense\n")
        #expect(empty == PressureRule.Sight())
    }

    @Test(
        "Android's levels ask for what they mean",
        arguments: [
            (5, MemoryPressure.warning), (10, .warning), (15, .critical), (20, nil), (40, .warning),
            (60, .warning), (80, .critical), (0, nil),
        ] as [(Int, MemoryPressure?)]
    )
    func android(level: Int, expected: MemoryPressure?) {
        #expect(MemoryPressure(androidTrimLevel: level) == expected)
    }

    @Test(
        "an interval that cannot be waited for is held at the ends",
        arguments: [(.infinity, 3_600), (.nan, 0.01), (-1, 0.01), (2, 2)] as [(Double, Double)]
    )
    func interval(asked: Double, kept: Double) {
        #expect(LinuxPressure(interval: asked).interval == kept)
    }

    @Test("this machine's pressure is watched, and the thread ends with its reader")
    func real() async {
        var levels = LinuxPressure(interval: 0.05).levels().makeAsyncIterator()
        let task = Task { await levels.next() }
        task.cancel()
        _ = await task.value
        #expect(LinuxPressure.sight().state?.available != nil)
    }
}
