package import CanonicalJSON
package import Inference
package import Manifest
package import Names

/// Where a library finds the active version of a model.
///
/// All may block; the library sends them to a thread that may.
package protocol ModelSource: Sendable {
    /// Changes whenever `activeVersion` may give another answer; `nil` when that is not known.
    ///
    /// Asked often, so it must cost microseconds where the disk answers.
    func stamp() -> SourceStamp?

    /// The version to use now: the active one, or the one before it where that is in the quarantine.
    ///
    /// - Throws: `ModelLibraryError.notAvailable`, or `.refused` for one that is recalled, or in the quarantine with
    ///   nothing before it.
    func activeVersion(of model: ModelName) throws(ModelLibraryError) -> LibraryVersion

    /// A version other than `version` that is or was active and may run; `nil` when there is none.
    func earlierVersion(
        of model: ModelName,
        than version: LibraryVersion
    ) throws(ModelLibraryError) -> LibraryVersion?

    /// Whether a version that was active may go on running: nothing recalls it, and it is not in the quarantine.
    func mayRun(_ version: LibraryVersion) throws(ModelLibraryError) -> Bool

    /// A version with everything that loading needs, its files checked.
    ///
    /// - Returns: `nil` when the device has moved on and no longer has it.
    /// - Throws: As above, and `.refused` when the files are not those that were verified.
    func open(_ version: LibraryVersion) throws(ModelLibraryError) -> OpenedModel?

    /// Sees to it that a version which does not work here is not tried again.
    ///
    /// - Throws: `ModelLibraryError.refused` when its files are not those that were verified, so that it is not the
    ///   version's fault; nothing is noted then.
    func condemn(_ version: LibraryVersion, _ reason: String) throws(ModelLibraryError) -> QuarantinePlace
}

/// Lives from before a load until after it, so that one which ends the process is known afterwards; may block.
package protocol LoadNote: Sendable {
    /// The runtime is about to load.
    func begin()

    /// The process lived through it.
    func end(hasLoaded: Bool)
}

/// Equal stamps mean that nothing changed between them.
package struct SourceStamp: Hashable, Sendable {
    let numbers: [Int64]

    package init(_ numbers: [Int64]) { self.numbers = numbers }
}

/// One variant of one version.
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

extension LibraryVersion {
    var modelText: String { model.description }
    var versionText: String { version.description }

    package func refused(_ reason: String) -> ModelLibraryError {
        .refused(model: modelText, version: versionText, reason: reason)
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
    package var labels: [String] = []

    /// Bytes of all files.
    package var length: UInt64 = 0

    /// What the publisher states that it takes.
    package var memory: MemoryNeed?

    /// Golden vectors that the loaded model must reproduce.
    package var checks: [JSONValue] = []

    /// Why it must not be loaded, by how earlier loads ended.
    package var verdict: String?

    /// Told when the load begins and ends.
    package var note: (any LoadNote)?

    /// Kept as long as the model is loaded, so that its files stay.
    package var hold: (any Sendable)?

    package init(
        version: LibraryVersion,
        directory: String,
        entryPath: String,
        format: String,
        ports: ModelPorts
    ) {
        self.version = version
        self.directory = directory
        self.entryPath = entryPath
        self.format = format
        self.ports = ports
    }
}
