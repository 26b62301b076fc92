package import Durable
package import Names

/// One request to a registry's API.
package struct APIRequest: Sendable {
    package enum Method: String, Sendable { case get = "GET", post = "POST", put = "PUT", delete = "DELETE" }

    package enum Body: Sendable {
        case none
        case bytes([UInt8], contentType: String)

        /// Part of a file, streamed; its length is announced first.
        case file(FileSource, offset: UInt64, length: UInt64)
    }

    package var method: Method
    package var url: String
    package var body: Body

    /// The most bytes of the answer that are kept; more is a refusal.
    package var maximumLength: ByteCount

    /// Seconds until the answer must be complete; `nil` for none but the stall limit.
    package var deadline: Double?

    package init(
        _ method: Method,
        _ url: String,
        body: Body = .none,
        maximumLength: ByteCount = Limits.apiBody,
        deadline: Double? = nil
    ) {
        self.method = method
        self.url = url
        self.body = body
        self.maximumLength = maximumLength
        self.deadline = deadline
    }
}

/// What the API answered, whatever the status.
package struct APIResponse: Sendable, Equatable {
    package let status: Int
    package let contentType: String?
    package let etag: String?

    /// Seconds, when the server asks for a pause.
    package let retryAfter: Double?
    package let body: [UInt8]

    package init(status: Int, contentType: String?, etag: String?, retryAfter: Double?, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.etag = etag
        self.retryAfter = retryAfter
        self.body = body
    }
}

/// Sends API requests.
package protocol APIExchanging: Sendable {
    /// Sends `request` once and returns the answer, whatever its status.
    ///
    /// - Throws: ``FetchError`` when there is no acceptable answer at all.
    func send(_ request: APIRequest) async throws(FetchError) -> APIResponse
}
