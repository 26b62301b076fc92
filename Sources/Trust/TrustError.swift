package import Names

/// Why a document was refused.
///
/// A refusal is an ordinary result of talking to an untrusted server, so each
/// case carries what an operator needs to tell an attack from an outage.
/// Branch on the case; the message is for people.
package enum TrustError: Error, Equatable, Sendable {
    /// Longer than the role may be; nothing was parsed.
    case tooLong(role: RoleName, found: Int, limit: UInt64)

    /// Not the document that the role asks for.
    case malformed(role: RoleName, reason: String)

    /// A document of another role, `_type` says.
    case wrongType(role: RoleName, expected: String, found: String)

    /// A `spec_version` whose major number is not 1.
    case unsupportedSpecification(role: RoleName, found: String)

    /// Fewer than `needed` distinct keys of `role` signed the bytes.
    case thresholdNotMet(role: RoleName, valid: Int, needed: Int)

    /// The signatures could not be checked, which says nothing about them.
    case unverifiable(role: RoleName, reason: String)

    /// Two signatures under one key ID.
    case duplicateSignature(role: RoleName, keyID: String)

    /// A key listed under an ID that is not its own digest (TUF 1.0.34, 4.2.3).
    case keyIDMismatch(role: RoleName, keyID: String, computed: String)

    /// A root must step forward by exactly one version.
    case versionOutOfOrder(role: RoleName, expected: Int64, found: Int64)

    /// A version below the one already trusted.
    case rollback(role: RoleName, trusted: Int64, found: Int64)

    /// Signed before a time that has been seen signed, where no older document is left to compare versions with.
    case replayed(role: RoleName, issued: UnixTime, floor: UnixTime)

    /// Another version than the parent document lists.
    case versionMismatch(role: RoleName, expected: Int64, found: Int64)

    /// Another length than the parent document lists.
    case lengthMismatch(role: RoleName, expected: UInt64, found: UInt64)

    /// Another digest than the parent document lists, or one that cannot be computed.
    case digestMismatch(role: RoleName, algorithm: String)

    /// The document was valid until `expiry`, and `now` is not earlier.
    case expired(role: RoleName, expiry: UnixTime, now: UnixTime)

    /// The trusted snapshot lists the role, the new one does not.
    case removedFromSnapshot(role: RoleName)

    /// A delegated role that the snapshot does not list.
    case notInSnapshot(role: RoleName)

    /// A role whose file, its name percent-encoded, would have a longer name than disks take.
    case nameTooLong(role: RoleName, found: Int, limit: Int)

    /// A role that its parent does not delegate to.
    case notDelegated(role: RoleName, by: RoleName)

    /// A search that would visit more roles than the limit.
    case tooManyDelegations(path: TargetPath, limit: Int)

    /// No document of the role was stored, and none was asked for.
    case missing(role: RoleName)

    /// A shape that Sealift does not accept, although TUF would.
    case shape(role: RoleName, reason: String)

    /// Signed later than this machine's clock allows.
    case issuedInFuture(role: RoleName, issued: UnixTime, clock: UnixTime)

    /// This machine's clock is behind a time already seen signed.
    case clockBehind(clock: UnixTime, floor: UnixTime)

    /// An online role that lives longer than the root allows.
    case lifetimeTooLong(role: RoleName, seconds: Int64, maximum: Int64)

    /// A signer could not sign.
    case signingFailed(reason: String)
}

extension TrustError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong(let role, let found, let limit):
            "role \(role): \(found) bytes, the limit is \(limit)"
        case .malformed(let role, let reason): "role \(role): not a valid document: \(reason)"
        case .wrongType(let role, let expected, let found):
            "role \(role): expected a document of type \(expected), found \(found)"
        case .unsupportedSpecification(let role, let found):
            "role \(role): written for TUF \(found), this program reads 1.x; update this program"
        case .thresholdNotMet(let role, let valid, let needed):
            "role \(role): signed by \(valid) of its keys, \(needed) needed"
        case .unverifiable(let role, let reason):
            "role \(role): its signatures could not be checked (\(reason)); nothing is known about them. Try again"
        case .duplicateSignature(let role, let keyID): "role \(role): two signatures by key \(keyID)"
        case .keyIDMismatch(let role, let keyID, let computed):
            "role \(role): a key is listed as \(keyID), its digest is \(computed)"
        case .versionOutOfOrder(let role, let expected, let found):
            "role \(role): expected version \(expected), found \(found)"
        case .rollback(let role, let trusted, let found):
            "role \(role): version \(trusted) is already trusted, \(found) would go back"
        case .replayed(let role, let issued, let floor):
            "role \(role): signed at \(issued), but \(floor) has been seen signed; it is an old one"
        case .versionMismatch(let role, let expected, let found):
            "role \(role): version \(expected) is listed, found \(found)"
        case .lengthMismatch(let role, let expected, let found):
            "role \(role): \(expected) bytes are listed, found \(found)"
        case .digestMismatch(let role, let algorithm):
            "role \(role): the bytes do not have the \(algorithm) digest that is listed"
        case .expired(let role, let expiry, let now):
            "role \(role): expired at \(expiry), it is \(now); whoever holds its keys must sign it again"
        case .removedFromSnapshot(let role): "role \(role): the new snapshot no longer lists it"
        case .notInSnapshot(let role): "role \(role): the snapshot does not list it"
        case .nameTooLong(let role, let found, let limit):
            "role \(role.description.prefix(40))…: its file name has \(found) bytes, the limit is \(limit); "
                + "the delegator must give it a shorter name"
        case .notDelegated(let role, let parent): "role \(role): \(parent) does not delegate to it"
        case .tooManyDelegations(let path, let limit):
            "\(path): not found in the first \(limit) roles of the search"
        case .missing(let role): "role \(role): nothing is stored; synchronise first"
        case .shape(let role, let reason): "role \(role): not a shape that Sealift accepts: \(reason)"
        case .issuedInFuture(let role, let issued, let clock):
            "role \(role): signed at \(issued), but this machine's clock says \(clock); set the clock"
        case .clockBehind(let clock, let floor):
            "this machine's clock says \(clock), but \(floor) has been seen signed; set the clock"
        case .lifetimeTooLong(let role, let seconds, let maximum):
            "role \(role): lives \(seconds) seconds, the root allows \(maximum)"
        case .signingFailed(let reason): "could not sign: \(reason)"
        }
    }
}
