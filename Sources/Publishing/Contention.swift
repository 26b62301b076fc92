import Blocking

/// What to do when others change a registry at the same moment.
///
/// The registry takes one commit and refuses the others as built on a state
/// that no longer stands. They are built anew on the new state, after a wait
/// that is not the others', so that all come through one after the other.
enum Contention {
    /// How often a change is built anew: enough for some dozens who write at once.
    static let rebases = 40

    /// Lets others go first.
    static func stepAside(_ attempt: Int) async {
        guard attempt > 0 else { return }
        let longest = min(2, 0.05 * Double(1 << min(attempt, 6)))
        try? await Blocking.sleep(seconds: Double.random(in: 0...longest))
    }
}
