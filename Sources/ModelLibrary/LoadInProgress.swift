/// A load, from the first caller that wants it to the outcome.
struct LoadInProgress {
    /// One caller that waits.
    struct Waiter {
        let request: ModelRequest
        let continuation: CheckedContinuation<Lent, any Error>
    }

    let stamp: SourceStamp?

    /// Its place in the order of loads.
    let ticket: LoadTurn.Ticket

    /// The latest look at the device that found this version active.
    var look: Int
    var request: ModelRequest
    var waiters: [Int: Waiter] = [:]

    /// Why the model goes as soon as those who wait are done.
    var retirement: EvictionReason?

    /// Bytes that it may take, once the gate let it through.
    var bytes: UInt64?

    /// Whether the name stands for it afterwards; not so where it only answers for one that is still loading.
    var isNamed = true
}

/// A version that failed while another one answered in its place.
struct Rejection {
    let error: any Error
    let until: Duration
}
