package import Inference
package import Names

/// Where a library finds the active version of a model.
///
/// Both calls may block; the library sends them to a thread that may.
package protocol ModelSource: Sendable {
    /// The version to use now.
    ///
    /// - Throws: `ModelLibraryError.notAvailable`, or `.refused` for one that is recalled.
    func activeVersion(of model: ModelName) throws(ModelLibraryError) -> LibraryVersion

    /// The active version with everything that loading needs, its files checked.
    ///
    /// - Throws: As above, and `.refused` when the files are not those that were verified.
    func open(_ model: ModelName) throws(ModelLibraryError) -> OpenedModel
}

/// One variant of one version: what a library keeps loaded once.
package struct LibraryVersion: Hashable, Sendable {
    package let model: ModelName
    package let version: ModelVersion
    package let variant: VariantName

    /// SHA-256 of the manifest: equal digests are equal bytes.
    package let manifest: Digest

    package init(model: ModelName, version: ModelVersion, variant: VariantName, manifest: Digest) {
        self.model = model
        self.version = version
        self.variant = variant
        self.manifest = manifest
    }
}

/// A version whose files are there and checked.
package struct OpenedModel: Sendable {
    package let version: LibraryVersion

    /// Real path of the folder that holds the variant's files.
    package let directory: String

    /// Real path of the file that a runtime opens.
    package let entryPath: String

    /// As manifests name it: `onnx`.
    package let format: String

    /// As the manifest declares them.
    package let ports: ModelPorts

    /// Class labels in the order of their indices; empty when the manifest has none.
    package let labels: [String]

    /// Kept as long as the model is loaded, so that its files stay.
    package let hold: (any Sendable)?

    package init(
        version: LibraryVersion,
        directory: String,
        entryPath: String,
        format: String,
        ports: ModelPorts,
        labels: [String] = [],
        hold: (any Sendable)? = nil
    ) {
        self.version = version
        self.directory = directory
        self.entryPath = entryPath
        self.format = format
        self.ports = ports
        self.labels = labels
        self.hold = hold
    }
}
