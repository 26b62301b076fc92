import Blocking

/// How each location did lately, shared by all requests of a fetcher.
///
/// A location that failed is left alone for a time that doubles with each
/// failure in a row, whichever file it failed with; the others go on.
package final class MirrorStandings: Sendable {
    struct Standing {
        /// In a row, since it last brought bytes.
        var failures = 0
        var notBefore: MonotonicTime?
    }

    private let standings = Guarded<[RepositoryLocation: Standing]>([:])
    private let troubles = Guarded<[RepositoryLocation: String]>([:])
    private let rates = Guarded<[RepositoryLocation: Double]>([:])

    package init() {}

    subscript(location: RepositoryLocation) -> Standing {
        standings.withLock { $0[location] ?? Standing() }
    }

    /// Bytes a second that a location gave lately while nothing of ours held it up; `nil` before it was measured.
    func rate(of location: RepositoryLocation) -> Double? { rates.withLock { $0[location] } }

    func measured(_ location: RepositoryLocation, _ rate: Double) {
        rates.withLock { $0[location] = rate }
    }

    func succeeded(_ location: RepositoryLocation) { standings.withLock { $0[location] = nil } }

    /// What went wrong with a location since ``forgetTroubles()``, also when it did better after that.
    func trouble(of location: RepositoryLocation) -> String? { troubles.withLock { $0[location] } }

    /// Notes what went wrong; the first counts.
    func note(_ trouble: String, of location: RepositoryLocation) {
        troubles.withLock { $0[location] = $0[location] ?? trouble }
    }

    /// Forgets what went wrong with all but those that are left alone for it.
    package func forgetTroubles() {
        let failing = standings.withLock { $0.filter { $0.value.failures > 0 } }
        troubles.withLock { $0 = $0.filter { failing[$0.key] != nil } }
    }

    /// - Parameters:
    ///   - location: That failed.
    ///   - moved: Whether bytes of it were proved all the same.
    ///   - delay: Seconds to leave it alone after so many failures in a row.
    func failed(_ location: RepositoryLocation, moved: Bool, _ delay: (Int) -> Double) {
        standings.withLock { standings in
            var standing = standings[location] ?? Standing()
            standing.failures = moved ? 1 : min(standing.failures + 1, 1_000)
            standing.notBefore = MonotonicTime.now.adding(seconds: delay(standing.failures))
            standings[location] = standing
        }
    }
}
