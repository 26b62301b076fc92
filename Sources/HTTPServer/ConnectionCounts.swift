import Blocking

/// How many connections are open, in all and for each peer.
final class ConnectionCounts: Sendable {
    private struct Counts {
        var all = 0
        var byPeer: [[UInt8]: Int] = [:]
    }

    private let counts = Guarded(Counts())
    private let limits: HTTPLimits

    init(limits: HTTPLimits) { self.limits = limits }

    var open: Int { counts.withLock { $0.all } }

    /// Counts a new connection.
    ///
    /// - Returns: whether the limits leave room for it; if not, nothing was counted.
    func admit(_ peer: [UInt8]) -> Bool {
        counts.withLock { counts in
            let ofPeer = counts.byPeer[peer, default: 0]
            guard counts.all < limits.connections, ofPeer < limits.connectionsPerAddress else { return false }
            counts.all += 1
            counts.byPeer[peer] = ofPeer + 1
            return true
        }
    }

    func release(_ peer: [UInt8]) {
        counts.withLock { counts in
            counts.all -= 1
            let rest = counts.byPeer[peer, default: 1] - 1
            counts.byPeer[peer] = rest > 0 ? rest : nil
        }
    }
}
