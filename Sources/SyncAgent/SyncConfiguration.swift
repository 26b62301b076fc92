package import Checking
import Generations
import Names

/// What one device syncs, from where, and under which root of trust.
public struct SyncConfiguration: Sendable, Equatable {
    /// The device directory; made when it is not there.
    public var directory: String

    /// Base URLs of the registry and its mirrors, `https://host:port/`; asked in this order, trusted equally little.
    public var registries: [String]

    /// The pinned root of trust, a signed root metadata file.
    public var rootFile: String

    /// Certificates of a private authority, PEM; `nil` uses the system's.
    public var caFile: String?

    /// The models to keep on the device; others leave with the next generation.
    public var models: [WantedModel]

    /// Whether plain HTTP is allowed, for loopback addresses alone.
    public var allowsPlainLoopback = false

    /// A read token for namespaces that need one.
    public var tokenFile: String?

    /// Bytes of disk that a sync must leave free.
    public var reserve: UInt64 = 64 << 20

    /// How long versions that are no longer active stay for readers that resolved them, in seconds.
    public var retain: Int64 = 86_400

    /// Attempts without a verified byte before a download gives up; refilled by each verified byte.
    public var retries = 6

    /// Seconds without progress after which a connection is given up and another is made.
    public var stallSeconds = 20

    /// The most that a sync may use of the line; `nil` is no limit.
    public var rate: TransferRate?

    /// Bytes of model files that may come in each period; `nil` is no limit.
    public var budget: ByteBudget?

    /// Times of day in which model files may be fetched; none is always.
    public var windows: [TransferWindow] = []

    /// While this file exists the link is metered, and model files come within ``budget`` or not at all.
    public var meteredFile: String?

    /// Seconds after which a registry is asked for news while files are received; `nil` is as often as it signed.
    ///
    /// A recall is obeyed then, in the middle of a download. A little longer or
    /// shorter each time; at least every five minutes, unless ``isWatching``.
    public var pollSeconds: Int64?

    /// Whether somebody syncs again and again, so that what the registry signed about polling is meant.
    public var isWatching = false

    /// Runtimes that are on the device, as far as somebody knows.
    ///
    /// A version that asks for more than the one for its format has is passed over.
    public var runtimes: [InstalledRuntime] = []

    /// A program that reads received model files in a limited process of its own: the path of `sealift`.
    ///
    /// `nil` reads them in this process, under the bounds that the readers have
    /// anyway. An app that can ship a second executable should name one: what a
    /// file does to its reader then cannot happen to the app.
    public var readerProgram: String? {
        get { reader?.path }
        set { reader = newValue.map { ReaderProgram($0) } }
    }

    /// The same with its limits.
    package var reader: ReaderProgram?

    /// A program that runs the golden vectors of new versions in a limited process of its own, before anything of them
    /// is active: the path of `sealift`.
    ///
    /// A version that does not reproduce them is quarantined, and the old one
    /// stays. `nil` runs none; whatever loads the model should, as `ModelLibrary` does.
    public var checkProgram: String?

    /// The library of ONNX Runtime with which golden vectors are run; `nil` runs none.
    ///
    /// An absolute path that others may not write to: it is opened as a program is.
    public var runtimeLibrary: String?

    /// How much the process that runs golden vectors may use.
    package var checkLimits = CheckProgram.Limits()

    /// What runs golden vectors here; `nil` when nothing does.
    package var checks: CheckProgram? {
        guard let checkProgram, let runtimeLibrary else { return nil }
        var program = CheckProgram(checkProgram, library: runtimeLibrary)
        program.limits = checkLimits
        return program
    }

    /// Whether the registry is told what became of each version, once this device is enrolled there.
    ///
    /// A receipt names the device's key, models, versions, error codes and
    /// durations, and ``tags``; no host, account, path, address or input.
    /// Nothing is sent yet: registries do not take receipts in this release, so
    /// nothing enrols a device.
    public var sendsReceipts = false

    /// What receipts say of this device besides, by name: at most 16, in printable ASCII.
    public var tags: [String: String] = [:]

    /// How long to wait for another sync of the same directory, in seconds.
    public var lockPatience: Int64 = 60

    /// Makes a configuration with the defaults that the properties name.
    public init(directory: String, registries: [String], rootFile: String, models: [WantedModel]) {
        self.directory = directory
        self.registries = registries
        self.rootFile = rootFile
        self.models = models
    }

