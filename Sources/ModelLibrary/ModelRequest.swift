package import Names

/// Which model is wanted: a name alone, since the device decides on the version.
public struct ModelRequest: Hashable, Sendable {
    package let name: ModelName

    /// The name, `vision/detector`.
    public var model: String { name.description }

    /// Asks for the active version of a model.
    ///
    /// - Parameter model: Namespace and name, `vision/detector`.
    /// - Throws: `ModelLibraryError.invalidName` for any other shape.
    public init(_ model: String) throws(ModelLibraryError) {
        guard let name = ModelName(model) else { throw .invalidName(model) }
        self.init(name: name)
    }

    package init(name: ModelName) { self.name = name }
}
