import Blocking
import Names

/// What a server said before the body, as far as we use it.
struct AnswerHead {
    private(set) var status = 0
    private(set) var length: UInt64?
    private(set) var etag: String?
    private(set) var contentType: String?
    private(set) var location: String?
    private var retry: RetryAfter?
    private var date: UnixTime?
    private(set) var contentRange: ContentRange?

    /// Bytes of all heads so far, those of 100 Continue included.
    private var size = 0

    /// Seconds that the server asks to be left alone, an hour at most.
    ///
    /// A time is compared with what the server's own clock showed, where it says so: that of a device may be wrong.
    var retryAfter: Double? { retry?.seconds(at: date ?? MachineClock.now) }

    /// Takes one line as libcurl gives it.
    ///
    /// - Parameter line: With its line end.
    /// - Returns: `false` when the head is longer than any honest one.
    mutating func take(_ line: some Collection<UInt8>) -> Bool {
        size += line.count
        guard size <= Limits.httpHead.rawValue else { return false }
        if line.starts(with: "HTTP/".utf8) {
            let before = size
            self = AnswerHead()
            size = before
            let words = line.split(separator: 0x20)
            if words.count > 1 { status = Int(Self.text(words[1])) ?? 0 }
            return true
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return true }
        let name = Self.text(line[..<colon]).lowercased()
        let value = Self.trimmed(line[line.index(after: colon)...])
        switch name {
        case "content-length": length = UInt64(value)
        case "etag": etag = Self.isPlain(value) ? value : nil
        case "content-type": contentType = value
        case "location": location = value
        case "retry-after": retry = RetryAfter(value)
        case "date": date = UnixTime(httpDate: value)
        case "content-range": contentRange = ContentRange(value)
        default: break
        }
        return true
    }

    private static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: Array(bytes), as: UTF8.self)
    }

    private static func trimmed(_ bytes: some Sequence<UInt8>) -> String {
        let isSpace: (UInt8) -> Bool = { $0 <= 0x20 }
        var value = Array(bytes.drop(while: isSpace))
        while let last = value.last, isSpace(last) { value.removeLast() }
        return text(value)
    }

    /// Whether a value may be sent back in a request's head.
    static func isPlain(_ value: String) -> Bool {
        !value.isEmpty && value.utf8.count <= 512 && value.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}

/// The field of a 206 answer (RFC 9110, 14.4): `bytes first-last/total`.
struct ContentRange: Equatable {
    let first: UInt64
    let last: UInt64

    /// `nil` when the server does not say.
    let total: UInt64?

    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bytes" else { return nil }
        let halves = parts[1].split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = UInt64(ends[0]), let last = UInt64(ends[1]), first <= last else {
            return nil
        }
        if halves[1] == "*" {
            total = nil
        } else {
            guard let number = UInt64(halves[1]), last < number else { return nil }
            total = number
        }
        self.first = first
        self.last = last
    }
}
