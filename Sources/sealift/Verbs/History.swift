import Arguments
import Audit
import CanonicalJSON
import Manifest
import Names
import Publishing

/// Tells what was live when, and who signed it.
struct History: Command {
    static let spec = CommandSpec(
        name: "history",
        summary: "Show what was live when, and whose signature says so",
        positions: [.required("NS/MODEL")],
        options: [.value("at", "TIME", "only what was live at this time, YYYY-MM-DDTHH:MM:SSZ")]
            + SharedOption.client + [SharedOption.json],
        example: "sealift history vision/detector --at 2026-11-30T12:00:00Z",
        discussion:
            "Computed from the registry's retained snapshots and role files, every signature verified here. "
            + "The transparency log is not consulted yet. Keys that were added or revoked are told; which apps a "
            + "change was allowed to break with --breaks is not signed, and so not told here."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        guard let model = ModelName(arguments.positions[0]) else {
            throw UsageError.badValue(arguments.positions[0], of: "the model", expected: "NAMESPACE/MODEL")
        }
        let time = try arguments["at"].map { text throws(UsageError) in
            guard let time = UnixTime(text) else {
                throw .badValue(text, of: "--at", expected: "a time such as 2026-11-30T12:00:00Z")
            }
            return time
        }
        let session = try ClientSession(arguments, context)
        let history = try await ModelHistory.read(
            of: model,
            through: try session.updater(),
            fetcher: try session.fetcher(),
            location: try session.location()
        )
        if let time {
            tellState(history, at: time, asJSON: arguments.has("json"))
        } else {
            tellEvents(history, asJSON: arguments.has("json"))
        }
        return .done
    }

    private static func tellEvents(_ history: ModelHistory, asJSON: Bool) {
        guard !asJSON else {
            let events = history.events.map { event in
                var told = facts(event.kind)
                told["time"] = .text(orNull: event.time?.description)
                told["snapshot"] = .integer(event.snapshot)
                told["version"] = .text(orNull: event.version?.description)
                told["event"] = .text(words(event.kind))
                told["signers"] = .array(event.signers.map { .text($0) })
                return JSONValue.object(told)
            }
            let report = JSONReport([
                "model": .text("\(history.model)"), "events": .array(events),
                "retained_from": .integer(history.retainedFrom), "log": .text("not checked"),
            ])
            Output.result(bytes: report.bytes)
            return
        }
        for event in history.events {
            let time = event.time?.description ?? "at an unknown time"
            let signers = event.signers.map { KeyID.short($0) }.joined(separator: " ")
            Output.result(
                "\(time)  \(subject(of: event))  \(words(event.kind))  (snapshot \(event.snapshot), key \(signers))"
            )
        }
        if history.retainedFrom > 1 {
            Output.note("the registry has kept nothing from before snapshot \(history.retainedFrom)")
        }
        Output.note("every signature was verified; log: not checked")
    }

    private static func subject(of event: HistoryEvent) -> String {
        if case .keys(let change) = event.kind { return change.role }
        return event.version.map { "\($0)" } ?? "a manifest of no version"
    }

    private static func tellState(_ history: ModelHistory, at time: UnixTime, asJSON: Bool) {
        let state = history.state(at: time)
        let rows = (state?.live.channels.keys.sorted() ?? []).flatMap { channel in
            (state?.live.listed(in: channel) ?? []).map { (channel: channel, listing: $0) }
        }
        guard !asJSON else {
            let listed = rows.map { row in
                JSONValue.members([
                    "channel": .text("\(row.channel)"), "version": .text("\(row.listing.version)"),
                    "manifest": .text(row.listing.manifest.hex),
                    "rollout": .integer(Int64(row.listing.rollout)),
                    "kept_back": .array(
                        keptBack(row.listing.version, in: state, row.channel, at: time).map { .text($0) }
                    ),
                ])
            }
            let report = JSONReport([
                "model": .text("\(history.model)"), "at": .text("\(time)"), "live": .array(listed),
                "log": .text("not checked"),
            ])
            Output.result(bytes: report.bytes)
            return
        }
        if rows.isEmpty { Output.result("nothing of \(history.model) was live at \(time)") }
        for row in rows {
            let why = keptBack(row.listing.version, in: state, row.channel, at: time)
            Output.result(
                "\(row.channel)  \(row.listing.version)  manifest \(row.listing.manifest.hex.prefix(16))…"
                    + (why.isEmpty ? "" : "  but \(why.joined(separator: "; "))")
            )
        }
    }

