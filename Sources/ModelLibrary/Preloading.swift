import Names

/// What a machine can carry, for the choice of what to load before anybody asks.
public enum DeviceClass: String, Sendable, CaseIterable, Hashable {
    /// Less than 3 GiB for this process.
    case small

    /// Less than 12 GiB.
    case medium

    /// More.
    case large

    /// The class of a machine in that state.
    ///
    /// - Parameter state: Its limit counts; a machine that says nothing is small.
    public init(_ state: MemoryState) {
        self =
            switch state.limit ?? 0 {
            case ..<(3 << 30): .small
            case ..<(12 << 30): .medium
            default: .large
            }
    }
}

/// What came of loading one model before anybody asked.
public struct PreloadOutcome: Sendable {
    /// The name, `vision/detector`.
    public let model: String

    /// Why it is not in memory; `nil` when it is.
    public let failure: (any Error)?
}

extension ModelLibrary {
    /// Loads models before anybody asks for them, one after another; makes nobody else go.
    ///
    /// What the residency policy has no place for beside the others is not
    /// loaded, unless it is pinned: `ModelLibraryError.notPreloaded`.
    ///
    /// - Parameter requests: In the order of importance.
    /// - Returns: What came of each.
    @discardableResult
    public nonisolated func preload(_ requests: [ModelRequest]) async -> [PreloadOutcome] {
        var outcomes: [PreloadOutcome] = []
        for request in requests {
            var modest = request
            modest.priority = .low
            var failure: (any Error)?
            do {
                try mayPreload(request)
                try await withModel(modest) { _ in }
                setPriority(of: request)
            } catch {
                failure = error
            }
            outcomes.append(PreloadOutcome(model: request.model, failure: failure))
        }
        return outcomes
    }

    /// Loads what the plan names for this machine's class.
    ///
    /// - Parameter plan: Requests by class.
    /// - Returns: What came of each.
    @discardableResult
    public nonisolated func preload(_ plan: [DeviceClass: [ModelRequest]]) async -> [PreloadOutcome] {
        await preload(plan[await deviceClass] ?? [])
    }

    /// The class of this machine.
    public var deviceClass: DeviceClass {
        get async { DeviceClass(await memoryState()) }
    }

    /// Whether the residency policy has a place for one more.
    private nonisolated func mayPreload(_ request: ModelRequest) throws(ModelLibraryError) {
        guard let count = configuration.residency.count, !request.isPinned else { return }
        let wanted = wanted(request)
        let hasPlace = table.change { state in
            let others = state.slots.values.filter { slot in
                !slot.isPinned && slot.retirement == nil && slot.resident.key.wanted != wanted
            }
            return state.pins.contains(wanted) || others.count < count
                || state.slots.values.contains { $0.resident.key.wanted == wanted }
        }
        guard hasPlace else { throw .notPreloaded(model: request.model, kept: count) }
    }

    private nonisolated func setPriority(of request: ModelRequest) {
        let wanted = wanted(request)
        table.change { state in
            guard let number = state.named[wanted]?.number else { return }
            state.slots[number]?.priority = request.priority
        }
    }
}
