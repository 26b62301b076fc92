/// Opens once; whoever waits before is let through then.
public actor Gate {
    private var isOpen: Bool
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var arrivals = 0
    private var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

    /// A gate that is closed unless said otherwise.
    public init(open: Bool = false) { isOpen = open }

    /// Lets everybody through, now and later.
    public func open() {
        isOpen = true
        for waiter in waiting { waiter.resume() }
        waiting = []
    }

    /// Holds back whoever comes from now on.
    public func close() { isOpen = false }

    /// Waits until the gate is open.
    public func pass() async {
        arrivals += 1
        for watcher in watchers where watcher.count <= arrivals { watcher.continuation.resume() }
        watchers.removeAll { $0.count <= arrivals }
        if isOpen { return }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Returns when `count` have come to the gate.
    public func reached(_ count: Int = 1) async {
        if arrivals >= count { return }
        await withCheckedContinuation { watchers.append((count, $0)) }
    }
}