    /// Why devices did not newly take a version that a channel listed.
    private static func keptBack(
        _ version: ModelVersion,
        in state: ModelHistory.State?,
        _ channel: ChannelName,
        at time: UnixTime
    ) -> [String] {
        guard let state else { return [] }
        var reasons = (state.denials[version] ?? []).map { "denied by \($0)" }
        if let withdrawn = state.live.state(of: version) {
            reasons.append("\(withdrawn.kind.rawValue): \(withdrawn.reason)")
        }
        if let floor = state.live.channels[channel]?.floor, version < floor {
            reasons.append("below the floor \(floor)")
        }
        if let hold = state.holds[version], time < hold.until {
            reasons.append("held until \(hold.until): \(hold.reason)")
        }
        return reasons
    }

    private static func words(_ kind: HistoryEvent.Kind) -> String {
        switch kind {
        case .released: "released"
        case .listed(let channel, Listing.fullRollout): "live on \(channel)"
        case .listed(let channel, let rollout): "live on \(channel) for \(Share.words(rollout)) devices"
        case .unlisted(let channel): "taken off \(channel)"
        case .replacing(let channel, let left):
            "replaces \(left.map { "\($0)" }.joined(separator: ", ")) on \(channel): devices go back to it"
        case .floor(let channel): "is the floor of \(channel): devices activate nothing older"
        case .floorLifted(let channel): "is no longer the floor of \(channel)"
        case .withdrawn(let kind, let reason): "\(kind.rawValue): \(reason)"
        case .restored: "restored"
        case .denied(let role, let reason): "denied by \(role): \(reason)"
        case .denialLifted(let role): "no longer denied by \(role)"
        case .held(let until, let reason): "held until \(until): \(reason)"
        case .unheld: "no longer held"
        case .keys(let change): words(change)
        }
    }

    private static func words(_ change: HistoryEvent.KeyChange) -> String {
        func named(_ verb: String, _ ids: [String]) -> String? {
            ids.isEmpty ? nil : "\(verb) \(ids.map { KeyID.short($0) }.joined(separator: " "))"
        }
        let changes = [named("adds", change.added), named("revokes", change.revoked)].compactMap { $0 }
        let signing = "\(Counted.words(change.threshold, "key")) must sign"
        return "keys: " + (changes + [signing]).joined(separator: ", ")
    }

    /// The same for programs: what kind of event, where, and why.
    private static func facts(_ kind: HistoryEvent.Kind) -> JSONObject {
        func told(
            _ name: String,
            _ channel: ChannelName? = nil,
            _ members: KeyValuePairs<String, JSONValue> = [:]
        ) -> JSONObject {
            var facts = JSONObject()
            facts["kind"] = .text(name)
            if let channel { facts["channel"] = .text("\(channel)") }
            for (key, value) in members { facts[key] = value }
            return facts
        }
        return switch kind {
        case .released: told("released")
        case .listed(let channel, let rollout): told("listed", channel, ["rollout": .integer(Int64(rollout))])
        case .unlisted(let channel): told("unlisted", channel)
        case .replacing(let channel, let left):
            told("replacing", channel, ["replaces": .array(left.map { .text("\($0)") })])
        case .floor(let channel): told("floor", channel)
        case .floorLifted(let channel): told("floor-lifted", channel)
        case .withdrawn(let kind, let reason): told(kind.rawValue, nil, ["reason": .text(reason)])
        case .restored: told("restored")
        case .denied(let role, let reason): told("denied", nil, ["by": .text(role), "reason": .text(reason)])
        case .denialLifted(let role): told("denial-lifted", nil, ["by": .text(role)])
        case .held(let until, let reason):
            told("held", nil, ["until": .text("\(until)"), "reason": .text(reason)])
        case .unheld: told("unheld")
        case .keys(let change):
            told(
                "keys",
                nil,
                [
                    "role": .text(change.role), "added": .array(change.added.map { .text($0) }),
                    "revoked": .array(change.revoked.map { .text($0) }),
                    "threshold": .integer(Int64(change.threshold)),
                ]
            )
        }
    }
}
