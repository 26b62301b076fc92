package import Durable
package import Names

/// Why bytes did not come.
///
/// A refusal is not helped by trying again; an outage is, later, and never
/// lowers trust. Messages are for people; branch on the case.
package enum FetchError: Error, Sendable, Equatable {
    /// The peer, the answer or the address is not acceptable.
    case refused(FetchRefusal, url: String)

    /// The peer could not be reached or did not finish.
    case outage(FetchOutage, url: String)

    /// The local disk failed.
    case storage(DurableError)

    /// A limit that the operator set is met; what was proved stays for later.
    case paused(FetchPause)

    /// The task was cancelled.
    case cancelled

    /// Whether trying again later may help.
    package var isOutage: Bool {
        switch self {
        case .outage, .paused: true
        case .storage(let error): error.isOutOfSpace
        case .refused, .cancelled: false
        }
    }
}

/// What was not acceptable.
package enum FetchRefusal: Sendable, Equatable {
    /// Not a URL that this client can use.
    case malformedURL

    /// Plain http, or plain http to another machine.
    case plainHTTP

    /// The server's certificate is not by an authority that we trust, or expired.
    case certificate(detail: String)

    /// Any other disagreement about TLS.
    case tls(detail: String)

    /// The answer has more bytes than allowed; `announced` when its head said so.
    case tooLong(limit: ByteCount, announced: UInt64?)

    /// A redirect, which is not followed.
    case redirected(to: String)

    /// 401: the token is missing, unknown or expired.
    case unauthorized

    /// Another 3xx or 4xx.
    case status(Int)

    /// The answer contradicts HTTP or the question.
    case malformedAnswer(detail: String)

    /// All bytes came and they are not the ones that were signed.
    case digest(expected: Digest, found: Digest)

    /// All bytes of a target came, and this digest of them is not the one that was signed.
    case target(algorithm: String)

    /// One block of a file stayed wrong from every location.
    case block(file: String, index: Int, expected: Digest, found: Digest)

    /// A configured file could not be used, for example the CA.
    case configuration(detail: String)

    /// A variable of the environment does not name a proxy.
    case proxy(variable: String)

    /// The library that makes requests is not to be had on this machine.
    case noLibrary(detail: String)
}

/// What kept the bytes away.
package enum FetchOutage: Sendable, Equatable {
    case nameNotResolved(detail: String)
    case notConnected(detail: String)
    case cutOff(received: UInt64, expected: UInt64?)
    case timedOut(seconds: Double)
    case stalled(detail: String)
    case status(Int, retryAfter: Double?)

    /// The server says that it does not have the file.
    case absent
    case other(detail: String)
}

extension FetchError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .refused(let refusal, let url): "refused \(url): \(refusal)"
        case .outage(let outage, let url): "could not get \(url): \(outage)"
        case .storage(let error): error.description
        case .paused(let pause): "the download waits: \(pause)"
        case .cancelled: "the transfer was cancelled"
        }
    }
}

extension FetchRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformedURL: "not a usable https URL"
        case .plainHTTP:
            "plain http is not private and not authentic; use https (plain http is for loopback, and only "
                + "when allowed explicitly)"
        case .certificate(let detail):
            "the server's certificate is not accepted (\(detail)); "
                + (detail.contains("not yet valid") || detail.contains("expired")
                    ? "compare this machine's clock, and tell the registry's operator if it is right"
                    : "if the registry has a CA of its own, give its certificate file: --ca FILE")
        case .tls(let detail): "no secure connection (\(detail))"
        case .tooLong(let limit, let announced):
            "the answer is longer than the \(limit.rawValue) bytes allowed"
                + (announced.map { " (\($0) announced)" } ?? "")
        case .redirected(let target): "redirected to \(target), which is not followed"
        case .unauthorized: "the server wants a valid token (401); it may be missing or expired"
        case .status(let status): "the server answered with status \(status)"
        case .malformedAnswer(let detail): "the answer makes no sense (\(detail))"
        case .digest(let expected, let found): "the bytes have SHA-256 \(found), but \(expected) is signed"
        case .target(let algorithm): "the bytes do not have the \(algorithm) digest that is signed"
        case .block(let file, let index, let expected, let found):
            "block \(index) of \(file) has SHA-256 \(found), but \(expected) is signed, also when fetched again"
        case .configuration(let detail): detail
        case .proxy(let variable):
            "\(variable) does not name a proxy (its value is not shown, for there may be a password in it); expected "
                + "http://USER:PASSWORD@HOST:PORT, with all but letters, digits and -._~ percent-encoded in user "
                + "and password"
        case .noLibrary(let detail): "libcurl 4 cannot be used (\(detail)); install it"
        }
    }
}

extension FetchOutage: CustomStringConvertible {
    package var description: String {
        switch self {
        case .nameNotResolved(let detail): "the host's name does not resolve (\(detail))"
        case .notConnected(let detail): "no connection (\(detail))"
        case .cutOff(let received, let expected):
            "the transfer was cut off after \(received) bytes" + (expected.map { " of \($0)" } ?? "")
        case .timedOut(let seconds): "no end within \(seconds) s"
        case .stalled(let detail): "too slow or stalled (\(detail))"
        case .status(let status, let retryAfter):
            "the server answered with status \(status)"
                + (retryAfter.map { "; it asks to wait \($0) s" } ?? "")
        case .absent: "the server does not have it (404)"
        case .other(let detail): detail
        }
    }
}
