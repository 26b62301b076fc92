import Durable
package import Manifest
package import Names
import Signing

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

    /// The manifest's bytes, as signed; their digest is in `identity`.
    package let manifestBytes: [UInt8]
    package let manifest: ModelManifest

    /// What this device holds of the manifest.
    package let content: Variant

    package var name: ModelName { identity.model }
    package var version: ModelVersion { identity.version }
    package var variant: VariantName { identity.variant }

    /// SHA-256 of the manifest: one name for exactly these bytes.
    package var manifestDigest: Digest { identity.manifest }

    /// What the model takes and gives.
    package var interface: Interface { manifest.interface(of: content) }

    /// Real path of the entry.
    package var entryPath: String { path(of: entry) }

    /// Real path of what programs open: of a package its folder, of a sharded model its index, else the entry.
    package var openedPath: String {
        let opened = content.opened
        return opened.isEmpty ? directory : "\(directory)/\(opened)"
    }

    /// Real path of one of the variant's files.
    package func path(of file: FilePath) -> String { "\(directory)/\(file)" }

    /// Keeps the version from being collected while the lease lives.
    ///
    /// - Returns: `nil` when it is being collected: something newer is active.
    package func lease() throws(GenerationError) -> DirectoryLease? { try DirectoryLease.shared(directory) }

    /// Opens a version and checks the state of every file.
    ///
    /// A file whose state is not as `install` left it is read again, whole, and
    /// is as good as any if its digest holds: a copied device directory has
    /// other times and the same bytes.
    init(_ model: GenerationRecord.Model, in device: DeviceDirectory) throws(GenerationError) {
        let installed = try InstalledVersion(model.identity, in: device)
        guard installed.content.entry == model.entry else {
            throw .damaged(
                path: installed.directory,
                expected: "the entry \(installed.content.entry)",
                found: "\(model.entry) in the generation's record"
            )
        }
        try installed.checkFiles(.state)
        identity = model.identity
        directory = installed.directory
        entry = model.entry
        channel = model.channel
        reason = model.reason
        manifestBytes = installed.manifestBytes
        manifest = installed.manifest
        content = installed.content
    }

    /// Reads every byte and compares it with the manifest.
    ///
    /// - Returns: The number of bytes read.
    /// - Throws: `GenerationError.damaged` with the first file that differs.
    package func verify() throws(GenerationError) -> UInt64 {
        try InstalledVersion(identity, directory: directory, manifestBytes, manifest, content).checkFiles(
            .bytes
        )
    }
}
