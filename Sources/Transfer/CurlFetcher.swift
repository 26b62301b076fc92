import Blocking
import CLinux
import Glibc
import Names

/// Gets and sends over libcurl, off Swift's own threads.
///
/// Connections are kept and used again. Proxies come from the environment
/// (`HTTPS_PROXY`, `NO_PROXY`), certificates from one CA file or the system's.
/// Redirects are not followed, so a token never leaves its origin.
package final class CurlFetcher: Fetching, APIExchanging {
    let configuration: TransferConfiguration
    package let standings = MirrorStandings()
    private let idle = Guarded<[CurlHandle]>([])

    package init(configuration: TransferConfiguration = TransferConfiguration()) {
        self.configuration = configuration
    }

    /// Begins to open what requests need, for a program that knows early that there will be some.
    ///
    /// It goes on beside the caller. A program that does this must end by
    /// `_exit`: what libraries do at an orderly end must not meet one that is
    /// just being opened, and no library may decide that for its app.
    package static func prepare() { CurlLibrary.openAhead() }

    package func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchOutcome {
        let cancellation = Cancellation()
        return try await BlockingPool.shared.run(cancelling: cancellation) {
            () throws(FetchError) -> FetchOutcome in
            try self.get(request, cancellation)
        }
    }

    package func send(_ request: APIRequest) async throws(FetchError) -> APIResponse {
        let cancellation = Cancellation()
        return try await BlockingPool.shared.run(cancelling: cancellation) {
            () throws(FetchError) -> APIResponse in
            try self.exchange(request, cancellation)
        }
    }

    /// Performs a call on this thread with a handle of the pool.
    func perform(_ call: Call) throws(FetchError) {
        if let authority = configuration.certificateAuthority, access(authority, R_OK) != 0 {
            let reason = String(cString: strerror(errno))
            let detail = "the CA file \(authority) cannot be read: \(reason)"
            throw .refused(.configuration(detail: detail), url: call.address.url)
        }
        if case .malformed(let variable) = ProxyChoice(for: call.address.url) {
            throw .refused(.proxy(variable: variable), url: call.address.url)
        }
        let handle = idle.withLock { $0.popLast() } ?? CurlHandle()
        defer { idle.withLock { if $0.count < 8 { $0.append(handle) } } }
        try handle.perform(call, configuration)
    }

    private func get(_ request: FetchRequest, _ cancellation: Cancellation) throws(FetchError) -> FetchOutcome
    {
        let address = try WebAddress(request.url, allowsPlainLoopback: configuration.allowsPlainLoopback)
        let pace = Pace(
            deadline: request.deadline ?? configuration.answerSeconds,
            stallSeconds: configuration.stallSeconds,
            minimumRate: configuration.minimumRate
        )
        let call = Call(.get, address, pace: pace, cancellation: cancellation)
        if let etag = request.ifNoneMatch { call.fields.append(("If-None-Match", etag)) }
        if let range = request.range {
            guard !range.isEmpty else { return .bytes([], etag: nil) }
            call.range = range
            if let etag = request.ifRange { call.fields.append(("If-Range", etag)) }
        }
        var body = BoundedBody(request)
        call.onHead = { head in body.judge(head) }
        call.onBody = { bytes in body.take(bytes) }
        try perform(call)
        return try body.outcome(call)
    }

    private func exchange(
        _ request: APIRequest,
        _ cancellation: Cancellation
    ) throws(FetchError) -> APIResponse {
        let address = try WebAddress(request.url, allowsPlainLoopback: configuration.allowsPlainLoopback)
        var deadline = request.deadline
        if case .file = request.body {} else { deadline = deadline ?? configuration.answerSeconds }
        // A registry that has all of a large file may need a while to put it on its disk.
        let patience = max(configuration.stallSeconds, configuration.answerSeconds)
        let pace = Pace(deadline: deadline, stallSeconds: patience, minimumRate: ByteCount(1))
        let call = Call(request.method, address, pace: pace, cancellation: cancellation)
        switch request.body {
        case .none: break
        case .bytes(let bytes, let contentType):
            call.fields.append(("Content-Type", contentType))
            call.upload = Upload(bytes)
        case .file(let source, let offset, let length):
            call.fields.append(("Content-Type", "application/octet-stream"))
            call.upload = Upload(source, offset: offset, length: length)
        }
        var body: [UInt8] = []
        let limit = request.maximumLength
        call.onHead = { head in
            guard let length = head.length, length > limit.rawValue else { return .goOn }
            return .refuse(.tooLong(limit: limit, announced: length))
        }
        call.onBody = { bytes in
            guard UInt64(body.count + bytes.count) <= limit.rawValue else {
                return .refuse(.tooLong(limit: limit, announced: nil))
            }
            body += bytes
            return .goOn
        }
        try perform(call)
        let head = call.head
        return APIResponse(
            status: head.status,
            contentType: head.contentType,
            etag: head.etag,
            retryAfter: head.retryAfter,
            body: body
        )
    }
}
