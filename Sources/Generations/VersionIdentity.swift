package import Names

/// One variant of one version, by the digest of its manifest: what a version directory holds.
///
/// Its directory name is always made from here and compared with what stands
/// on the disk; nothing is ever read out of a name.
package struct VersionIdentity: Hashable, Sendable {
    package let model: ModelName
    package let version: ModelVersion
    package let variant: VariantName

    /// SHA-256 of the manifest's bytes.
    package let manifest: Digest

    package init(model: ModelName, version: ModelVersion, variant: VariantName, manifest: Digest) {
        self.model = model
        self.version = version
        self.variant = variant
        self.manifest = manifest
    }

    /// `1.4.0-int8-<64 hexadecimal digits>`, at most 162 bytes.
    package var directoryName: String { "\(version)-\(variant)-\(manifest.hex)" }

    /// Where the version directory stands, from the device directory.
    package var relativePath: String { "versions/\(model)/\(directoryName)" }

    /// Where its manifest's bytes stand: beside the directory, so that no file of the variant can be in their way.
    package var manifestRelativePath: String { relativePath + ".json" }

    /// What a generation's link to it says.
    package var linkText: String { "../../../" + relativePath }
}
