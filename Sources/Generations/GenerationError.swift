package import Durable
package import Names

/// Why a device directory cannot be read or changed.
///
/// None of these changes what is active: `current` is replaced by one rename
/// or not at all.
package enum GenerationError: Error, Equatable, Sendable {
    /// No device directory at `path`: nothing was ever synced there.
    case missing(path: String)

    /// The directory is there, but no generation was ever activated.
    case nothingActive(directory: String)

    /// The active generation does not hold `model`.
    case notActive(model: ModelName, active: [ModelName])

    /// What stands on the disk is not what Sealift wrote.
    case damaged(path: String, expected: String, found: String)

    /// A link in the place of one of the directories inside a device directory.
    case linked(path: String, target: String)

    /// The file system refused.
    case disk(DurableError)

    /// An app condemned a version while it was chosen.
    case condemned(VersionIdentity, reason: String)

    /// Staging was asked to do what its arguments rule out, such as a manifest of another model.
    case unfit(reason: String)
}

extension GenerationError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .linked(let path, let target):
            "\(path) is a link to \(target): a device directory may be reached by a link, and what is inside it may be "
                + "none, or others would be written to; put the directory itself there"
        case .missing(let path):
            "no device directory at \(path); check --directory, or run `sealift sync` to make one"
        case .nothingActive(let directory):
            "nothing is active in \(directory) yet; run `sealift sync`"
        case .notActive(let model, let active):
            "\(model) is not active on this device; active: "
                + (active.isEmpty ? "none" : active.map(\.description).joined(separator: ", "))
                + ". Ask `sealift sync` for it too, with --model \(model)@CHANNEL; where that was done, "
                + "`sealift why \(model)` tells why it is not there"
        case .damaged(let path, let expected, let found):
            "\(path) is damaged: expected \(expected), found \(found); run `sealift sync` to put it right"
        case .disk(let error): error.description
        case .condemned(let identity, let reason):
            "\(identity.model) \(identity.version) was quarantined while this sync ran (\(reason)), and is not made "
                + "active. Sync again"
        case .unfit(let reason): reason
        }
    }
}

/// Runs steps on the disk, so that their errors come out as this module's.
func onDisk<Success>(_ steps: () throws(DurableError) -> Success) throws(GenerationError) -> Success {
    do { return try steps() } catch { throw .disk(error) }
}
