/// What went wrong in a device's directory before it was known what has to be left.
///
/// A recall waits for nobody: a step that leaving a version does not need is
/// done without, and its error ends the sync once all that must be left is left.
struct Setbacks {
    private(set) var first: SyncError?

    mutating func note(_ error: SyncError) { first = first ?? error }

    /// Runs steps that may fail.
    ///
    /// - Parameters:
    ///   - substitute: What is gone on with after a failure.
    ///   - steps: What is tried.
    /// - Returns: The result of the steps, or the substitute.
    mutating func sparing<Value>(_ substitute: Value, _ steps: () throws(SyncError) -> Value) -> Value {
        do throws(SyncError) { return try steps() } catch {
            note(error)
            return substitute
        }
    }

    /// - Throws: The first thing that went wrong.
    func end() throws(SyncError) {
        if let first { throw first }
    }
}
