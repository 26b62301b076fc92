#if canImport(CoreML)
// Memory as Apple's systems tell it; files of their own, left out elsewhere.
import CoreML
import Dispatch
import os

/// The system's memory pressure.
public struct ApplePressure: PressureSource {
    /// Follows this system.
    public init() {}

    /// Each change of the level.
    public func levels() -> AsyncStream<MemoryPressure> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: MemoryPressure.self,
            bufferingPolicy: .bufferingNewest(16)
        )
        let held = HeldSource(
            DispatchSource.makeMemoryPressureSource(eventMask: .all, queue: .global(qos: .utility))
        )
        held.source.setEventHandler { @Sendable in
            let event = held.source.data
            if event.contains(.critical) {
                continuation.yield(.critical)
            } else {
                continuation.yield(event.contains(.warning) ? .warning : .normal)
            }
        }
        continuation.onTermination = { @Sendable _ in held.source.cancel() }
        held.source.activate()
        return stream
    }
}

// A dispatch source may be read and cancelled on any thread, also where its protocol does not say so.
private final class HeldSource: @unchecked Sendable {
    let source: any DispatchSourceMemoryPressure

    init(_ source: any DispatchSourceMemoryPressure) { self.source = source }
}

/// Asks the system that this is built for.
public typealias SystemMemoryProbe = AppleMemoryProbe

/// What the system lets this app still have before it ends it.
public struct AppleMemoryProbe: MemoryProbe {
    /// Asks this system.
    public init() {}

    /// Unknown where the system says 0, as on a Mac.
    public func state() -> MemoryState {
        let available = os_proc_available_memory()
        return MemoryState(
            available: available > 0 ? UInt64(available) : nil,
            limit: nil,
            source: "the system's limit on this app"
        )
    }

    /// Not measured: memory of the neural engine and the graphics processor is not this process's.
    public func footprint() -> MemoryFootprint? { nil }

    /// Nothing: the allocator gives back by itself under pressure.
    public func giveBack() {}
}
#endif
