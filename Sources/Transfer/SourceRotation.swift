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
/// A location is asked until it fails; then the next one is, at once, and only
/// after all have failed is there a pause. Attempts are counted since the last
/// byte that was proved.
struct SourceRotation {
    private var sources: [Source]
    private var index = 0
    private var failures = 0
    private var sinceLastPause = 0

    init(_ locations: [RepositoryLocation]) {
        sources = locations.map { Source(location: $0) }
    }

    var count: Int { sources.count }

    private var usable: Int { sources.count { $0.rejection == nil } }

    /// The location to ask now.
    ///
    /// - Throws: When none is left: a refusal of one of them, else that the file is absent.
    mutating func current(_ download: BlobDownload) throws(FetchError) -> Source {
        guard usable > 0 else {
            let rejections = sources.compactMap(\.rejection)
            let refusal = rejections.first { !$0.isOutage }
            throw refusal ?? rejections.first ?? .outage(.absent, url: download.name)
        }
        while sources[index].rejection != nil { index = (index + 1) % sources.count }
        return sources[index]
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
        sinceLastPause = 0
    }

    mutating func drop(_ error: FetchError) {
        sources[index].rejection = error
        advance()
    }

    /// Counts an outage.
    ///
    /// - Parameters:
    ///   - error: Of the location asked last.
    ///   - moved: Whether bytes were proved all the same.
    ///   - policy: When to stop.
    /// - Returns: Seconds to wait, or `nil` when it is time to give up.
    mutating func failed(_ error: FetchError, moved: Bool, policy: RetryPolicy) -> Double? {
        failures = moved ? 1 : failures + 1
        guard failures < policy.attempts * max(1, usable) else { return nil }
        advance()
        sinceLastPause += 1
        guard sinceLastPause >= usable else { return 0 }
        sinceLastPause = 0
        let rounds = (failures + usable - 1) / usable
        let delay = policy.delay(afterFailures: rounds, jitter: Double.random(in: 0...1))
        guard case .outage(.status(_, let asked?), _) = error else { return delay }
        return max(delay, min(asked, 60))
    }
}
