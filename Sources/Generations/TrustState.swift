import CanonicalJSON
import Durable
package import Names

/// `trust/state.json` (`sealift/state@1`): what the last refresh learned, for readers that verify nothing themselves.
///
/// It is a note by this device to itself, not evidence: a sync never reads its
/// trust from here.
package struct TrustState: Equatable, Sendable {
    package static let type = "sealift/state@1"
    package static let maximumLength = ByteCount.mebibytes(4)

    /// When the chain was last verified against the registry.
    package let checked: UnixTime

    /// Until then the signed chain is current; afterwards nothing new is accepted.
    package let freshUntil: UnixTime

    /// Until then what is active may run on a stale chain.
    package let graceUntil: UnixTime

    /// Manifest digests that this device must not run: recalled or denied.
    package let recalled: [Digest]

    /// The greatest signed time seen, below which no clock is believed.
    package let clockFloor: UnixTime?

    package init(
        checked: UnixTime,
        freshUntil: UnixTime,
        graceUntil: UnixTime,
        recalled: [Digest],
        clockFloor: UnixTime? = nil
    ) {
        self.clockFloor = clockFloor
        self.checked = checked
        self.freshUntil = freshUntil
        self.graceUntil = graceUntil
        self.recalled = Set(recalled).sorted()
    }

    package func isFresh(at now: UnixTime) -> Bool { now < freshUntil }
    package func isWithinGrace(at now: UnixTime) -> Bool { now < graceUntil }

    package var canonical: [UInt8] {
        var object = JSONObject()
        object["checked"] = .text(checked.description)
        object["clock_floor"] = clockFloor.map { .text($0.description) }
        object["fresh_until"] = .text(freshUntil.description)
        object["grace_until"] = .text(graceUntil.description)
        object["recalled"] = .array(recalled.map { .text($0.hex) })
        object["type"] = .text(Self.type)
        return JSONValue.object(object).compactJSON
    }

    /// Reads a state back.
    ///
    /// - Returns: `nil` unless `bytes` is exactly what `canonical` writes.
    package init?(canonical bytes: [UInt8]) {
        guard
            let value = try? JSONParser.parse(
                bytes,
                maximumLength: Int(Self.maximumLength.rawValue),
                maximumDepth: 3
            ),
            value["type"]?.string == Self.type,
            let checked = value["checked"]?.string.flatMap({ UnixTime($0) }),
            let freshUntil = value["fresh_until"]?.string.flatMap({ UnixTime($0) }),
            let graceUntil = value["grace_until"]?.string.flatMap({ UnixTime($0) }),
            let elements = value["recalled"]?.array
        else { return nil }
        let recalled = elements.compactMap { $0.string.flatMap { Digest(hex: $0) } }
        self.init(
            checked: checked,
            freshUntil: freshUntil,
            graceUntil: graceUntil,
            recalled: recalled,
            clockFloor: value["clock_floor"]?.string.flatMap { UnixTime($0) }
        )
        guard canonical == bytes else { return nil }
    }
}

extension DeviceDirectory {
    /// Replaces `trust/state.json`, if it says something new.
    package func save(_ state: TrustState) throws(GenerationError) {
        let file = "\(trustPath)/state.json"
        let bytes = state.canonical
        try onDisk { () throws(DurableError) in
            if (try? Durable.readFile(file, maximum: TrustState.maximumLength)) == bytes { return }
            try Durable.makeWay(at: file)
            try Durable.writeAtomically(file, bytes)
        }
    }
}
