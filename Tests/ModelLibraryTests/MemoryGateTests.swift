import Names
import Testing

@testable import ModelLibrary

@Suite("Memory gate")
struct MemoryGateTests {
    private static let mebibyte: UInt64 = 1 << 20

    private func policy(budget: UInt64? = nil) -> MemoryPolicy {
        var policy = MemoryPolicy(budget: budget.map { $0 * Self.mebibyte })
        policy.headroom = 64 * Self.mebibyte
        policy.headroomShare = 0.1
        return policy
    }

    private func held(
        _ number: Int,
        _ mebibytes: UInt64,
        inUse: Bool = false,
        pinned: Bool = false,
        _ priority: ModelPriority = .normal,
        replaced: Bool = false,
        at seconds: Int = 0
    ) -> MemoryGate.Held {
        MemoryGate.Held(
            number: number,
            bytes: mebibytes * Self.mebibyte,
            isInUse: inUse,
            isPinned: pinned,
            priority: priority,
            isReplaced: replaced,
            lastUse: .seconds(seconds)
        )
    }

    private func decide(
        _ need: UInt64,
        available: UInt64?,
        limit: UInt64? = 1_000,
        budget: UInt64? = nil,
        priority: ModelPriority = .normal,
        mayEvict: Bool = true,
        _ held: [MemoryGate.Held] = []
    ) -> MemoryGate.Decision {
        MemoryGate(policy: policy(budget: budget)).decide(
            need: need * Self.mebibyte,
            priority: priority,
            mayEvict: mayEvict,
            state: MemoryState(
                available: available.map { $0 * Self.mebibyte },
                limit: limit.map { $0 * Self.mebibyte },
                source: "the test"
            ),
            held: held
        )
    }

    @Test("what fits beside the headroom is loaded, one byte more is not")
    func fits() {
        #expect(decide(400, available: 500) == .load)
        #expect(
            decide(401, available: 500)
                == .doesNotFit(needed: 401 << 20, available: 400 << 20, source: "the test")
        )
        #expect(decide(5_000, available: nil, limit: nil) == .load)
    }

    @Test("what is more than the limit without the headroom never fits")
    func never() {
        #expect(
            decide(901, available: 999) == .neverFits(needed: 901 << 20, limit: 900 << 20, source: "the test")
        )
        #expect(
            decide(300, available: 999, budget: 200)
                == .neverFits(needed: 300 << 20, limit: 200 << 20, source: "the budget")
        )
    }

    @Test("idle models make room: replaced ones, then low priorities, then the longest unused")
    func victims() {
        let models = [
            held(1, 100, .normal, at: 9), held(2, 100, .low, at: 5), held(3, 100, .normal, at: 2),
            held(4, 100, .normal, replaced: true, at: 8), held(5, 100, .high, at: 0),
        ]
        #expect(decide(150, available: 100, models) == .evict([4, 2]))
        #expect(decide(350, available: 100, models) == .evict([4, 2, 3, 1]))
        #expect(decide(450, available: 100, priority: .high, models) == .evict([4, 2, 3, 1, 5]))
    }

    @Test("models in use, pinned or of a higher priority make no room")
    func spared() {
        let spared = [held(1, 500, pinned: true), held(2, 500, .high)]
        #expect(
            decide(200, available: 100, spared)
                == .doesNotFit(needed: 200 << 20, available: 0, source: "the test")
        )
        #expect(decide(200, available: 100, [held(1, 500, inUse: true)]) == .wait)
        #expect(decide(200, available: 100, mayEvict: false, [held(1, 500)]) != .evict([1]))
    }

    @Test("the budget counts what is loaded")
    func budget() {
        let models = [held(1, 150), held(2, 100, inUse: true)]
        #expect(decide(50, available: 900, budget: 300, models) == .load)
        #expect(decide(100, available: 900, budget: 300, models) == .evict([1]))
        #expect(decide(250, available: 900, budget: 300, models) == .wait)
    }

    @Test("a model in use that could not make enough room is not waited for")
    func hopeless() {
        #expect(
            decide(600, available: 100, [held(1, 10, inUse: true)])
                == .doesNotFit(needed: 600 << 20, available: 0, source: "the test")
        )
    }
}

