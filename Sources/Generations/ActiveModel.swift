package import Names

/// A model's active version, by real paths that stay the same whatever is activated later.
package struct ActiveModel: Sendable {
    package let identity: VersionIdentity

    /// Real path of the version directory; it holds the variant's files and nothing else.
    package let directory: String

    /// The file that a runtime opens, inside `directory`.
    package let entry: FilePath

    /// The channel it was chosen from; `nil` when asked for by version.
    package let channel: ChannelName?

    /// Why this version, for people.
    package let reason: String

    /// The manifest's bytes, as signed.
    package let manifestBytes: [UInt8]

    package var name: ModelName { identity.model }
    package var version: ModelVersion { identity.version }
    package var variant: VariantName { identity.variant }

    /// SHA-256 of the manifest: one name for exactly these bytes.
    package var manifestDigest: Digest { identity.manifest }

    /// Real path of the entry.
    package var entryPath: String { path(of: entry) }

    /// Real path of one of the variant's files.
    package func path(of file: FilePath) -> String { "\(directory)/\(file)" }

    init(_ model: GenerationRecord.Model, in device: DeviceDirectory) throws(GenerationError) {
        identity = model.identity
        directory = "\(device.path)/\(model.identity.relativePath)"
        entry = model.entry
        channel = model.channel
        reason = model.reason
        let file = "\(device.path)/\(model.identity.manifestRelativePath)"
        guard let bytes = try device.contents(file, maximum: Limits.manifest) else {
            throw .damaged(path: file, expected: "the manifest of \(model.identity.model)", found: "nothing")
        }
        manifestBytes = bytes
    }
}
