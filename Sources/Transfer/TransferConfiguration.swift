package import Names

/// How to talk to servers; the defaults are the documentation.
package struct TransferConfiguration: Sendable {
    /// A PEM file with the only authorities to trust; `nil` trusts the system's.
    package var certificateAuthority: String?

    /// Whether `http://` to this machine itself is accepted.
    package var allowsPlainLoopback = false

    /// Sent to its own origin and nowhere else.
    package var credential: Credential?

    /// Seconds until a connection, TLS included, must stand.
    package var connectSeconds = 15.0

    /// Seconds until a small answer (metadata, API) must be complete.
    package var answerSeconds = 60.0

    /// A transfer that brings less than ``minimumRate`` over this many seconds has stalled.
    package var stallSeconds = 20.0

    /// Bytes a second, averaged over ``stallSeconds``.
    package var minimumRate = ByteCount(rawValue: 1_024)

    /// When a location that keeps above it is left for a faster one.
    package var slowness = SlownessRule()

    /// What all transfers together may use; `nil` is no limit.
    package var rateCap: RateCap?

    /// Whether files may be fetched now; `nil` is always.
    package var permission: (any TransferPermission)?

    package var retry = RetryPolicy()

    package init() {}
}

/// When to try again, and when to stop.
package struct RetryPolicy: Sendable, Equatable {
    /// Attempts without progress in a row.
    ///
    /// Refilled by each verified byte, so that a bad line slows a download down
    /// but never ends one that moves.
    package var attempts = 6

    /// Seconds before the second attempt; doubled each time, with jitter.
    package var firstDelay = 0.5
    package var longestDelay = 30.0

    package init() {}

    /// Seconds to wait after failure number `failures` (from 1) in a row.
    ///
    /// - Parameters:
    ///   - failures: How many attempts have failed since the last progress.
    ///   - jitter: 0 to 1; spreads clients that failed together over half the delay.
    /// - Returns: Between half of the delay and all of it.
    package func delay(afterFailures failures: Int, jitter: Double) -> Double {
        var delay = firstDelay
        for _ in 1..<max(1, min(failures, 32)) { delay = min(delay * 2, longestDelay) }
        return min(delay, longestDelay) * (0.5 + jitter / 2)
    }
}

/// A bearer token, bound to the one origin that may see it.
package struct Credential: Sendable {
    /// `https://host:port`, as in the registry's URL.
    package let origin: String
    let token: String

    package init(origin: String, token: String) {
        self.origin = origin
        self.token = token
    }
}

extension Credential: CustomStringConvertible, CustomReflectable {
    package var description: String { "a token for \(origin)" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Credential {
    func matches(_ address: WebAddress) -> Bool {
        guard AnswerHead.isPlain(token), let own = try? WebAddress(origin, allowsPlainLoopback: true) else {
            return false
        }
        return own.origin == address.origin
    }
}
