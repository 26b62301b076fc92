/// What went wrong, in a word that programs may rely on.
///
/// A code never changes its meaning; new ones may come. Each belongs to one
/// exit code and has a usual cause and a remedy, from which the documentation
/// is made. The message of an error says more: to what it happened, what was
/// expected and what was found.
package enum ErrorCode: String, CaseIterable, Sendable, Hashable {
    // Something about the call: nothing was tried.
    case usage
    case configuration
    case place
    case plainHTTP = "plain-http"
    case noRegistry = "no-registry"
    case nothingActive = "nothing-active"
    case runtimeMissing = "runtime-missing"

    // A proof or a policy said no.
    case signature
    case rollback
    case expired
    case metadata
    case document
    case bytes = "wrong-bytes"
    case certificate
    case clock
    case keyMode = "key-mode"
    case key
    case token
    case recalled
    case interface
    case breaking
    case checks = "checks-failed"
    case damaged
    case answer = "bad-answer"
    case registryRefused = "registry-refused"
    case refused

    case nothingUsable = "nothing-usable"
    case activeUnfit = "active-unfit"
    case expiredWithinGrace = "expired-within-grace"
    case misbehaviour

    // A fault of the program.
    case `internal`
    case newerDatabase = "newer-database"

    // The same may work later.
    case nameNotResolved = "name-not-resolved"
    case unreachable
    case cutOff = "cut-off"
    case stalled
    case serverError = "server-error"
    case missingAtServer = "missing-at-server"
    case diskFull = "disk-full"
    case disk
    case locked
    case conflict
    case portInUse = "port-in-use"
    case paused
    case cancelled
    case temporary

    /// The exit code of the command line.
    package var exitCode: Int32 {
        switch self {
        case .usage, .configuration, .place, .plainHTTP, .noRegistry, .nothingActive, .runtimeMissing: 2
        case .signature, .rollback, .expired, .metadata, .document, .bytes, .certificate, .clock, .keyMode,
            .key, .token, .recalled, .interface, .breaking, .checks, .damaged, .answer, .registryRefused,
            .refused:
            1
        case .nothingUsable, .activeUnfit: 3
        case .expiredWithinGrace: 4
        case .misbehaviour: 5
        case .internal, .newerDatabase: 70
        case .nameNotResolved, .unreachable, .cutOff, .stalled, .serverError, .missingAtServer, .diskFull,
            .disk, .locked, .conflict, .portInUse, .paused, .cancelled, .temporary:
            75
        }
    }
}

extension ErrorCode {
    /// What usually lies behind it, in one sentence.
    package var cause: String { explanation.cause }

    /// What to do about it, in one sentence.
    package var remedy: String { explanation.remedy }

