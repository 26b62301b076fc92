package import Names

/// One GET.
package struct FetchRequest: Sendable, Equatable {
    package var url: String

    /// The most bytes that the body may have; more is a refusal.
    package var maximumLength: ByteCount

    /// An entity tag; when it still matches, the outcome is ``FetchOutcome/notModified``.
    package var ifNoneMatch: String?

    /// Bytes wanted, when not all.
    ///
    /// A server may send all the same.
    package var range: Range<UInt64>?

    /// An entity tag: the range is meant only while it matches.
    package var ifRange: String?

    /// Seconds until the whole transfer must have ended; `nil` uses the configuration's.
    package var deadline: Double?

    package init(
        url: String,
        maximumLength: ByteCount,
        ifNoneMatch: String? = nil,
        range: Range<UInt64>? = nil,
        ifRange: String? = nil,
        deadline: Double? = nil
    ) {
        self.url = url
        self.maximumLength = maximumLength
        self.ifNoneMatch = ifNoneMatch
        self.range = range
        self.ifRange = ifRange
        self.deadline = deadline
    }
}

/// What a server answered.
package enum FetchOutcome: Sendable, Equatable {
    /// The body, at most as long as was allowed, and its entity tag.
    case bytes([UInt8], etag: String?)

    /// 404, 403 or 410: the server says that there is none. Only its claim.
    case absent

    /// 304: what the caller has is still current. Only the server's claim.
    case notModified
}

/// Gets bytes that nobody has vouched for yet.
package protocol Fetching: Sendable {
    /// Gets what `request` names.
    ///
    /// - Throws: ``FetchError``; a time-out or a reset is an outage and never ``FetchOutcome/absent``.
    func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchOutcome
}
