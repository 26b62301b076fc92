import CanonicalJSON
import Durable
import Names

/// Bytes of model files that came in the present hour, day, week and month.
///
/// All are counted, whichever a budget asks for, and also without one: so
/// another budget, or one after the other, finds what was spent. A period ends
/// when a later one begins and at no other time: by a clock that goes back
/// nothing is given again.
struct Traffic: Sendable, Equatable {
    struct Entry: Sendable, Equatable {
        /// When the period began.
        var since: UnixTime
        var bytes: UInt64
    }

    private(set) var entries: [ByteBudget.Period: Entry] = [:]

    /// More than anybody asks for: what counts as spent where nobody knows.
    static let unknown = UInt64(Int64.max)

    /// - Parameters:
    ///   - bytes: In each present period.
    ///   - now: Which those are.
    init(_ bytes: UInt64 = 0, at now: UnixTime) {
        for period in ByteBudget.Period.allCases {
            entries[period] = Entry(since: period.start(at: now), bytes: bytes)
        }
    }

    /// Begins the periods that are new at `now`.
    mutating func advance(to now: UnixTime) {
        for period in ByteBudget.Period.allCases {
            let start = period.start(at: now)
            if entries[period].map({ $0.since < start }) ?? true {
                entries[period] = Entry(since: start, bytes: 0)
            }
        }
    }

    mutating func spend(_ bytes: UInt64) {
        for period in ByteBudget.Period.allCases {
            let sum = (entries[period]?.bytes ?? 0).addingReportingOverflow(bytes)
            entries[period]?.bytes = sum.overflow ? Self.unknown : min(sum.partialValue, Self.unknown)
        }
    }

    func bytes(in period: ByteBudget.Period) -> UInt64 { entries[period]?.bytes ?? 0 }

    /// When the period that is counted for is over.
    func end(of period: ByteBudget.Period, at now: UnixTime) -> UnixTime {
        period.end(at: entries[period]?.since ?? now)
    }
}

/// `device/traffic.json`: what of the traffic outlasts a process.
struct TrafficLedger: Sendable {
    private static let type = "sealift/traffic@2"

    /// It knew one period alone; what it says counts for each.
    private static let former = "sealift/traffic@1"
    let path: String

    /// Why nobody knows what it said.
    struct Damage: Error {
        let reason: String
    }

    /// What was spent; nothing when there is no ledger.
    ///
    /// - Throws: `Damage`, when something is there that cannot be read.
    func traffic(at now: UnixTime) throws(Damage) -> Traffic {
        let bytes: [UInt8]?
        do throws(DurableError) { bytes = try Durable.readFileIfPresent(path, maximum: .kibibytes(1)) } catch
        {
            throw Damage(reason: "\(error)")
        }
        guard let bytes else { return Traffic(at: now) }
        let value = try? JSONParser.parse(bytes, maximumLength: 1 << 10, maximumDepth: 3)
        if value?["type"]?.string == Self.former, case .integer(let bytes)? = value?["bytes"], bytes >= 0 {
            return Traffic(UInt64(bytes), at: now)
        }
        guard let value, value["type"]?.string == Self.type, let traffic = Traffic(value) else {
            throw Damage(reason: "it is no \(Self.type) document")
        }
        return traffic
    }

    /// A disk that takes no note is no reason to stop: it stops the download itself soon enough.
    ///
    /// - Returns: Whether it did.
    func write(_ traffic: Traffic) -> Bool {
        var object = traffic.object
        object["type"] = .text(Self.type)
        do throws(DurableError) {
            try Durable.makeWay(at: path)
            try Durable.writeAtomically(path, JSONValue.object(object).compactJSON, mode: 0o600)
            return true
        } catch {
            return false
        }
    }
}

extension Traffic {
    /// - Returns: `nil` unless each period is there.
    fileprivate init?(_ value: JSONValue) {
        for period in ByteBudget.Period.allCases {
            guard let entry = value[period.rawValue],
                let since = entry["since"]?.string.flatMap({ UnixTime($0) }),
                case .integer(let bytes)? = entry["bytes"], bytes >= 0
            else { return nil }
            entries[period] = Entry(since: since, bytes: UInt64(bytes))
        }
    }

    fileprivate var object: JSONObject {
        var object = JSONObject()
        for (period, entry) in entries {
            var member = JSONObject()
            member["bytes"] = .integer(Int64(clamping: entry.bytes))
            member["since"] = .text(entry.since.description)
            object[period.rawValue] = .object(member)
        }
        return object
    }
}
