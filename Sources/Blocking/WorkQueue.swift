import Glibc

/// Threads of our own that take closures in order.
///
/// Started one at a time when work waits and none is idle, never more than
/// `width`, and kept for the life of the process: a pool is a constant.
// Sendable because every stored property below is touched only under `lock`,
// and the two C objects are allocated once and never moved or freed.
final class WorkQueue: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let ready: UnsafeMutablePointer<pthread_cond_t>
    private let width: Int
    private var waiting: [@Sendable () -> Void] = []
    private var first = 0
    private var idle = 0
    private var started = 0

    init(width: Int) {
        precondition(width > 0, "a pool without threads never does anything")
        self.width = width
        lock = .allocate(capacity: 1)
        ready = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        pthread_cond_init(ready, nil)
    }

    func submit(_ work: @escaping @Sendable () -> Void) {
        pthread_mutex_lock(lock)
        waiting.append(work)
        let queued = waiting.count - first
        let needsThread = queued > idle && started < width
        if needsThread { started += 1 }
        pthread_cond_signal(ready)
        pthread_mutex_unlock(lock)
        if needsThread { startThread() }
    }

    /// Starts the first thread before there is work for it.
    func startAhead() {
        pthread_mutex_lock(lock)
        let needsThread = started == 0
        if needsThread { started = 1 }
        pthread_mutex_unlock(lock)
        if needsThread { startThread() }
    }

    /// Begins a thread that is counted already.
    ///
    /// With no thread at all, work would wait for ever, also what came while
    /// this one failed: then the caller does it. Better slow than never.
    private func startThread() {
        let began = OwnThread.start { [self] in
            while true { next()() }
        }
        guard !began else { return }
        pthread_mutex_lock(lock)
        started -= 1
        let isLast = started == 0
        pthread_mutex_unlock(lock)
        while isLast, let work = nextIfAny() { work() }
    }

    private func next() -> @Sendable () -> Void {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        idle += 1
        while first == waiting.count { pthread_cond_wait(ready, lock) }
        idle -= 1
        return takeFirst()
    }

    private func nextIfAny() -> (@Sendable () -> Void)? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return first == waiting.count ? nil : takeFirst()
    }

    /// Under the lock, and where something waits.
    private func takeFirst() -> @Sendable () -> Void {
        let work = waiting[first]
        first += 1
        if first == waiting.count || first > 1_024 {
            waiting.removeFirst(first)
            first = 0
        }
        return work
    }
}
