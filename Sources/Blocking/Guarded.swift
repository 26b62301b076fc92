import Glibc

/// A value behind a lock that is held for moments only.
///
/// As `Synchronization.Mutex`, and unlike that one seen by the thread
/// sanitizer on Linux, so that what it guards can be tested with it.
// Sendable because `value` is touched only under `lock`, which is allocated once and freed with it.
package final class Guarded<Value: Sendable>: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private var value: Value

    package init(_ value: Value) {
        self.value = value
        lock = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    /// Lends the value; `body` must not wait.
    ///
    /// - Throws: What `body` throws.
    package func withLock<Result, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return try body(&value)
    }
}
