package import Names

/// Why the registry did not do what was asked.
///
/// Nothing has changed when one of these is thrown. *Refusals* mean that the
/// request is wrong, *outages* that the registry cannot work at the moment;
/// ``isOutage`` tells them apart.
package enum RegistryError: Error, Equatable, Sendable {
    // Refusals of a commit.

    /// A posted role is not the successor of the one that counts now.
    case conflict(role: String, posted: Int64, current: [String: Int64])

    /// A role is not signed, delegated or shaped as the chain asks.
    case untrusted(role: String, reason: String)

    /// A role that nobody may post: unknown, the registry's own, or posted twice.
    case unpostableRole(role: String, reason: String)
    case empty

    /// The token does not cover the role.
    case forbidden(role: String, scope: String)

    /// A signature lives in the past, or longer than the registry's policy.
    case lifetime(role: String, expires: UnixTime, now: UnixTime, latest: UnixTime)

    /// The commit would leave a present role without a valid signature of its delegator's keys.
    case mustSignAgain(role: String, under: String, reason: String)

    case tooLarge(what: String, found: ByteCount, limit: ByteCount)

    /// A listed document is neither posted nor stored.
    case missingDocument(path: String, digest: Digest)

    /// A posted document that no posted role lists with this digest.
    case unlistedDocument(path: String)

    /// A document breaks its own rules, or is not what its path says.
    case badDocument(path: String, reason: String)

    /// A published version stands for one manifest for ever.
    case republished(model: ModelName, version: ModelVersion, published: Digest, posted: Digest)

    /// A channel names a manifest that the model's release role does not list.
    case unreleased(model: ModelName, channel: ChannelName, version: ModelVersion, reason: String)

    /// An app that registered its needs could not use a version that enters a channel.
    case breaksApp(BrokenExpectation)

    case missingBlob(digest: Digest, path: String)
    case blobLength(digest: Digest, path: String, listed: UInt64, stored: UInt64)

    /// A file and its list of blocks do not describe the same bytes.
    case blockList(path: String, reason: String)

    /// The bytes received for a blob are not its.
    case digestMismatch(expected: Digest, reason: String)

    // Mistakes in setting up.

    case alreadyCreated
    case notCreated

    /// The key given to `serve` is not the one that the root names for the registry's roles.
    case wrongOnlineKey(role: String)
    case badCreation(reason: String)

    /// Nothing is signed under a root that has ended.
    case rootExpired(expires: UnixTime, now: UnixTime)

    // Outages.

    /// Signing now would go back behind what was signed already.
    case clockBehind(now: UnixTime, signed: UnixTime)

    /// The database or the blob store could not do its part.
    case storage(reason: String)
    case signing(reason: String)

    /// What is stored does not read back as what was stored: damage, not a request.
    case damaged(what: String, reason: String)

    package var isOutage: Bool {
        switch self {
        case .clockBehind, .storage, .signing, .damaged: true
        default: false
        }
    }
}

extension RegistryError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .conflict(let role, let posted, let current):
            "role \(role) version \(posted) does not follow version \(current[role] ?? 0), the one that counts "
                + "now: someone else committed first; fetch the current metadata, apply the change to it, sign again"
        case .untrusted(let role, let reason): "role \(role) is refused: \(reason)"
        case .unpostableRole(let role, let reason): "role \(role) cannot be posted: \(reason)"
        case .empty: "the commit holds no role: post at least one signed role file"
        case .forbidden(let role, let scope):
            "role \(role) is outside the token's scope (\(scope)): use a token for its namespace"
        case .lifetime(let role, let expires, let now, let latest):
            "role \(role) expires \(expires): expected after now (\(now)) and not after \(latest); sign it again"
        case .mustSignAgain(let role, let under, let reason):
            "role \(role) would no longer verify under \(under) (\(reason)): sign \(role) again in the same commit"
        case .tooLarge(let what, let found, let limit): "\(what) has \(found), the limit is \(limit)"
        case .missingDocument(let path, let digest):
            "\(path) is listed with SHA-256 \(digest) but was not posted and is not stored: post its content"
        case .unlistedDocument(let path):
            "\(path) was posted but no posted role lists these bytes: list them, or leave the document out"
        case .badDocument(let path, let reason): "\(path): \(reason)"
        case .republished(let model, let version, let published, let posted):
            "\(model) \(version) is published with manifest \(published) and can never stand for \(posted): "
                + "publish a new version"
        case .unreleased(let model, let channel, let version, let reason):
            "channel \(channel) of \(model) lists version \(version): \(reason)"
        case .breaksApp(let broken): broken.sentence
        case .missingBlob(let digest, let path): "\(path): blob \(digest) is not stored; upload it first"
        case .blobLength(let digest, let path, let listed, let stored):
            "\(path): blob \(digest) has \(stored) bytes, the manifest lists \(listed)"
        case .blockList(let path, let reason): "\(path): \(reason)"
        case .digestMismatch(let expected, let reason): "the body is not blob \(expected): \(reason)"
        case .alreadyCreated: "this registry has its first commit already: choose another directory"
        case .notCreated: "this database holds no registry yet: run `sealift init`"
        case .wrongOnlineKey(let role):
            "the root names another key for \(role) than those that the registry has: put the private key that it names "
                + "into the registry's folder `keys`, as `online-NAME.pem` of mode 0600; a running `serve` finds it"
        case .rootExpired(let expires, let now):
            "the root of trust ended \(expires) and the clock says \(now), so nothing is signed: if the clock is "
                + "wrong, set it; else the holders of the root keys sign the next one: `sealift metadata refresh`"
        case .badCreation(let reason): "the registry cannot be created: \(reason)"
        case .clockBehind(let now, let signed):
            "the clock says \(now) but metadata was signed at \(signed): set the clock, then try again"
        case .storage(let reason): "the registry's storage failed: \(reason)"
        case .signing(let reason): "signing failed: \(reason)"
        case .damaged(let what, let reason): "\(what) is stored damaged: \(reason); restore a backup"
        }
    }
}