    private var explanation: (cause: String, remedy: String) {
        switch self {
        case .usage:
            ("An option, a name or an input is not one that the command takes.", "`sealift COMMAND --help`.")
        case .configuration:
            (
                "A configuration file has a key that is not known, or a value of the wrong shape.",
                "Put right the key that the message names; `sealift schema agent` describes the file."
            )
        case .place:
            (
                "A file or directory is not there, or this user may not use it.",
                "Check the path, its owner and its mode; `sealift doctor` looks at all of them."
            )
        case .plainHTTP:
            (
                "A registry's address is plain http.",
                "Use https; `--allow-plain-loopback` is for trials on one machine."
            )
        case .noRegistry:
            (
                "A server answers at the registry's address, and has no registry there.",
                "Compare host, port and path with the address that `sealift serve` printed."
            )
        case .nothingActive:
            (
                "The device has no active version of the model, or none of any.",
                "`sealift sync`, with this model among those asked for."
            )
        case .runtimeMissing:
            (
                "The program that runs models of this format is not installed, or too old.",
                "`sealift doctor` prints the line that installs it."
            )
        case .signature:
            (
                "Metadata do not have enough signatures of the keys that the trust root names.",
                "Compare the root that is pinned with the registry's; if it is right, tell the registry's operator."
            )
        case .rollback:
            (
                "A server shows older metadata than this device has seen, or leaves out what it has seen.",
                "Try another mirror; if all say the same, tell the registry's operator."
            )
        case .expired:
            (
                "The signed chain has expired, and nothing is active or its grace is over.",
                "The registry's operator must sign the role that the message names: `sealift metadata status`."
            )
        case .metadata:
            (
                "Signed metadata are malformed, or say what Sealift's rules do not allow a role to say.",
                "Tell whoever signs the role that the message names."
            )
        case .document:
            (
                "A manifest, a card, an expectation or another document is not of its declared form.",
                "Put right what the message names; `sealift schema` prints the forms."
            )
        case .bytes:
            (
                "A server's bytes are not those that were signed.",
                "Try another mirror; tell the operator of the one that the message names."
            )
        case .certificate:
            (
                "The server's certificate is not by an authority that this device trusts, or expired.",
                "Give the registry's authority with `--ca FILE`, or have the certificate renewed; check the clock."
            )
        case .clock:
            (
                "This machine's clock is behind times that were signed, or far ahead of them.",
                "Set the clock; nothing new is accepted before."
            )
        case .keyMode:
            (
                "A private file can be read or changed by others.",
                "`chmod 600` on the file that the message names."
            )
        case .key:
            (
                "A signing key, its passphrase or its signer does not work.",
                "Check `--key`, `--passphrase-file`, and what the signer command prints."
            )
        case .token:
            (
                "The access token is missing, expired, revoked, or does not allow this.",
                "Get a new one from the registry's operator: `sealift token create`."
            )
        case .recalled:
            ("The version was recalled or denied.", "`sealift sync` leaves it.")
        case .interface:
            (
                "What a file really takes or gives is not what was declared, or not what the app expects.",
                "`sealift inspect` and `sealift compat` show the difference."
            )
        case .breaking:
            (
                "A change is greater than the version's number says, or an app that registered its needs cannot use it.",
                "`--version next` takes the smallest number that is true; an app that may break is named, `--breaks APP`."
            )
        case .checks:
            (
                "A model does not reproduce the golden vectors that were signed with it, or crashes or hangs on them.",
                "Its publisher must release a new version, which is taken by itself; `sealift quarantine clear` tries again."
            )
        case .damaged:
            (
                "A file on this disk is not what Sealift wrote there.",
                "`sealift sync` puts a device right; of a registry, restore a backup."
            )
        case .answer:
            (
                "A server's answer contradicts HTTP or the question.",
                "Look at what stands between: proxies, captive portals, another server at that address."
            )
        case .registryRefused:
            (
                "The registry's rules do not allow the change.",
                "The message says which rule, and what it wants."
            )
        case .refused: ("A policy or a proof said no.", "The message says which, and what it wants.")
        case .nothingUsable:
            (
                "A newer version is there, and this device cannot use it; the old one stays.",
                "`sealift why NS/MODEL` says what stands in the way of each."
            )
        case .activeUnfit:
            (
                "The active version does not fit the app's expectation or this device's runtime any more; it stays.",
                "`sealift why NS/MODEL` says what does not fit and which version would."
            )
        case .expiredWithinGrace:
            (
                "The signed chain has expired; what is active runs on within its grace.",
                "The registry's operator must sign the role that the message names before the grace ends."
            )
        case .misbehaviour:
            (
                "Two signed statements of the registry cannot both be honest.",
                "Keep the evidence, stop using the registry, and ask its operator."
            )
        case .internal: ("A fault of the program.", "Report it, with the message.")
        case .newerDatabase:
            (
                "The database was written by a newer version of the program.",
                "Install that version or a newer one."
            )
        case .nameNotResolved:
            ("The registry's host name does not resolve.", "Check the name, and this machine's resolver.")
        case .unreachable:
            (
                "Nobody answers at the registry's address.",
                "Check address, port, firewall and proxy: `sealift doctor`; it is tried again by itself with `--watch`."
            )
        case .cutOff: ("The connection broke.", "Try again; verified bytes are kept.")
        case .stalled: ("The server sends too slowly, or nothing.", "Try again later, or another mirror.")
        case .serverError:
            (
                "The server has trouble of its own, or too much to do.",
                "Try again after the time that it names."
            )
        case .missingAtServer:
            (
                "The server does not have a file that its own metadata name.",
                "Try again; a mirror may be half copied."
            )
        case .diskFull:
            (
                "The disk, its quota or its number of files is full.",
                "Free some space, or delete files where the message names inodes, and try again; verified bytes are kept."
            )
        case .disk: ("The disk refuses to read or write.", "Look at the system's log; try again.")
        case .locked:
            ("Another process is at work on the same directory.", "Wait until it is done, and try again.")
        case .conflict:
            ("Somebody else changed the same role in the meantime.", "Look at what changed, and try again.")
        case .portInUse:
            ("Another program listens at that address.", "End it, or choose another with `--listen`.")
        case .paused:
            (
                "The byte budget is used up, or it is outside the hours in which models may be fetched.",
                "Wait, or change `budget` and `window`."
            )
        case .cancelled: ("The work was told to stop.", "Start it again; verified bytes are kept.")
        case .temporary: ("Something that may be gone later.", "Try again.")
        }
    }

    /// All codes as a Markdown table, in the order of the exit codes.
    package static var table: String {
        let rows = allCases.map { code in
            "| `\(code.rawValue)` | \(code.exitCode) | \(code.cause) | \(code.remedy) |"
        }
        return (["| code | exit | cause | remedy |", "|---|---|---|---|"] + rows).joined(separator: "\n")
    }
}
