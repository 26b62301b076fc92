import Blocking
import Names
import Testing

@Suite("Waiting")
struct WaitingTests {
    @Test("a wait lasts as long as asked")
    func lasts() async throws {
        let start = MonotonicTime.now
        try await Blocking.sleep(seconds: 0.05)
        #expect(MonotonicTime.now.seconds(since: start) >= 0.05)
    }

    @Test("many waits at once end in the order of their times")
    func order() async throws {
        let ended = Guarded<[Int]>([])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in [3, 1, 2] {
                group.addTask {
                    try await Blocking.sleep(seconds: Double(index) * 0.08)
                    ended.withLock { $0.append(index) }
                }
            }
            try await group.waitForAll()
        }
        #expect(ended.withLock { $0 } == [1, 2, 3])
    }

    @Test("a cancelled wait ends at once")
    func cancelled() async throws {
        let start = MonotonicTime.now
        let task = Task { try await Blocking.sleep(seconds: 60) }
        try await Blocking.sleep(seconds: 0.02)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(MonotonicTime.now.seconds(since: start) < 30)
    }

    @Test("a wait in a task that is cancelled already does not begin")
    func cancelledBefore() async throws {
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await Blocking.sleep(seconds: 60)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("a time that has passed is no wait")
    func past() async throws {
        try await Blocking.sleep(until: MonotonicTime(nanoseconds: 1))
        try await Blocking.sleep(seconds: -3)
    }

    @Test("adding to a time is held at the end of the range")
    func heldAtEnd() {
        let late = MonotonicTime(nanoseconds: .max - 1)
        #expect(late.adding(seconds: 1e30) == MonotonicTime(nanoseconds: .max))
        #expect(late.adding(seconds: .nan) == late)
    }
}

@Suite("Blocking pool")
struct BlockingPoolTests {
    private enum Wrong: Error { case asked }

    @Test("never more calls run than the pool is wide, and all of them run")
    func width() async {
        let pool = BlockingPool(width: 3)
        let counts = Guarded((now: 0, most: 0, all: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    await pool.run {
                        counts.withLock { counts in
                            counts.now += 1
                            counts.all += 1
                            counts.most = max(counts.most, counts.now)
                        }
                        _ = Cancellation().wait(seconds: 0.002)
                        counts.withLock { $0.now -= 1 }
                    }
                }
            }
        }
        let (most, all) = counts.withLock { ($0.most, $0.all) }
        #expect(all == 50)
        #expect((1...3).contains(most))
    }

    @Test("a thread that was started ahead does the work, and counts as one of the pool's")
    func ahead() async {
        let pool = BlockingPool(width: 1)
        for _ in 0..<3 { pool.startAhead() }
        let now = Guarded(0)
        let most = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    await pool.run {
                        let count = now.withLock { now in
                            now += 1
                            return now
                        }
                        _ = Cancellation().wait(seconds: 0.002)
                        now.withLock { $0 -= 1 }
                        return count
                    }
                }
            }
            return await group.reduce(0, max)
        }
        #expect(most == 1)
    }

    @Test("a typed error comes through as it was thrown")
    func typed() async {
        await #expect(throws: Wrong.asked) {
            try await BlockingPool.shared.run { () throws(Wrong) -> Int in throw Wrong.asked }
        }
    }

    @Test("cancelling the task tells the work at once")
    func cancellation() async throws {
        let cancellation = Cancellation()
        let task = Task {
            await BlockingPool.shared.run(onCancel: { cancellation.cancel() }) {
                cancellation.wait(seconds: 60)
            }
        }
        try await Blocking.sleep(seconds: 0.02)
        task.cancel()
        #expect(await task.value)
    }
}

@Suite("Blocking executor")
struct BlockingExecutorTests {
    private actor Blocked {
        private let executor = BlockingExecutor(label: "test")
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
        private var count = 0

        func block(_ begun: Guarded<Int>, until gate: Cancellation) -> Bool {
            begun.withLock { $0 += 1 }
            return gate.wait(seconds: 300)
        }
    }

    @Test("blocked actors do not hold up other tasks")
    func blockedActors() async throws {
        let (begun, gate) = (Guarded(0), Cancellation())
        async let released = withTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 { group.addTask { await Blocked().block(begun, until: gate) } }
            return await group.reduce(true) { $0 && $1 }
        }
        // With all of Swift's own threads blocked, this task would open the gate too late.
        while begun.withLock({ $0 }) < 16 { try await Blocking.sleep(seconds: 0.01) }
        gate.cancel()
        #expect(await released)
    }
}

@Suite("Byte ring")
struct ByteRingTests {
    @Test("all bytes come through in order, cut at multiples of the slot", arguments: [0, 5, 64, 100, 1_000])
    func order(_ start: UInt64) async {
        let sent = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let ring = ByteRing(slotSize: 64, slots: 3, position: start)
        async let done: Bool = BlockingPool.shared.run {
            for index in stride(from: 0, to: sent.count, by: 37) {
                let part = sent[index..<min(index + 37, sent.count)]
                guard part.withUnsafeBytes({ ring.put($0) }) else { return false }
            }
            ring.finish()
            return true
        }
        let (received, misplaced): ([UInt8], Int) = await BlockingPool.shared.run {
            var received: [UInt8] = []
            var misplaced = 0
            ring.consume { position, bytes in
                if position != start + UInt64(received.count) { misplaced += 1 }
                let last = position + UInt64(bytes.count) - 1
                if position / 64 != last / 64 { misplaced += 1 }
                received += bytes
                return true
            }
            return (received, misplaced)
        }
        #expect(await done)
        #expect(received == sent)
        #expect(misplaced == 0)
    }

    @Test("on a slow line whole units are passed on before the slot is full, and nothing is cut within one")
    func slowLine() async {
        let ring = ByteRing(slotSize: 64, slots: 3, position: 0, unit: 16)
        let hasArrived = Cancellation()
        async let done: Bool = BlockingPool.shared.run {
            let bytes = (0..<64).map { UInt8($0) }
            // Slower than the ring's patience, until the consumer has something.
            for index in stride(from: 0, to: 64, by: 8) {
                guard bytes[index..<index + 8].withUnsafeBytes({ ring.put($0) }) else { return false }
                _ = hasArrived.wait(seconds: 0.2)
            }
            ring.finish()
            return true
        }
        let pieces: [(UInt64, Int)] = await BlockingPool.shared.run {
            var pieces: [(UInt64, Int)] = []
            ring.consume { position, bytes in
                pieces.append((position, bytes.count))
                hasArrived.cancel()
                return true
            }
            return pieces
        }
        #expect(await done)
        #expect(pieces.count > 1 && pieces.allSatisfy { $0.0 % 16 == 0 && $0.1 % 16 == 0 })
        #expect(pieces.reduce(0) { $0 + $1.1 } == 64)
    }

    @Test("a consumer that refuses stops the producer")
    func refusal() async {
        let ring = ByteRing(slotSize: 64, slots: 2, position: 0)
        async let accepted: Bool = BlockingPool.shared.run {
            let bytes = [UInt8](repeating: 1, count: 64)
            for _ in 0..<1_000 where !bytes.withUnsafeBytes({ ring.put($0) }) { return false }
            return true
        }
        await BlockingPool.shared.run { ring.consume { position, _ in position < 128 } }
        #expect(await !accepted)
    }
}
