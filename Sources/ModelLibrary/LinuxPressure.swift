#if os(Linux)
import Blocking
import Glibc

/// Pressure as Linux tells it: pressure stall information, events of control groups, and what is available.
///
/// One thread of its own waits in `poll`: for a trigger of the kernel where it
/// grants one (150 ms of waiting within two seconds, which needs no
/// privilege), and else for two seconds to pass. Each time it wakes it reads
/// averages, events and what is available, so that a kernel without pressure
/// stall information is watched too.
public struct LinuxPressure: PressureSource {
    let interval: Double

    /// - Parameter interval: The longest time between two looks, in seconds; held between 0.01 and 3,600.
    public init(interval: Double = 2) { self.interval = interval > 0.01 ? min(interval, 3_600) : 0.01 }

    /// Each change of the level; the thread ends soon after the last reader of the stream went.
    public func levels() -> AsyncStream<MemoryPressure> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: MemoryPressure.self,
            bufferingPolicy: .bufferingNewest(16)
        )
        let cancellation = Cancellation()
        continuation.onTermination = { _ in cancellation.cancel() }
        let interval = interval
        let began = OwnThread.start {
            Self.watch(every: interval, until: cancellation) { continuation.yield($0) }
            continuation.finish()
        }
        if !began { continuation.finish() }
        return stream
    }

    /// Looks until cancelled.
    static func watch(
        every interval: Double,
        until cancellation: Cancellation,
        _ tell: (MemoryPressure) -> Void
    ) {
        let clock = SystemClock()
        let trigger = trigger()
        defer { if trigger >= 0 { close(trigger) } }
        var rule = PressureRule()
        while !cancellation.isCancelled {
            if let level = rule.see(sight(), at: clock.now) { tell(level) }
            var watched = [
                pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: trigger, events: Int16(POLLPRI), revents: 0),
            ]
            // A trigger that fires all the time must not make this thread run all the time.
            if poll(&watched, 2, Int32(interval * 1_000)) > 0, watched[1].revents != 0 {
                if cancellation.wait(seconds: 0.1) { return }
            }
        }
    }

    static func sight() -> PressureRule.Sight {
        var sight = PressureRule.Sight()
        if let text = SystemFile.text("/proc/pressure/memory") { sight.read(pressure: text) }
        sight.limitsMet = CGroupMemory(SystemFile.text).limitsMet()
        sight.state = LinuxMemoryProbe().state()
        return sight
    }

    /// A descriptor that becomes urgent under pressure; -1 where the kernel has none to give.
    private static func trigger() -> Int32 {
        let descriptor = open("/proc/pressure/memory", O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return -1 }
        let wanted = Array("some 150000 2000000".utf8) + [0]
        guard write(descriptor, wanted, wanted.count) == wanted.count else {
            close(descriptor)
            return -1
        }
        return descriptor
    }
}
#endif
