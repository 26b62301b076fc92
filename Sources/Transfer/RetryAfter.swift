import Names

/// When a server wants to be asked again (RFC 9110, 10.2.3): after so many seconds, or at a time.
enum RetryAfter: Sendable, Equatable {
    case seconds(Double)
    case time(UnixTime)

    /// The longest wait that anybody is granted, in seconds.
    static let longest = 3_600.0

    /// - Returns: `nil` for what is neither a number nor a date.
    init?(_ text: String) {
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // More digits than a number holds are a long time too.
            self = .seconds(min(UInt64(text).map { Double($0) } ?? Self.longest, Self.longest))
        } else if let time = UnixTime(httpDate: text) {
            self = .time(time)
        } else {
            return nil
        }
    }

    /// Seconds to wait, none for a time that has passed.
    ///
    /// - Parameter now: By the server's own clock where it says what that shows.
    /// - Returns: At most an hour.
    func seconds(at now: UnixTime) -> Double {
        switch self {
        case .seconds(let seconds): seconds
        case .time(let time): min(max(Double(time.seconds(since: now)), 0), Self.longest)
        }
    }
}

extension UnixTime {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Reads a date of HTTP in any of its three forms (RFC 9110, 5.6.7).
    ///
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`. The day of the
    /// week says nothing that the date does not.
    ///
    /// - Returns: `nil` for anything else.
    init?(httpDate text: String) {
        guard text.utf8.count <= 40 else { return nil }
        let words = text.split(separator: " ").map(String.init)
        var parts: (day: String, month: String, year: String, time: String)
        if words.count == 6, words[0].hasSuffix(","), words[5] == "GMT" {
            parts = (words[1], words[2], words[3], words[4])
        } else if words.count == 4, words[0].hasSuffix(","), words[3] == "GMT" {
            let date = words[1].split(separator: "-").map(String.init)
            guard date.count == 3, date[2].utf8.count == 2, let year = Int(date[2]) else { return nil }
            // Two digits: no date here is from before this protocol.
            parts = (date[0], date[1], "\(year < 70 ? 2_000 + year : 1_900 + year)", words[2])
        } else if words.count == 5 {
            parts = (words[2], words[1], words[4], words[3])
        } else {
            return nil
        }
        guard let month = Self.months.firstIndex(of: parts.month) else { return nil }
        if parts.day.utf8.count == 1 { parts.day = "0" + parts.day }
        let number = month + 1
        self.init("\(parts.year)-\(number < 10 ? "0" : "")\(number)-\(parts.day)T\(parts.time)Z")
    }
}
