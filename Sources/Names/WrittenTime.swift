/// A time as people write it: `60d`, `24h`, `30m` or `90s`.
package enum WrittenTime {
    /// - Returns: Seconds; `nil` for anything but a whole number from 1 to 100,000 and a unit.
    package static func seconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["d": 86_400, "h": 3_600, "m": 60, "s": 1]
        guard let unit = text.last.flatMap({ units[$0] }), let count = WrittenNumber.value(text.dropLast()),
            (1...100_000).contains(count)
        else { return nil }
        return count * unit
    }

    /// The same time in the greatest unit that leaves nothing over.
    package static func text(_ seconds: Int64) -> String {
        for (unit, length) in [("d", Int64(86_400)), ("h", 3_600), ("m", 60)]
        where seconds >= length && seconds % length == 0 {
            return "\(seconds / length)\(unit)"
        }
        return "\(seconds)s"
    }
}

/// A whole number as a person writes it: digits alone.
package enum WrittenNumber {
    /// - Returns: `nil` for a sign, anything that is no digit, and what does not fit.
    package static func value(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(String(text))
    }
}
