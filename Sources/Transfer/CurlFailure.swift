import CCurl

/// libcurl's code and words, sorted into refusals and outages.
struct CurlFailure {
    let code: CURLcode
    let words: String

    /// The proxy that the call went through, in words.
    private let proxy: String?

    init(code: CURLcode, words: String, url: String) {
        self.code = code
        self.words = ProxyChoice.masked(words)
        if case .proxy(let address, let variable) = ProxyChoice(for: url) {
            proxy = "through the proxy \(address), by \(variable)"
        } else {
            proxy = nil
        }
    }

    /// Libcurl's words, and through what it went: the trouble may be there.
    var detail: String { proxy.map { "\(words), \($0)" } ?? words }

    func error(_ call: Call) -> FetchError {
        let url = call.address.url
        switch code {
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            return .refused(.certificate(detail: detail), url: url)
        case CURLE_SSL_CACERT_BADFILE:
            return .refused(.configuration(detail: "the CA file cannot be used (\(detail))"), url: url)
        // The address was looked at before the call, so this is about what came back: HTTP/0.9, or HTTP/9.9.
        case CURLE_UNSUPPORTED_PROTOCOL: return .refused(.malformedAnswer(detail: detail), url: url)
        case CURLE_URL_MALFORMAT where proxy == nil: return .refused(.malformedURL, url: url)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING:
            return .refused(.malformedAnswer(detail: detail), url: url)
        case CURLE_SSL_CONNECT_ERROR where !wasConnectionLost:
            return .refused(.tls(detail: detail), url: url)
        case CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM, CURLE_SSL_ENGINE_NOTFOUND:
            return .refused(.tls(detail: detail), url: url)
        default: return .outage(outage(call), url: url)
        }
    }

    private func outage(_ call: Call) -> FetchOutage {
        switch code {
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_URL_MALFORMAT: .notConnected(detail: detail)
        case CURLE_COULDNT_RESOLVE_HOST: .nameNotResolved(detail: detail)
        // The proxy answered, and not with a way to the registry.
        case CURLE_RECV_ERROR where words.contains("CONNECT"): .notConnected(detail: detail)
        case CURLE_COULDNT_CONNECT, CURLE_SSL_CONNECT_ERROR, CURLE_OPERATION_TIMEDOUT, CURLE_PROXY:
            .notConnected(detail: detail)
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR,
            CURLE_ABORTED_BY_CALLBACK:
            .cutOff(received: call.received, expected: call.head.length)
        default: .other(detail: detail)
        }
    }

    /// libcurl has one code for a handshake that failed and one that was cut off.
    private var wasConnectionLost: Bool {
        ["SYSCALL", "reset by peer", "unexpected eof", "Connection was"].contains { words.contains($0) }
    }
}
