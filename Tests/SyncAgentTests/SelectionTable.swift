import Generations
import Names
import Testing
import Trust

@testable import Manifest
@testable import SyncAgent

/// One model with what is signed of it, what the device says, and which version should run.
///
/// Versions are `1.0.0` to `1.5.0` unless a case adds others; all are released.
struct Selection: Sendable, CustomTestStringConvertible {
    var name: String
    var request = "a/model@stable"
    var active: String? = "1.3.0"

    /// Whether its manifest is another than the release role signs.
    var forged = false

    /// On the channel, with rollout in ten-thousandths and what each replaces.
    var listed: [(String, rollout: Int, replaces: [String])] = Self.list("1.3.0", "1.4.0")
    var floor: String?
    var states: [String: VersionState.Kind] = [:]
    var denied: [String] = []
    var held: [String] = []
    var released = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0"]
    var localFloor: String?
    var pin: String?
    var quarantined: [String] = []
    var ran: [String] = []

    /// This device's place in every rollout.
    var bucket = 5_000

    /// What may be activated, the first to be tried first.
    var expected: [String]

    /// Why versions are passed over, by a word of the reason.
    var passedOver: [String: String] = [:]

    var mustLeave = false

    var testDescription: String { name }

    static func list(_ versions: String...) -> [(String, rollout: Int, replaces: [String])] {
        versions.map { ($0, Listing.fullRollout, []) }
    }

    static func digest(_ version: String) throws -> Digest {
        let code = version.utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) }
        return try require(Digest(hex: String(repeating: "0", count: 48) + Self.hex(code)))
    }

    private static func hex(_ code: UInt64) -> String {
        let digits = String(code, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    func candidates() throws -> Candidates {
        let time = UnixTime(rawValue: 1_790_000_000)
        let model = try require(ModelName("a/model"))
        func version(_ text: String) throws -> ModelVersion { try require(ModelVersion(text)) }
        var live = LiveDocument(model: model)
        for (text, kind) in states {
            live = live.withdrawing(
                try version(text),
                VersionState(kind: kind, reason: "bad", time: time)
            )
        }
        live = live.flooring(try require(ChannelName("stable")), at: try floor.map(version))
        live.channels[try require(ChannelName("stable"))]?.versions =
            try listed.map { listing in
                Listing(
                    version: try version(listing.0),
                    manifest: try Self.digest(listing.0),
                    rollout: listing.rollout,
                    replaces: try listing.replaces.map(Self.digest)
                )
            }
        var chain = ModelChain(model: model, live: live)
        for text in released { chain.releases[try version(text)] = try Self.digest(text) }
        if !denied.isEmpty {
            let versions = try denied.map(version)
            chain.denials = [
                Denial(model: model, subject: .versions(versions), reason: "stolen", since: time)
            ]
        }
        for text in held {
            let digest = try Self.digest(text)
            chain.holds[digest] = Hold(manifest: digest, reason: "crashes", since: time, until: time)
        }
        var rules = DeviceRules(floor: try localFloor.map(version), pin: try pin.map(version))
        for text in quarantined { rules.quarantine[try Self.digest(text)] = "crashed here" }
        let ran = try Set(ran.map(Self.digest))
        rules.hasRun = { ran.contains($0) }
        rules.bucket = { [bucket] _, _ in bucket }
        let identity = try active.map { text in
            VersionIdentity(
                model: model,
                version: try version(text),
                variant: try require(VariantName("fp32")),
                manifest: try Self.digest(forged ? "forged" : text)
            )
        }
        return Candidates(try WantedModel(request), in: chain, rules, active: identity)
    }
}
