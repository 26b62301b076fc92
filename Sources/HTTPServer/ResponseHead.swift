import Glibc

/// Writes the head of a response.
enum ResponseHead {
    /// What the server alone decides.
    private static let reserved: Set<String> = ["connection", "content-length", "date", "transfer-encoding"]

    /// The bytes of the head, with the empty line; nil if the response may not
    /// be sent: a field with a line end in it would be two fields to the peer.
    static func bytes(of response: HTTPResponse, closes: Bool) -> [UInt8]? {
        guard (200...599).contains(response.status) else { return nil }
        var head = Array("HTTP/1.1 \(response.status) \(reason(response.status))\r\nDate: \(date())\r\n".utf8)
        for field in response.fields.lines where !reserved.contains(field.name) {
            let isSound =
                !field.name.isEmpty && field.name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3A }
                && field.value.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
            guard isSound else { return nil }
            head += field.name.utf8
            head += ": ".utf8
            head += field.value
            head += "\r\n".utf8
        }
        if mayHaveBody(response.status) { head += "content-length: \(response.body.length)\r\n".utf8 }
        if closes { head += "connection: close\r\n".utf8 }
        head += "\r\n".utf8
        return head
    }

    /// RFC 9110, 15.3.5 and 15.4.5: these end with their head.
    static func mayHaveBody(_ status: Int) -> Bool { status != 204 && status != 304 }

    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: "Status"
        }
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7), for caches; nothing here decides by it.
    private static func date() -> String {
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        var seconds = time(nil)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) "
            + "\(parts.tm_year + 1900) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
    }
}