    /// Checks what can be checked without touching anything.
    ///
    /// An expectation that is none is not among it: it concerns one model, whose
    /// decision says so, and no recall waits for it.
    ///
    /// - Throws: `SyncError` of kind `usage`, naming the setting.
    public func check() throws(SyncError) {
        guard !directory.isEmpty else { throw SyncError(.usage, "no device directory; give --directory DIR") }
        guard !registries.isEmpty else { throw SyncError(.usage, "no registry; give --registry URL") }
        guard !rootFile.isEmpty else { throw SyncError(.usage, "no root of trust; give --root FILE") }
        guard !models.isEmpty else {
            throw SyncError(.usage, "no model; give --model NAMESPACE/MODEL@CHANNEL")
        }
        if let pollSeconds, pollSeconds < 1 {
            throw SyncError(
                .usage,
                "pollSeconds is \(pollSeconds); expected at least 1 second between two looks"
            )
        }
        for registry in registries {
            try RegistryURL.check(registry, allowsPlainLoopback: allowsPlainLoopback)
        }
        guard tags.count <= ReceiptTags.maximum, tags.allSatisfy({ ReceiptTags.isSound($0, $1) }) else {
            throw SyncError(
                .usage,
                "tags: expected at most \(ReceiptTags.maximum), named by up to 32 of a-z, 0-9, ‘.’, ‘_’ and ‘-’, each "
                    + "of 1 to 64 printable ASCII characters"
            )
        }
        var seen: Set<ModelName> = []
        for request in models {
            guard seen.insert(request.name).inserted else {
                throw SyncError(.usage, "\(request.model) is asked for twice; ask for it once")
            }
            if case .app = request.confirmation, request.trialBounds == nil {
                throw SyncError(
                    .usage,
                    "\(request.model) is to be confirmed by its app within 1 to 1000 starts and one second to ten years"
                )
            }
        }
    }
}

extension WantedModel {
    /// Within what the app has to confirm a new version; `nil` where it has not to.
    var trialBounds: TrialBounds? {
        guard case .app(let starts, let seconds) = confirmation else { return nil }
        return TrialBounds(starts: starts, seconds: seconds)
    }
}

/// The rule for a registry's address: HTTPS, or plain HTTP to this machine when allowed.
package enum RegistryURL {
    /// Checks one address.
    ///
    /// - Throws: `SyncError` of kind `usage`.
    package static func check(_ text: String, allowsPlainLoopback: Bool) throws(SyncError) {
        let isPlain = text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        let scheme = text.prefix { $0 != ":" }.lowercased()
        let rest = text.dropFirst(scheme.count)
        // A query or a fragment would swallow the paths that are put behind it.
        guard isPlain, !text.contains("?"), !text.contains("#"), rest.hasPrefix("://"),
            let host = host(in: rest.dropFirst(3))
        else {
            throw SyncError(.usage, "\"\(text)\" is not a registry address; expected https://HOST:PORT/")
        }
        switch scheme {
        case "https": return
        case "http":
            let isLoopback = host == "localhost" || host == "[::1]" || isLoopbackIPv4(host)
            guard isLoopback else {
                throw SyncError(
                    code: .plainHTTP,
                    "plain http to \(host) is refused: \(text); use https (plain http is for loopback addresses)"
                )
            }
            guard allowsPlainLoopback else {
                throw SyncError(
                    code: .plainHTTP,
                    "plain http to \(host) needs --allow-plain-loopback: \(text); or use https"
                )
            }
        default:
            throw SyncError(
                .usage,
                "\(scheme) is not a scheme Sealift speaks: \(text); use https://HOST:PORT/"
            )
        }
    }

    /// The host of `authority/path`, in lower case; `nil` when there is none or there are credentials.
    private static func host(in text: some StringProtocol) -> String? {
        let authority = text.prefix { $0 != "/" }.lowercased()
        guard !authority.contains("@") else { return nil }
        var host = authority.prefix { $0 != ":" }
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[...end]
        }
        let port = authority[host.endIndex...]
        guard !host.isEmpty, port.isEmpty || isPort(port.dropFirst()) && port.hasPrefix(":") else {
            return nil
        }
        return String(host)
    }

    private static func isPort(_ text: some StringProtocol) -> Bool {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(text) else {
            return false
        }
        return number > 0
    }

    private static func isLoopbackIPv4(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        let isAddress = parts.count == 4 && parts.allSatisfy { UInt8($0) != nil && $0.count <= 3 }
        return isAddress && parts[0] == "127"
    }
}
