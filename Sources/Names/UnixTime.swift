/// Seconds since 1970-01-01T00:00:00Z, ignoring leap seconds.
///
/// Every signed document of Sealift writes it as `YYYY-MM-DDTHH:MM:SSZ`, with
/// no fraction and no other zone (TUF 1.0.34, 4.2.1).
package struct UnixTime: RawRepresentable, Comparable, Hashable, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Parses exactly `YYYY-MM-DDTHH:MM:SSZ`, years 0001 to 9999.
    ///
    /// - Returns: `nil` for any other shape and for a day or hour that is not.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        let shape = Array("dddd-dd-ddTdd:dd:ddZ".utf8)
        guard bytes.count == shape.count else { return nil }
        for (byte, wanted) in zip(bytes, shape) {
            let fits = wanted == UInt8(ascii: "d") ? (0x30...0x39).contains(byte) : byte == wanted
            guard fits else { return nil }
        }
        func number(_ range: Range<Int>) -> Int64 {
            bytes[range].reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }
        let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
        let (hour, minute, second) = (number(11..<13), number(14..<16), number(17..<19))
        guard year >= 1, (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day),
            hour < 24, minute < 60, second < 60
        else { return nil }
        let days = Self.daysSinceEpoch(year: year, month: month, day: day)
        rawValue = days * 86_400 + hour * 3_600 + minute * 60 + second
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// This time moved by `seconds`, held at the ends of the range instead of wrapping.
    package func adding(seconds: Int64) -> UnixTime {
        let (sum, overflow) = rawValue.addingReportingOverflow(seconds)
        return UnixTime(rawValue: overflow ? (seconds < 0 ? .min : .max) : sum)
    }

    /// The seconds from `earlier` to here, negative when `earlier` is later.
    package func seconds(since earlier: UnixTime) -> Int64 {
        let (difference, overflow) = rawValue.subtractingReportingOverflow(earlier.rawValue)
        return overflow ? (rawValue < earlier.rawValue ? .min : .max) : difference
    }

    private static func days(in month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }

    /// Days from civil date, counting years from March so that a leap day is the last.
    private static func daysSinceEpoch(year: Int64, month: Int64, day: Int64) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = marchYear / 400
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

extension UnixTime: CustomStringConvertible {
    /// The signed form, `YYYY-MM-DDTHH:MM:SSZ`; times outside years 1 to 9999 are held at the ends.
    package var description: String {
        let held = Swift.min(Swift.max(rawValue, -62_135_596_800), 253_402_300_799)
        let days = held >= 0 ? held / 86_400 : (held - 86_399) / 86_400
        let second = held - days * 86_400
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        func padded(_ number: Int64, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
        }
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
            + "\(padded(second / 3_600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))Z"
    }
}
