import Inference
import ModelLibraryTesting
import Testing

@testable import ModelLibrary

@Suite("Model library: settings at the ends of their types", .timeLimit(.minutes(1)))
struct ExtremeSettingsTests {
    private static let never: [Duration] = [
        .seconds(Int64.max), .seconds(1e20), .seconds(1.6e20), .seconds(-1.6e20), .seconds(Int64.min),
    ]

    private func version(
        limit: UInt64? = nil,
        _ request: ModelRequest? = nil,
        _ configure: (inout LibraryConfiguration) -> Void
    ) async throws -> String {
        let device = FakeDevice()
        try device.activate("a/a", "1.0.0")
        var configuration = LibraryConfiguration()
        configure(&configuration)
        let library = ModelLibrary(
            device: device,
            runtimes: [FakeRuntime()],
            configuration: configuration,
            memory: FakeMemory(limit: limit)
        )
        return try await library.withModel(try request ?? ModelRequest("a/a")) { $0.version }
    }

    @Test("a deadline of for ever is one, in a request and in the configuration", arguments: never.prefix(3))
    func deadline(time: Duration) async throws {
        var request = try ModelRequest("a/a", deadline: time)
        #expect(try await version(request) { _ in } == "1.0.0")
        request.deadline = time
        #expect(try await version(request) { $0.deadline = time } == "1.0.0")
    }

    @Test("no other time of the configuration traps", arguments: never)
    func times(time: Duration) async throws {
        let answer = try await version(limit: 8 << 30) { configuration in
            configuration.memory.patience = time
            configuration.retryAfter = time
            configuration.recheck = time
            if time > .zero {
                configuration.idleTimeout = time
                configuration.longLoad = time
                configuration.longLease = time
            }
        }
        #expect(answer == "1.0.0")
    }

    @Test("every time of the configuration is held to a hundred years", arguments: never.prefix(3))
    func held(time: Duration) {
        var configuration = LibraryConfiguration()
        configuration.idleTimeout = time
        configuration.memory.patience = time
        configuration.deadline = time
        configuration.longLoad = time
        configuration.longLease = time
        configuration.recheck = time
        configuration.retryAfter = time
        let held = configuration.held
        let times: [Duration?] = [
            held.idleTimeout, held.memory.patience, held.deadline, held.longLoad, held.longLease,
            held.recheck, held.retryAfter,
        ]
        let century = Duration.seconds(100 * 365 * 86_400)
        #expect(times.allSatisfy { $0 == century }, "\(times)")
    }

    @Test("a sleep of for ever is one that can be cancelled", arguments: never.prefix(3))
    func sleep(time: Duration) async throws {
        let task = Task { try await SystemClock().sleep(until: time) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(
        "a share of headroom that is none is 0 or all",
        arguments: [
            (Double.nan, UInt64(8) << 30, UInt64(0)), (-1, 8 << 30, 0), (1, .max, .max),
            (.infinity, .max, .max),
            (1.0.nextDown, .max, UInt64.max - 2_047), (0.5, 8 << 30, 4 << 30),
        ]
    )
    func headroom(share: Double, limit: UInt64, expected: UInt64) {
        var policy = MemoryPolicy()
        policy.headroom = 0
        policy.headroomShare = share
        #expect(MemoryGate(policy: policy).headroom(under: limit) == expected)
    }
}
