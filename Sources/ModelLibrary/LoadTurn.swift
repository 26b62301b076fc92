/// Lets one model at a time be loaded in the whole process, in the order of priority and then of asking.
///
/// Memory is highest while a model loads, so two loads at once could be one
/// too many where either alone fits.
package actor LoadTurn {
    /// The one of this process.
    package static let shared = LoadTurn()

    private var isTaken = false
    private(set) var waiting: [(priority: ModelPriority, continuation: CheckedContinuation<Void, Never>)] = []

    /// Waits for the turn.
    func take(_ priority: ModelPriority) async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { continuation in
            let place = waiting.firstIndex { $0.priority < priority } ?? waiting.endIndex
            waiting.insert((priority, continuation), at: place)
        }
    }

    /// Passes the turn on; once for every `take`.
    func pass() {
        guard !waiting.isEmpty else {
            isTaken = false
            return
        }
        waiting.removeFirst().continuation.resume()
    }
}
