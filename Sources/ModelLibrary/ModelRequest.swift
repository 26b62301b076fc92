public import Inference
package import Names

/// Which model is wanted, and how much it matters: a name alone, since the device decides on the version.
public struct ModelRequest: Hashable, Sendable {
    package let name: ModelName

    /// How much the model matters from this request on.
    public var priority: ModelPriority

    /// Whether it stays in memory when idle, through plain requests and new versions, until `unpin` or `unload`; only a
    /// critical lack of memory frees it before.
    public var isPinned: Bool

    /// The longest wait for the model; that of the configuration unless given.
    public var deadline: Duration? { didSet { deadline = deadline?.held } }

    /// How to load it; as the configuration says unless given.
    public var loadOptions: LoadOptions?

    /// The name, `vision/detector`.
    public var model: String { name.description }

    /// Asks for the active version of a model.
    ///
    /// - Parameters:
    ///   - model: Namespace and name, `vision/detector`.
    ///   - priority: How much it matters.
    ///   - isPinned: Whether it stays in memory when idle.
    ///   - deadline: The longest wait.
    ///   - loadOptions: How to load it.
    /// - Throws: `ModelLibraryError.invalidName` for any other shape.
    public init(
        _ model: String,
        priority: ModelPriority = .normal,
        isPinned: Bool = false,
        deadline: Duration? = nil,
        loadOptions: LoadOptions? = nil
    ) throws(ModelLibraryError) {
        guard let name = ModelName(model) else { throw .invalidName(model) }
        self.init(name: name)
        self.priority = priority
        self.isPinned = isPinned
        self.deadline = deadline?.held
        self.loadOptions = loadOptions
    }

    package init(name: ModelName) {
        self.name = name
        priority = .normal
        isPinned = false
    }
}