@Suite("Memory probe")
struct MemoryProbeTests {
    private static let machine = "MemTotal:       24683840 kB\nMemAvailable:   20000000 kB\n"

    private func state(_ files: [String: String]) -> MemoryState {
        LinuxMemoryProbe(text: { files[$0] }).state()
    }

    @Test("without control groups the machine decides")
    func bare() {
        let state = state(["/proc/meminfo": Self.machine])
        #expect(state.available == 20_000_000 << 10)
        #expect(state.limit == 24_683_840 << 10)
        #expect(state.source == "the machine")
    }

    @Test("a group of version 2 limits, and so does every group above it")
    func unified() {
        let state = state([
            "/proc/meminfo": Self.machine, "/proc/self/cgroup": "0::/app/worker\n",
            "/sys/fs/cgroup/app/worker/memory.max": "max\n",
            "/sys/fs/cgroup/app/worker/memory.current": "1000000\n",
            "/sys/fs/cgroup/app/memory.max": "268435456\n", "/sys/fs/cgroup/app/memory.high": "200000000\n",
            "/sys/fs/cgroup/app/memory.current": "150000000\n",
            "/sys/fs/cgroup/app/memory.stat": "anon 1\ninactive_file 50000000\nactive_file 7\n",
        ])
        #expect(state.available == 100_000_000)
        #expect(state.limit == 200_000_000)
        #expect(state.source == "the control group /app")
    }

    @Test("a group of version 1 limits, with file pages that can be dropped left out")
    func legacy() {
        let state = state([
            "/proc/meminfo": Self.machine,
            "/proc/self/cgroup": "5:cpu:/x\n4:memory:/box\n0::/\n",
            "/sys/fs/cgroup/memory/box/memory.limit_in_bytes": "104857600\n",
            "/sys/fs/cgroup/memory/box/memory.usage_in_bytes": "94857600\n",
            "/sys/fs/cgroup/memory/box/memory.stat": "inactive_file 1\ntotal_inactive_file 50000000\n",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes": "1\n",
        ])
        #expect(state.available == 60_000_000)
        #expect(state.limit == 104_857_600)
    }

