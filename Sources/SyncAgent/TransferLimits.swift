import Glibc
import Names

/// A number of bytes as people write it: `1500`, `500MB`, `2GiB`.
enum WrittenSize {
    /// - Returns: `nil` for anything but a whole number of at least 1 and a unit, or more digits than every unit holds.
    static func bytes(_ text: some StringProtocol) -> UInt64? {
        let digits = text.utf8.prefix { (0x30...0x39).contains($0) }
        let factors: [String: UInt64] = [
            "": 1, "B": 1, "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
            "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
        ]
        // 19 digits of bytes, and three fewer for each step up, fit in 64 bits, whatever they are.
        let unit = String(text.dropFirst(digits.count))
        let steps = ["k", "K", "M", "G", "T"].firstIndex(of: unit.prefix(1)).map { max(1, $0) } ?? 0
        let significant = digits.drop { $0 == 0x30 }.count
        guard significant <= 19 - 3 * steps, let factor = factors[unit],
            let number = UInt64(String(text.prefix(digits.count))), number > 0
        else { return nil }
        let (bytes, overflow) = number.multipliedReportingOverflow(by: factor)
        return overflow ? nil : bytes
    }
}

/// Bytes a second that a sync may use, all connections together.
public struct TransferRate: Sendable, Equatable {
    /// At least 4,096: with less, slow and stalled could not be told apart.
    public let bytesPerSecond: UInt64

    /// Reads a rate as people write it.
    ///
    /// - Parameter text: `500kB`, `2MB`, `1MiB`; `/s` may stand behind it.
    /// - Throws: `SyncError` of kind `usage`, since no rate at all would be no limit.
    public init(_ text: String) throws(SyncError) {
        let size = text.hasSuffix("/s") ? text.dropLast(2) : text[...]
        guard let bytes = WrittenSize.bytes(size), bytes >= 4_096 else {
            throw .noLimit(text, "rate; write one as 500kB, 2MB/s or 1MiB, from 4096 bytes a second on")
        }
        bytesPerSecond = bytes
    }
}

/// Bytes of model files that a device may fetch in each period.
public struct ByteBudget: Sendable, Equatable {
    /// Hours, days, weeks (from Monday) and months of the calendar, in UTC.
    public enum Period: String, Sendable, CaseIterable {
        case hour, day, week, month
    }

    /// The most bytes in one period, those that had to be thrown away included.
    public let bytes: UInt64

    /// After which as many may come again.
    public let period: Period

    /// Reads a budget as people write it.
    ///
    /// - Parameter text: `500MB/day`, `2GiB/month`.
    /// - Throws: `SyncError` of kind `usage`, since no budget at all would be no limit.
    public init(_ text: String) throws(SyncError) {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false)
        guard halves.count == 2, let bytes = WrittenSize.bytes(halves[0]),
            let period = Period(rawValue: String(halves[1]))
        else { throw .noLimit(text, "budget; write one as 500MB/day, by hour, day, week or month") }
        self.bytes = bytes
        self.period = period
    }
}

extension ByteBudget.Period {
    /// When the period of `time` began.
    func start(at time: UnixTime) -> UnixTime {
        let (hour, day) = (Self.floor(time, 3_600), Self.floor(time, 86_400))
        switch self {
        case .hour: return hour
        case .day: return day
        case .week:
            let sinceMonday = ((day.rawValue / 86_400 + 3) % 7 + 7) % 7
            return day.adding(seconds: -sinceMonday * 86_400)
        case .month: return UnixTime("\(time.description.prefix(7))-01T00:00:00Z") ?? day
        }
    }

    /// When the period of `time` is over.
    func end(at time: UnixTime) -> UnixTime {
        let start = start(at: time)
        switch self {
        case .hour: return start.adding(seconds: 3_600)
        case .day: return start.adding(seconds: 86_400)
        case .week: return start.adding(seconds: 7 * 86_400)
        // A month has at most 31 days, and the next one at least 28.
        case .month: return self.start(at: start.adding(seconds: 31 * 86_400))
        }
    }

    private static func floor(_ time: UnixTime, _ step: Int64) -> UnixTime {
        let rest = time.rawValue % step
        return time.adding(seconds: rest < 0 ? -rest - step : -rest)
    }
}

/// A time of day in which model files may be fetched, by the device's own time zone.
public struct TransferWindow: Sendable, Equatable, CustomStringConvertible {
    /// The first minute of the day, from 0.
    public let opens: Int

    /// The first minute that is outside again; at or before ``opens`` it is one of the next day.
    public let closes: Int

    /// Reads a window as people write it.
    ///
    /// - Parameter text: `22:00-06:00`.
    /// - Throws: `SyncError` of kind `usage`, since no window at all would be no limit.
    public init(_ text: String) throws(SyncError) {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false).map(Self.minute)
        guard ends.count == 2, let opens = ends[0], let closes = ends[1], opens != closes else {
            throw .noLimit(text, "window; write one as 22:00-06:00, by the device's clock")
        }
        self.opens = opens
        self.closes = closes
    }

    /// As it is written.
    public var description: String { "\(Self.text(opens))-\(Self.text(closes))" }

    func contains(minute: Int) -> Bool {
        opens < closes ? (opens..<closes).contains(minute) : minute >= opens || minute < closes
    }

    static func text(_ minute: Int) -> String {
        let (hour, rest) = (minute / 60 % 24, minute % 60)
        return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest)"
    }

    /// The minute of the day at `time` in the device's time zone.
    static func localMinute(_ time: UnixTime) -> Int {
        var seconds = time_t(time.rawValue)
        var local = tm()
        localtime_r(&seconds, &local)
        return Int(local.tm_hour) * 60 + Int(local.tm_min)
    }

    private static func minute(_ text: Substring) -> Int? {
        let bytes = Array(text.utf8)
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"), let hour = WrittenNumber.value(text.prefix(2)),
            let minute = WrittenNumber.value(text.suffix(2)), (0...24).contains(hour),
            (0...59).contains(minute),
            hour * 60 + minute <= 1_440
        else { return nil }
        return Int((hour * 60 + minute) % 1_440)
    }
}

extension SyncError {
    /// What is written where a limit should stand, and how one is written.
    fileprivate static func noLimit(_ text: String, _ expected: String) -> SyncError {
        SyncError(code: .usage, "‘\(text)’ is no \(expected)")
    }
}
