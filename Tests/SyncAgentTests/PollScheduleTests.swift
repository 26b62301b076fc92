import Names
import SyncAgent
import Testing

@Suite("When a watching agent syncs next")
struct PollScheduleTests {
    private static func report(poll: Int64, failure: SyncError? = nil) async throws -> SyncReport {
        let fixture = try SyncFixture()
        try fixture.registry.release("1.0.0")
        var report = try await fixture.sync()
        report.pollSeconds = poll
        report.models[0].failure = failure
        return report
    }

    @Test("after a sync it waits as the registry signed, a tenth more or less")
    func signed() async throws {
        let report = try await Self.report(poll: 1_000)
        var schedule = PollSchedule()
        #expect(schedule.wait(after: report, nil, chance: 0) == 900)
        #expect(schedule.wait(after: report, nil, chance: 0.5) == 1_000)
        var own = PollSchedule(every: 10)
        #expect(own.wait(after: report, nil, chance: 0.5) == 10, "the operator's own word counts")
    }

    @Test("a refusal and an expired chain wait as a success does")
    func refused() async throws {
        var schedule = PollSchedule()
        _ = schedule.wait(after: try await Self.report(poll: 500), nil, chance: 0)
        for code in [ErrorCode.signature, .expiredWithinGrace, .certificate, .paused] {
            #expect(schedule.wait(after: nil, SyncError(code: code, ""), chance: 0.5) == 500)
        }
    }

    @Test("an outage is tried again soon, then less and less often, never less than a poll")
    func outage() async throws {
        var schedule = PollSchedule()
        _ = schedule.wait(after: try await Self.report(poll: 60), nil, chance: 0)
        let down = SyncError(code: .unreachable, "")
        let waits = (0..<7).map { _ in schedule.wait(after: nil, down, chance: 0.5) }
        #expect(waits == [3.75, 7.5, 15, 30, 45, 45, 45])
        _ = schedule.wait(after: try await Self.report(poll: 60), nil, chance: 0)
        #expect(schedule.wait(after: nil, down, chance: 0.5) == 3.75, "a success forgets them")
        let partly = try await Self.report(poll: 60, failure: SyncError(code: .diskFull, ""))
        #expect(schedule.wait(after: partly, nil, chance: 0.5) == 7.5, "one model's outage is one too")
    }

    @Test("what a server asks for in Retry-After is kept, and not by all at one moment")
    func retryAfter() {
        var schedule = PollSchedule(every: 60)
        var busy = SyncError(code: .serverError, "")
        busy.retryAfter = 500
        #expect(schedule.wait(after: nil, busy, chance: 0) == 500)
        #expect(schedule.wait(after: nil, busy, chance: 0.5) == 525)
    }
}
