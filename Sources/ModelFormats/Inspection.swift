import CanonicalJSON
package import Manifest
package import Names

/// What a reader found in a model file.
package struct Inspection: Equatable, Sendable {
    package var format: ModelFormat

    /// In normal form, ready for a manifest.
    ///
    /// Of a format that says no interface it is marked as declared, and has
    /// no more than digests of tokenizers and of the table of tensors.
    package var interface: Interface
    package var requires: Requirements

    /// Of Core ML: the specification version that the file states, which may be less than what it uses.
    package var statedVersion: Int64?

    /// Files beside this one that belong to the model, by path.
    package var externalFiles: [ExternalFile]
    package var metadata: ModelMetadata

    /// What the file says and was not taken, and why, for people.
    package var notes: [String] = []

    /// Of formats that are lists of tensors; their summary is part of the interface.
    package var tensors: [TensorRow] = []

    /// Of an ML Program: by file, where the records of its weights start.
    var weightRecords: [FilePath: [UInt64]] = [:]

    /// Of a GGUF file that is one of several.
    package var split: GGUFSplit?

    package init(
        format: ModelFormat,
        interface: Interface = Interface(inputs: [], outputs: [], isDeclared: true),
        requires: Requirements = Requirements(),
        externalFiles: [ExternalFile] = [],
        metadata: ModelMetadata = ModelMetadata()
    ) {
        self.format = format
        self.interface = interface
        self.requires = requires
        self.externalFiles = externalFiles
        self.metadata = metadata
    }
}

/// A file beside the model that holds some of its weights.
package struct ExternalFile: Equatable, Sendable {
    /// Relative to the folder of the model file.
    package var path: FilePath

    /// The least length at which every tensor lies inside.
    package var requiredLength: UInt64

    package init(path: FilePath, requiredLength: UInt64) {
        self.path = path
        self.requiredLength = requiredLength
    }
}

/// What the file says about itself; for people, and never trusted.
package struct ModelMetadata: Equatable, Sendable {
    package struct Property: Equatable, Sendable {
        package var key: String
        package var value: String
    }

    package var graphName = ""
    package var producerName = ""
    package var producerVersion = ""
    package var domain = ""

    /// The file's own counter; `nil` when it has none.
    package var modelVersion: Int64?
    package var documentation = ""

    /// Sorted by key, each key once.
    package var properties: [Property] = []

    package init() {}

    package subscript(key: String) -> String? {
        properties.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
    }
}
