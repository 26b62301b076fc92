import CCurl

/// A URL that this client may use, taken apart by the same parser that will use it.
struct WebAddress {
    let url: String
    let scheme: String
    let host: String
    let port: String

    var origin: String { "\(scheme)://\(host):\(port)" }
    var isPlain: Bool { scheme == "http" }

    /// - Throws: `FetchError.refused` for what is not a URL, carries a user or
    ///   password, or is neither https nor an allowed http to this machine, and
    ///   where libcurl cannot be used.
    init(_ url: String, allowsPlainLoopback: Bool) throws(FetchError) {
        if let trouble = CurlLibrary.trouble { throw .refused(.noLibrary(detail: trouble), url: url) }
        guard let parser = ccurl_url() else { throw .refused(.malformedURL, url: url) }
        defer { ccurl_url_cleanup(parser) }
        guard ccurl_url_set(parser, CURLUPART_URL, url, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK,
            let scheme = Self.part(CURLUPART_SCHEME, of: parser),
            let host = Self.part(CURLUPART_HOST, of: parser)
        else { throw .refused(.malformedURL, url: url) }
        guard Self.part(CURLUPART_USER, of: parser) == nil, Self.part(CURLUPART_PASSWORD, of: parser) == nil
        else { throw .refused(.malformedURL, url: "\(scheme)://\(host)") }
        self.url = url
        self.scheme = scheme.lowercased()
        self.host = host.lowercased()
        port = Self.part(CURLUPART_PORT, of: parser) ?? (self.scheme == "http" ? "80" : "443")
        switch self.scheme {
        case "https": break
        case "http":
            guard allowsPlainLoopback, isLoopback else { throw .refused(.plainHTTP, url: url) }
        default: throw .refused(.malformedURL, url: url)
        }
    }

    /// libcurl writes every form of an IPv4 address as four decimal numbers,
    /// and never looks `localhost` up.
    private var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private static func part(_ which: CURLUPart, of parser: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard ccurl_url_get(parser, which, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { ccurl_free(text) }
        return String(cString: text)
    }
}
