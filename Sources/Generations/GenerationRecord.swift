import CanonicalJSON
package import Names

/// `generation.json` (`sealift/generation@1`): the complete set of versions that are active at one time.
///
/// Written once, never changed. In RFC 8785 form:
///
///     {"created":TIME,"left_fallback"?:true,
///      "models":[{"channel"?,"entry","manifest","model","reason","variant","version"}…],
///      "number":N,"previous"?:N,"type":"sealift/generation@1"}
///
/// `models` is sorted by name and names each model once.
package struct GenerationRecord: Equatable, Sendable {
    /// One model's active version, and why it is that one.
    package struct Model: Equatable, Sendable {
        package let identity: VersionIdentity

        /// The file that a runtime opens.
        package let entry: FilePath

        /// The channel it was chosen from; `nil` when asked for by version.
        package let channel: ChannelName?

        /// For people, one line.
        package let reason: String

        package init(identity: VersionIdentity, entry: FilePath, channel: ChannelName?, reason: String) {
            self.identity = identity
            self.entry = entry
            self.channel = channel
            self.reason = reason
        }
    }

    package static let type = "sealift/generation@1"

    /// Room for the largest set of models that one directory may hold.
    package static let maximumLength = ByteCount.mebibytes(4)

    package let number: UInt64

    /// The generation that was active when this one was made.
    package let previous: UInt64?

    /// Whether it was the fallback of `previous` that was active then.
    package let leftFallback: Bool
    package let created: UnixTime
    package let models: [Model]

    /// Makes a record; models are put in order.
    ///
    /// - Returns: `nil` when a model stands twice or the number cannot be written.
    package init?(
        number: UInt64,
        previous: UInt64?,
        leftFallback: Bool = false,
        created: UnixTime,
        models: [Model]
    ) {
        let sorted = models.sorted { $0.identity.model < $1.identity.model }
        let isUnique = zip(sorted, sorted.dropFirst()).allSatisfy { $0.identity.model < $1.identity.model }
        guard isUnique, (1...9_007_199_254_740_991).contains(number), (previous ?? 0) < number else {
            return nil
        }
        self.number = number
        self.previous = previous
        self.leftFallback = leftFallback
        self.created = created
        self.models = sorted
    }

    package func model(_ name: ModelName) -> Model? { models.first { $0.identity.model == name } }
}

extension GenerationRecord {
    package var canonical: [UInt8] {
        let models = models.map { model in
            var object = JSONObject()
            object["channel"] = model.channel.map { .text($0.description) }
            object["entry"] = .text(model.entry.description)
            object["manifest"] = .text(model.identity.manifest.hex)
            object["model"] = .text(model.identity.model.description)
            object["reason"] = .text(model.reason)
            object["variant"] = .text(model.identity.variant.description)
            object["version"] = .text(model.identity.version.description)
            return JSONValue.object(object)
        }
        var object = JSONObject()
        object["created"] = .text(created.description)
        object["left_fallback"] = leftFallback ? .bool(true) : nil
        object["models"] = .array(models)
        object["number"] = .integer(Int64(number))
        object["previous"] = previous.map { .integer(Int64($0)) }
        object["type"] = .text(Self.type)
        return JSONValue.object(object).compactJSON
    }

    /// Reads a record back.
    ///
    /// - Returns: `nil` unless `bytes` is exactly what `canonical` writes.
    package init?(canonical bytes: [UInt8]) {
        guard
            let value = try? JSONParser.parse(
                bytes,
                maximumLength: Int(Self.maximumLength.rawValue),
                maximumDepth: 4
            ),
            value["type"]?.string == Self.type, let number = value["number"]?.integer, number > 0,
            let created = value["created"]?.string.flatMap({ UnixTime($0) }),
            let elements = value["models"]?.array
        else { return nil }
        var models: [Model] = []
        for element in elements {
            guard let model = Model(element) else { return nil }
            models.append(model)
        }
        let previous = value["previous"]?.integer.flatMap { UInt64(exactly: $0) }
        self.init(
            number: UInt64(number),
            previous: previous,
            leftFallback: value["left_fallback"] != nil,
            created: created,
            models: models
        )
        guard canonical == bytes else { return nil }
    }
}

extension GenerationRecord.Model {
    fileprivate init?(_ value: JSONValue) {
        guard let model = value["model"]?.string.flatMap({ ModelName($0) }),
            let version = value["version"]?.string.flatMap({ ModelVersion($0) }),
            let variant = value["variant"]?.string.flatMap({ VariantName($0) }),
            let manifest = value["manifest"]?.string.flatMap({ Digest(hex: $0) }),
            let entry = value["entry"]?.string.flatMap({ FilePath($0) }), let reason = value["reason"]?.string
        else { return nil }
        let channel = value["channel"]?.string.flatMap { ChannelName($0) }
        let identity = VersionIdentity(model: model, version: version, variant: variant, manifest: manifest)
        self.init(identity: identity, entry: entry, channel: channel, reason: reason)
    }
}
