import Blocking
import CanonicalJSON
import Durable
package import Manifest
package import Names
import Signing

/// `trust/state.json` (`sealift/state@1`): what the last refresh learned, for readers that verify nothing themselves.
///
/// Written twice, as `trust/state-copy.json` too: a bit that goes wrong on the disk may neither take a model away nor
/// bring a recalled one back. It is a note by this device to itself, not evidence: a sync never reads its
/// trust from here.
package struct TrustState: Equatable, Sendable {
    package static let type = "sealift/state@1"
    package static let maximumLength = ByteCount.mebibytes(4)

    /// When the chain was last verified against the registry.
    package private(set) var checked: UnixTime

    /// Until then the signed chain is current; afterwards nothing new is accepted.
    package let freshUntil: UnixTime

    /// Until then what is active may run on a stale chain.
    package let graceUntil: UnixTime

    /// Manifest digests that this device must not run: recalled or denied.
    package private(set) var recalled: [Digest]

    /// The greatest signed time seen, below which no clock is believed.
    package let clockFloor: UnixTime?

    /// What becomes of the active versions when the grace is over.
    package let afterGrace: SettingsDocument.AfterGrace

    package init(
        checked: UnixTime,
        freshUntil: UnixTime,
        graceUntil: UnixTime,
        recalled: [Digest],
        clockFloor: UnixTime? = nil,
        afterGrace: SettingsDocument.AfterGrace = .keep
    ) {
        self.afterGrace = afterGrace
        self.clockFloor = clockFloor
        self.checked = checked
        self.freshUntil = freshUntil
        self.graceUntil = graceUntil
        self.recalled = Set(recalled).sorted()
    }

    /// The same, found again at another time.
    func checked(at time: UnixTime) -> TrustState {
        var state = self
        state.checked = time
        return state
    }

    /// The same, with more that must not run.
    package func withdrawing(_ more: [Digest]) -> TrustState {
        var state = self
        state.recalled = Set(recalled + more).sorted()
        return state
    }

    package func isFresh(at now: UnixTime) -> Bool { now < freshUntil }
    package func isWithinGrace(at now: UnixTime) -> Bool { now < graceUntil }

    /// How far the clock may be behind the greatest signed time, in seconds.
    private static let tolerance: Int64 = 600

    /// What shows that a clock is behind times that were signed; `nil` when nothing does.
    package func fault(ofClock clock: UnixTime) -> String? {
        guard let clockFloor, clock.seconds(since: clockFloor) < -Self.tolerance else { return nil }
        return "the clock says \(clock), and \(clockFloor) was signed already"
    }

    /// The time by which a trial may be lost.
    ///
    /// - Returns: `nil` for a clock behind the signed times, and for one past the chain's expiry: either the clock is
    ///   wrong, or nobody can tell.
    package func believed(_ clock: UnixTime) -> UnixTime? {
        isFresh(at: clock) && fault(ofClock: clock) == nil ? clock : nil
    }

    /// Why a version may not be used although it is active; `nil` when it may.
    package func obstacle(to manifest: Digest, at clock: UnixTime) -> String? {
        if recalled.contains(manifest) { return "it is recalled; run `sealift sync` to get another version" }
        guard afterGrace == .refuse, !isWithinGrace(at: max(clock, clockFloor ?? clock)) else { return nil }
        return
            "the signed chain expired at \(freshUntil) and its grace ended at \(graceUntil), after which the "
            + "registry's owners want it refused; run `sealift sync` to get a current chain"
    }

    /// With its own digest: a bit that goes wrong in a time or a digest leaves a sound document that says another thing.
    package var canonical: [UInt8] {
        var object = members
        object["sha256"] = .text(SHA256.digest(of: JSONValue.object(members).compactJSON).hex)
        return JSONValue.object(object).compactJSON
    }

    private var members: JSONObject {
        var object = JSONObject()
        object["after_grace"] = afterGrace == .keep ? nil : .text(afterGrace.rawValue)
        object["checked"] = .text(checked.description)
        object["clock_floor"] = clockFloor.map { .text($0.description) }
        object["fresh_until"] = .text(freshUntil.description)
        object["grace_until"] = .text(graceUntil.description)
        object["recalled"] = .array(recalled.map { .text($0.hex) })
        object["type"] = .text(Self.type)
        return object
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
            clockFloor: value["clock_floor"]?.string.flatMap { UnixTime($0) },
            afterGrace: value["after_grace"]?.string.flatMap { SettingsDocument.AfterGrace(rawValue: $0) }
                ?? .keep
        )
        // One that a program before this one wrote has no digest of its own; the next sync gives it one.
        let isEarlier = value["sha256"] == nil && JSONValue.object(members).compactJSON == bytes
        guard isEarlier || canonical == bytes else { return nil }
    }
}

extension DeviceDirectory {
    /// Why an active version may not be used now, by what the last sync learned and this machine's clock.
    package func obstacle(to manifest: Digest) throws(GenerationError) -> String? {
        try trustState()?.obstacle(to: manifest, at: MachineClock.now)
    }

    /// What the last sync learned about freshness and recalls; `nil` when no sync finished a refresh.
    ///
    /// A note that is damaged takes no verified version away, and forgets no
    /// recall: its copy says the same. Where neither can be read, it is as if no
    /// sync had finished, until the next one does.
    package func trustState() throws(GenerationError) -> TrustState? {
        var found = try storedState(statePath)
        if found == nil { found = try storedState(copyPath) }
        guard let state = found else { return nil }
        let noted = try? contents(checkedPath, maximum: ByteCount(64))
        let time = noted.flatMap { UnixTime(String(decoding: $0, as: UTF8.self)) }
        return time.map { state.checked(at: $0) } ?? state
    }

    /// - Returns: `nil` when nothing is there, or nothing that this program wrote.
    private func storedState(_ path: String) throws(GenerationError) -> TrustState? {
        let bytes: [UInt8]?
        do throws(GenerationError) { bytes = try contents(path, maximum: TrustState.maximumLength) } catch {
            guard case .disk(let reason) = error, reason.isOfContent || reason.isObstructed else {
                throw error
            }
            return nil
        }
        return bytes.flatMap { TrustState(canonical: $0) }
    }

    /// Replaces `trust/state.json`, if it says something new.
    ///
    /// That the same was found once more is noted beside it, in `trust/checked`,
    /// and not waited for: a device that polls all day would wear its disk for it.
    package func save(_ state: TrustState) throws(GenerationError) {
        // A copy that is damaged is put right now, while the other still says the same.
        let isNew = [statePath, copyPath].contains { path in
            let stored = (try? storedState(path)) ?? nil
            return stored?.checked(at: state.checked) != state
        }
        try onDisk { () throws(DurableError) in
            if isNew { try write(state) }
            do throws(DurableError) {
                try Durable.writeInPlace(checkedPath, Array(state.checked.description.utf8))
            } catch {
                if !isNew { try write(state) }
                try Durable.removeTree(checkedPath)
            }
        }
    }

    private var statePath: String { "\(trustPath)/state.json" }
    private var copyPath: String { "\(trustPath)/state-copy.json" }
    private var checkedPath: String { "\(trustPath)/checked" }

    private func write(_ state: TrustState) throws(DurableError) {
        for path in [copyPath, statePath] {
            try Durable.makeWay(at: path)
            try Durable.writeAtomically(path, state.canonical)
        }
    }
}
