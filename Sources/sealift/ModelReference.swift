import Arguments
import Durable
import Manifest
import Names
import Publishing
import Trust

/// A model that a call names: files here, or a published version.
struct ModelReference {
    /// For people.
    let name: String
    let manifest: ModelManifest

    /// A file has no version yet, so the range that an app accepts says nothing about it.
    let isPublished: Bool

    /// What whoever asks about it must know beside: that nobody gets it, or what its channel lists above it.
    var standing: [String] = []

    /// `NS/MODEL@V`, taken apart.
    struct Published {
        let model: ModelName

        /// A version or a channel.
        let wanted: String
    }

    /// What a text names if it is no path of anything here.
    ///
    /// - Returns: `nil` for a path.
    static func published(_ text: String) throws -> Published? {
        let halves = text.split(separator: "@", maxSplits: 1)
        guard try Durable.kind(of: text) == nil, halves.count == 2, let model = ModelName(halves[0]) else {
            return nil
        }
        return Published(model: model, wanted: String(halves[1]))
    }

    /// Reads files, or fetches a signed manifest.
    ///
    /// - Parameters:
    ///   - text: What the call names.
    ///   - arguments: Of a command that takes ``SharedOption/client`` and ``SharedOption/exclude``.
    ///   - context: The world around.
    ///   - card: What is declared of files; of a published version that is signed already.
    /// - Returns: With the manifest that publish would make of files.
    /// - Throws: `UsageError` for a name that leads to nothing, `PublishingError` for files that are no model.
    static func read(
        _ text: String,
        _ arguments: ParsedArguments,
        _ context: Context,
        card: Card? = nil
    ) async throws -> ModelReference {
        if let published = try published(text) {
            guard card == nil else {
                throw UsageError.refused("\(text) has a card of its own; give --card with a file or folder")
            }
            return try await read(published, arguments, context)
        }
        guard let variant = VariantName("default"), let model = ModelName("local/model") else {
            throw Failure(.internalError, "no name")
        }
        let exclusions = try FileExclusions(arguments.all("exclude"))
        let files = VariantSource(name: variant, path: text, without: exclusions)
        let source = try await VersionSource.read([files], card: card)
        let version = ModelVersion(major: 1, minor: 0, patch: 0)
        let manifest = try source.manifest(of: model, version: version, created: context.now, card: card)
        return ModelReference(name: text, manifest: manifest, isPublished: false)
    }

    static func read(
        _ published: Published,
        _ arguments: ParsedArguments,
        _ context: Context
    ) async throws -> ModelReference {
        let model = published.model
        var registry = try ClientSession(arguments, context).verifiedRegistry()
        try await registry.refresh()
        let state = try await registry.state(of: .model(model))
        guard state.roles[.release(model)] != nil || state.roles[.live(model)] != nil else {
            throw UsageError.refused("the registry has no model \(model), or nothing of it; check the name")
        }
        let wanted = published.wanted.hasPrefix("=") ? published.wanted.dropFirst() : published.wanted[...]
        var version = ModelVersion(wanted)
        let standings = try await registry.standings(of: model, on: state, at: context.now)
        var standing: [String] = []
        if let version {
            standing = standings.withdrawal(of: version).map { ["\(model) \(version) is \($0)"] } ?? []
        } else if let channel = ChannelName(wanted), try state.live(of: model).channels[channel] != nil {
            version = standings.version(of: channel)
            standing = standings.passedOver(on: channel).map { "\(channel) of \(model): \($0)" }
            guard version != nil else {
                let why = standing.isEmpty ? "; it lists nothing" : ": " + standing.joined(separator: "; ")
                throw Failure(
                    .refused,
                    "\(channel) of \(model) offers no version to all devices\(why); name the version that you mean, "
                        + "\(model)@VERSION"
                )
            }
        }
        guard let version else {
            let names = try state.live(of: model).channels.keys.sorted().map(\.description)
            let known = names.isEmpty ? "none" : Shown.list(names)
            throw UsageError.refused(
                "\(model) has no channel or version \(wanted); its channels are \(known)"
            )
        }
        let path = ModelManifest.targetPath(model: model, version: version)
        let release = state.roles[.release(model)]?.document
        guard let bytes = try await registry.content(of: path, in: release) else {
            throw UsageError.refused("\(model) \(version) is not released")
        }
        let manifest = try ModelManifest(canonical: bytes, at: path)
        return ModelReference(
            name: "\(model) \(version)",
            manifest: manifest,
            isPublished: true,
            standing: standing
        )
    }
}
