import Blocking

/// A location and what it said about the file.
struct Source {
    let location: RepositoryLocation

    /// The entity tag of its last answer.
    var etag: String?

    /// Whether it is asked for parts.
    var takesRanges = true

    /// Why it is not asked any more.
    var rejection: FetchError?
}

/// Which location is asked next, and whether to wait before.
///
/// A location is asked until it fails, or is left for a faster one; then the
/// next one that is not left alone is, at once. Only while all are left alone is there a pause. Attempts
/// are counted since the last byte that was proved.
struct SourceRotation {
    private var sources: [Source]
    private let standings: MirrorStandings
    private var index = 0
    private var failures = 0
    private let slowness: SlownessRule

    /// How often one was left for a faster one since the last byte that was proved.
    private var changes = 0

    init(_ locations: [RepositoryLocation], _ standings: MirrorStandings, _ slowness: SlownessRule) {
        sources = locations.map { Source(location: $0) }
        self.standings = standings
        self.slowness = slowness
    }

    var count: Int { sources.count }

    private var usable: Int { sources.count { $0.rejection == nil } }

    /// The location to ask now, and the seconds to wait before.
    ///
    /// - Parameters:
    ///   - download: For the error.
    ///   - remaining: Bytes that are missing.
    /// - Returns: The location and the wait.
    /// - Throws: When none is left: a refusal of one of them, else that the file is absent.
    mutating func current(
        _ download: BlobDownload,
        remaining: UInt64
    ) throws(FetchError) -> (source: Source, wait: Double) {
        let now = MonotonicTime.now
        var best: (index: Int, wait: Double)?
        for step in sources.indices {
            let candidate = (index + step) % sources.count
            guard sources[candidate].rejection == nil else { continue }
            let wait = standings[sources[candidate].location].notBefore?.seconds(since: now) ?? 0
            if wait < best?.wait ?? .infinity { best = (candidate, wait) }
        }
        guard let best else {
            let rejections = sources.compactMap(\.rejection)
            let refusal = rejections.first { !$0.isOutage }
            throw refusal ?? rejections.first ?? .outage(.absent, url: download.name)
        }
        index = best.index
        if best.wait <= 0, changes == 0 {
            let rate = standings.rate(of: sources[index].location)
            index = slowness.first(insteadOf: rate, for: remaining, among: others) ?? index
        }
        return (sources[index], best.wait)
    }

    /// Those that may be asked now besides the present one.
    private var others: [SlownessRule.Other] {
        let now = MonotonicTime.now
        return (1..<max(1, sources.count)).compactMap { step in
            let other = (index + step) % sources.count
            let location = sources[other].location
            let wait = standings[location].notBefore?.seconds(since: now) ?? 0
            guard sources[other].rejection == nil, wait <= 0 else { return nil }
            return SlownessRule.Other(other, rate: standings.rate(of: location))
        }
    }

    /// Notes what the present location gave.
    ///
    /// - Returns: The one that it should be left for, `nil` for none.
    func measured(_ rate: Double, remaining: UInt64) -> Int? {
        standings.measured(sources[index].location, rate)
        // While nothing is proved, no more changes than there are locations: what changes is not the point then.
        guard changes < sources.count else { return nil }
        return slowness.better(than: rate, for: remaining, among: others)
    }

    mutating func change(to next: Int) {
        changes += 1
        index = next
    }

    mutating func advance() { index = (index + 1) % max(1, sources.count) }

    /// Keeps the tag of an answer that brought bytes.
    mutating func noteTag(_ head: AnswerHead) {
        guard head.status == 200 || head.status == 206 else { return }
        sources[index].etag = head.etag
    }

    /// Asks the present location for whole files from now on.
    ///
    /// - Returns: `false` when that is so already.
    mutating func stopRanges() -> Bool {
        defer { sources[index].takesRanges = false }
        return sources[index].takesRanges
    }

    mutating func succeeded() {
        failures = 0
        changes = 0
        standings.succeeded(sources[index].location)
    }

    /// Leaves a location that sent wrong bytes alone for a while, if there is another.
    mutating func distrust(_ policy: RetryPolicy) {
        if usable > 1 {
            standings.failed(sources[index].location, moved: false) { inARow in
                policy.delay(afterFailures: inARow, jitter: Double.random(in: 0...1))
            }
        }
        advance()
    }

    /// Remembers for people what went wrong, where another may do better.
    private func note(_ error: FetchError) {
        if sources.count > 1 { standings.note("\(error)", of: sources[index].location) }
    }

    mutating func drop(_ error: FetchError) {
        note(error)
        sources[index].rejection = error
        advance()
    }

    /// Counts an outage of the present location, which is left alone for a while.
    ///
    /// - Parameters:
    ///   - error: Of the location asked last.
    ///   - moved: Whether bytes were proved all the same.
    ///   - policy: When to stop.
    /// - Returns: Whether to go on; `false` when it is time to give up.
    mutating func failed(_ error: FetchError, moved: Bool, policy: RetryPolicy) -> Bool {
        failures = moved ? 1 : failures + 1
        if !moved { note(error) }
        standings.failed(sources[index].location, moved: moved) { inARow in
            let delay = policy.delay(afterFailures: inARow, jitter: Double.random(in: 0...1))
            guard case .outage(.status(_, let asked?), _) = error else { return delay }
            return max(delay, min(asked, 60))
        }
        guard failures < policy.attempts * max(1, usable) else { return false }
        advance()
        return true
    }
}
