import CanonicalJSON
import Generations
import Names
import Signing
import Trust

/// `sealift/receipt@1`: what a device tells its registry about the versions that it runs.
///
/// ```
/// {"signatures": [{"keyid", "sig"}], "signed": {
///   "type", "device": KEY ID, "time", "outcome": "done" or an error code,
///   "models": [{"model", "outcome", "version"?, "manifest"?, "code"?, "failed"?: {"version", "manifest"}}],
///   "quarantined": [{"model", "version", "manifest"}],
///   "durations": {PHASE: milliseconds}, "tags": {NAME: TEXT}}}
/// ```
///
/// The signature is over the RFC 8785 form of `signed`, by the device's own key,
/// so that a registry counts each enrolled device once. There is no name of a
/// host, account, path or address in it, and no input of a model: messages for
/// people stay on the device, and their codes go.
struct Receipt: Sendable {
    static let type = "sealift/receipt@1"

    /// A version, named by its manifest.
    struct Version: Sendable, Equatable {
        let version: ModelVersion
        let manifest: Digest

        init(_ identity: VersionIdentity) {
            version = identity.version
            manifest = identity.manifest
        }

        var members: JSONObject {
            var object = JSONObject()
            object["version"] = .text(version.description)
            object["manifest"] = .text(manifest.hex)
            return object
        }
    }

    /// What became of one model.
    struct Model: Sendable, Equatable {
        let model: String
        var outcome: ModelDecision.Outcome?

        /// What is active.
        var active: Version?

        /// Why it did not go as asked.
        var code: String?

        /// What could not be activated.
        var failed: Version?
    }

    /// The ID of the device's key.
    let device: String
    let time: UnixTime

    /// `done`, or the code of what stopped the sync.
    let outcome: String
    let models: [Model]
    let quarantined: [(model: ModelName, version: Version)]
    let durations: [SyncPhase: Int64]
    let tags: [String: String]

    /// What the signature covers.
    var signed: JSONValue {
        var durations = JSONObject()
        for (phase, milliseconds) in self.durations { durations[phase.rawValue] = .integer(milliseconds) }
        var tags = JSONObject()
        for (name, text) in self.tags { tags[name] = .text(text) }
        return .members([
            "type": .text(Self.type), "device": .text(device), "time": .text(time.description),
            "outcome": .text(outcome),
            "models": .array(
                models.map { model in
                    var object = stateMembers(of: model)
                    object["outcome"] = model.outcome.map { .text($0.rawValue) }
                    return .object(object)
                }
            ),
            "quarantined": quarantine, "durations": .object(durations), "tags": .object(tags),
        ])
    }

    /// What is the same for as long as there is no news: neither times nor whether it was just now that a version came.
    var state: Digest {
        let state: JSONValue = .members([
            "outcome": .text(outcome), "quarantined": quarantine,
            "models": .array(models.map { .object(stateMembers(of: $0)) }),
        ])
        return SHA256.digest(of: state.compactJSON)
    }

    private func stateMembers(of model: Model) -> JSONObject {
        var object = model.active?.members ?? JSONObject()
        object["model"] = .text(model.model)
        object["code"] = model.code.map { .text($0) }
        object["failed"] = model.failed.map { .object($0.members) }
        return object
    }

    private var quarantine: JSONValue {
        .array(
            quarantined.map { entry in
                var object = entry.version.members
                object["model"] = .text(entry.model.description)
                return .object(object)
            }
        )
    }

    /// The file that is sent.
    func envelope(signedBy key: some Signer) throws(SyncError) -> [UInt8] {
        guard let message = signed.rfc8785 else {
            throw SyncError(.internal, "a receipt has no canonical form")
        }
        do throws(SigningError) {
            let signature = try key.signature(of: message)
            let file = Authoring.envelope(signed, signatures: [Authoring.keyID(of: key.publicKey): signature])
            return file.compactJSON
        } catch {
            throw SyncError(.internal, "the device's key could not sign: \(error)")
        }
    }
}

/// What an operator writes about a device, for the fleet: `site` is `hall-3`.
enum ReceiptTags {
    static let maximum = 16

    /// Whether it may stand in a receipt: short, and plain enough to be shown anywhere.
    static func isSound(_ name: String, _ text: String) -> Bool {
        let plain = (0x20...0x7E)
        let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789._-".utf8)
        return (1...32).contains(name.utf8.count) && name.utf8.allSatisfy(letters.contains)
            && (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { plain.contains(Int($0)) }
    }
}
