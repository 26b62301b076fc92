import Generations
package import Names

/// One model that a device wants, and which of its versions.
public struct WantedModel: Sendable, Hashable {
    /// How the version is chosen.
    package enum Selection: Sendable, Hashable {
        /// The newest usable version that the channel lists.
        case channel(ChannelName)

        /// Exactly this version, listed or not.
        case version(ModelVersion)
    }

    package let name: ModelName
    package let selection: Selection

    /// What the app sends and reads, as a `sealift/expectation@1` document; `nil` accepts every interface.
    public var expectation: [UInt8]?

    /// What is wrong with a file that the configuration names, and without which no other version may be taken.
    ///
    /// A version that is recalled is left all the same.
    package var fileFault: SyncError?

    /// The variant to take; `nil` takes the first that runs here.
    package var variant: VariantName?

    /// No version below it is activated on this device, whatever a channel allows.
    package var floor: ModelVersion?

    /// Models of one group move together or not at all; a recall waits for no group.
    ///
    /// While one of them has no other version to move to, the others wait, and
    /// the decision about each says for whom: publish all models of a group
    /// whenever one of them changes.
    public var group: String?

    /// Who says that a new version works.
    public var confirmation = Confirmation.selfTest

    /// Who says that a newly activated version works.
    public enum Confirmation: Sendable, Hashable {
        /// The checks before activation are enough.
        case selfTest

        /// The app, by `sealift confirm` or ``SyncedDevice/confirm(_:)``: within so many starts (`1 ... 1000`)
        /// and so many seconds. Otherwise the device falls back to the version before.
        case app(starts: Int, seconds: Int64)

        /// What ``init(written:)`` reads, for messages.
        package static let expected = "STARTS/TIME within 1000 starts and ten years: 3/24h"

        /// Reads what a person writes for an app: `3/24h`; `nil` for anything else.
        package init?(written text: String) {
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let starts = WrittenNumber.value(parts[0]),
                let seconds = WrittenTime.seconds(String(parts[1])),
                TrialBounds(starts: Int(clamping: starts), seconds: seconds) != nil
            else { return nil }
            self = .app(starts: Int(clamping: starts), seconds: seconds)
        }
    }

    /// The channel of a request that names none.
    public static let defaultChannel = "stable"

    /// Parses `NS/MODEL`, `NS/MODEL@CHANNEL`, `NS/MODEL@VERSION` or `NS/MODEL@=VERSION`.
    ///
    /// A channel begins with a letter and a version with a digit, so the two
    /// cannot be confused.
    ///
    /// - Parameters:
    ///   - text: The request.
    ///   - expectation: A `sealift/expectation@1` document.
    /// - Throws: `SyncError` of kind `usage`.
    public init(_ text: String, expectation: [UInt8]? = nil) throws(SyncError) {
        let halves = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = ModelName(halves[0]) else {
            throw SyncError(
                .usage,
                "\"\(text)\" is not a model: expected NAMESPACE/MODEL@CHANNEL or NAMESPACE/MODEL@VERSION"
            )
        }
        let wanted = halves.count == 2 ? String(halves[1]) : Self.defaultChannel
        let version = wanted.hasPrefix("=") ? String(wanted.dropFirst()) : wanted
        if let channel = ChannelName(wanted) {
            selection = .channel(channel)
        } else if let version = ModelVersion(version) {
            selection = .version(version)
        } else {
            throw SyncError(
                .usage,
                "\"\(wanted)\" in \"\(text)\" is neither a channel such as stable nor a version such as 1.4.0"
            )
        }
        self.name = name
        self.expectation = expectation
    }

    package init(name: ModelName, selection: Selection, expectation: [UInt8]? = nil) {
        self.name = name
        self.selection = selection
        self.expectation = expectation
    }

    /// The model's name, `NAMESPACE/MODEL`.
    public var model: String { name.description }
}

extension WantedModel: CustomStringConvertible {
    /// The request as it is written, `NAMESPACE/MODEL@CHANNEL` or `@VERSION`.
    public var description: String {
        switch selection {
        case .channel(let channel): "\(name)@\(channel)"
        case .version(let version): "\(name)@\(version)"
        }
    }
}