    private func circumstances(_ number: Int) throws -> MemoryCosts.Circumstances {
        let bytes = (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) }
        return MemoryCosts.Circumstances(
            manifest: try #require(Digest(bytes: bytes)),
            runtime: "fake 1",
            options: "speed"
        )
    }

    @Test(
        "of the last costs that were measured the middle one counts, and those of longest ago are forgotten"
    )
    func costs() throws {
        var costs = MemoryCosts()
        let first = try circumstances(0)
        costs.learn(100, in: first)
        costs.learn(500, in: first)
        #expect(costs.measured(first) == 500, "of two the greater one")
        costs.learn(100, in: first)
        #expect(costs.measured(first) == 100, "one load beside others is not reckoned with for good")
        for _ in 0..<3 { costs.learn(700, in: first) }
        #expect(costs.measured(first) == 700)
        #expect(costs.samples[first] == [500, 100, 700, 700, 700])
        for number in 1...MemoryCosts.capacity { costs.learn(1, in: try circumstances(number)) }
        #expect(costs.measured(first) == nil)
        #expect(costs.samples.count == MemoryCosts.capacity)
        #expect(costs.order.count == MemoryCosts.capacity)
    }

    @Test("of a full file's costs the ones learned longest ago make way for those of this run")
    func followed() throws {
        var (kept, fresh) = (MemoryCosts(), MemoryCosts())
        for number in 1...MemoryCosts.capacity { kept.learn(9, in: try circumstances(number)) }
        let (new, both, oldest) = (try circumstances(0), try circumstances(7), try circumstances(1))
        fresh.learn(5, in: new)
        fresh.learn(3, in: both)
        let costs = kept.followed(by: fresh)
        #expect(costs.samples[new] == [5])
        #expect(costs.samples[both] == [9, 3])
        #expect(costs.samples[oldest] == nil)
        #expect(costs.order.suffix(2) == [new, both])
        #expect(costs.samples.count == MemoryCosts.capacity)
    }

    @Test("what a group above allows counts where that group is not to be seen")
    func hierarchical() {
        let state = state([
            "/proc/meminfo": Self.machine, "/proc/self/cgroup": "4:memory:/docker/x\n",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
            "/sys/fs/cgroup/memory/memory.usage_in_bytes": "40000000\n",
            "/sys/fs/cgroup/memory/memory.stat":
                "hierarchical_memory_limit 104857600\ntotal_inactive_file 10000000\n",
        ])
        #expect(state.available == 74_857_600)
        #expect(state.limit == 104_857_600)
    }

    @Test(
        "limits that were met are counted in every group: all of its own, and those above by what is theirs alone"
    )
    func limitsMet() {
        func met(_ files: [String: String]) -> UInt64? { CGroupMemory { files[$0] }.limitsMet() }
        #expect(
            met([
                "/proc/self/cgroup": "0::/app/worker\n",
                "/sys/fs/cgroup/app/worker/memory.events": "low 9\nhigh 2\nmax 3\noom 1\noom_kill 1\n",
                "/sys/fs/cgroup/app/memory.events": "low 0\nhigh 100\nmax 100\noom 0\n",
                "/sys/fs/cgroup/app/memory.events.local": "low 0\nhigh 0\nmax 10\noom 0\n",
            ]) == 16
        )
        #expect(
            met([
                "/proc/self/cgroup": "4:memory:/box/job\n0::/\n",
                "/sys/fs/cgroup/memory/box/job/memory.failcnt": "5\n",
                "/sys/fs/cgroup/memory/box/job/memory.oom_control":
                    "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
                "/sys/fs/cgroup/memory/box/memory.failcnt": "30\n",
            ]) == 37
        )
        #expect(met(["/proc/self/cgroup": "0::/\n"]) == nil)
    }

    @Test("a limit on address space counts what is mapped already")
    func addressSpace() {
        let state = state([
            "/proc/meminfo": Self.machine,
            "/proc/self/limits":
                "Max address space         300000000            unlimited            bytes\n",
            "/proc/self/status": "Name:\tx\nVmSize:\t  100000 kB\n",
        ])
        #expect(state.limit == 300_000_000)
        #expect(state.available == 300_000_000 - 100_000 << 10)
        #expect(state.source == "the limit on address space")
    }

    @Test("files that are missing or say nothing leave the answer open")
    func nothing() {
        #expect(state([:]) == MemoryState(available: nil, limit: nil, source: "the machine"))
        let odd = state(["/proc/meminfo": "MemAvailable: lots\n", "/proc/self/cgroup": "nonsense\n0\n:::\n"])
        #expect(odd.available == nil)
    }

    @Test("this machine says what it has and what this process holds")
    func real() throws {
        let probe = LinuxMemoryProbe()
        let state = probe.state()
        #expect(try #require(state.available) > 1 << 20)
        #expect(try #require(state.limit) >= (try #require(state.available)))
        let before = try #require(probe.footprint())
        #expect(before.anonymous > 1 << 20)
        #expect(before.resident >= before.anonymous)
        // Much, since tests beside this one free what they had, a model of 32 MiB among it.
        var block = [UInt8](repeating: 0, count: 256 << 20)
        for index in stride(from: 0, to: block.count, by: 4_096) { block[index] = 1 }
        #expect(try #require(probe.footprint()).anonymous >= before.anonymous + 192 << 20)
        #expect(block[4_096] == 1)
    }
}
