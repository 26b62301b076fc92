import Glibc

/// What is left to do when the process ends in good order, by `exit` or the end of its main function.
package enum OrderlyExit {
    private static let tasks = Guarded<[ObjectIdentifier: @Sendable () -> Void]>([:])

    /// Asked of the system once.
    private static let isAsked: Bool = atexit(performAll) == 0

    /// Has `body` called with `owner` at the end, unless it is removed before.
    package static func add<Owner: AnyObject & Sendable>(
        _ owner: Owner,
        _ body: @escaping @Sendable (Owner) -> Void
    ) {
        _ = isAsked
        tasks.withLock { $0[ObjectIdentifier(owner)] = { body(owner) } }
    }

    /// Has nothing called for `owner` any more.
    package static func remove(_ owner: AnyObject) {
        tasks.withLock { $0[ObjectIdentifier(owner)] = nil }
    }

    fileprivate static func perform() {
        let left = tasks.withLock { tasks in
            defer { tasks = [:] }
            return tasks
        }
        for body in left.values { body() }
    }
}

// Named and of no actor, since the system calls it.
private nonisolated func performAll() { OrderlyExit.perform() }
