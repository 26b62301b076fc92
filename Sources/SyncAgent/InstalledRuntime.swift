package import Manifest

/// A program on the device that loads models, so that no version is chosen which it cannot load.
public struct InstalledRuntime: Sendable, Hashable {
    /// `onnxruntime` or `tflite`.
    public let name: String

    /// Such as `1.24.1`.
    public let version: String

    package private(set) var limits: Machine.Runtime

    /// Names a runtime.
    ///
    /// - Throws: `SyncError` of kind `usage` for a name or version that Sealift knows nothing about.
    public init(name: String, version: String) throws(SyncError) {
        guard let limits = Machine.Runtime(named: name, version: version) else {
            throw SyncError(
                .usage,
                "\(name) \(version) is not a runtime that Sealift knows; expected onnxruntime of 1.0 or later, or "
                    + "tflite, and a version such as 1.24.1"
            )
        }
        self.name = name
        self.version = version
        self.limits = limits
    }

    /// The same runtime as one that only lies here, and of which nobody said that it runs models.
    package var asFound: InstalledRuntime {
        var found = self
        found.limits.isNamed = false
        return found
    }

    /// Compares name and version.
    public static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && left.version == right.version
    }

    /// Hashes name and version.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(version)
    }
}
