package import CanonicalJSON
package import Names

/// One release of a model, signed: what it is, what it takes and gives, and every byte of its variants.
///
/// `sealift/manifest@1`. Its place among the targets is part of what it says,
/// so that a manifest signed for one version cannot be served as another.
package struct ModelManifest: CanonicalDocument {
    package static let documentType = DocumentType.manifest

    package static let greatestVariantCount = 256

    package var model: ModelName
    package var version: ModelVersion
    package var created: UnixTime
    package var description: ModelDescription

    /// What every variant takes and gives, unless the variant says otherwise.
    package var interface: Interface

    /// From 1 to 256, each name once.
    package var variants: [Variant]

    /// Golden vectors; each element is carried as it stands.
    package var checks: [JSONValue]

    /// Model Signing bundles.
    package var attestations: [Attestation]

    package init(
        model: ModelName,
        version: ModelVersion,
        created: UnixTime,
        description: ModelDescription = ModelDescription(),
        interface: Interface,
        variants: [Variant],
        checks: [JSONValue] = [],
        attestations: [Attestation] = []
    ) {
        self.model = model
        self.version = version
        self.created = created
        self.description = description
        self.interface = interface
        self.variants = variants
        self.checks = checks
        self.attestations = attestations
    }

    /// Where the manifest of a version stands among the targets: `vision/detector/1.4.0.json`.
    package static func targetPath(model: ModelName, version: ModelVersion) -> String {
        "\(model)/\(version).json"
    }

    /// The version whose manifest stands at a path; `nil` for what is no manifest of this model.
    package static func version(at path: String, of model: ModelName) -> ModelVersion? {
        let prefix = "\(model)/"
        guard path.hasPrefix(prefix), path.hasSuffix(".json") else { return nil }
        return ModelVersion(path.dropFirst(prefix.count).dropLast(5))
    }

    package var targetPath: String { Self.targetPath(model: model, version: version) }

    /// Takes the manifest that was found at `path`.
    ///
    /// - Parameters:
    ///   - bytes: As received.
    ///   - path: The target path under which they were signed.
    /// - Throws: `ManifestError.misplaced` when it names another place, else as `init(canonical:)`.
    package init(canonical bytes: [UInt8], at path: String) throws(ManifestError) {
        try self.init(canonical: bytes)
        guard targetPath.utf8.elementsEqual(path.utf8) else {
            throw .misplaced(.manifest, expected: targetPath, found: path)
        }
    }

    /// The interface of one variant: its own, else the manifest's.
    package func interface(of variant: Variant) -> Interface { variant.interface ?? interface }

    package subscript(name: VariantName) -> Variant? { variants.first { $0.name == name } }

    /// Every blob of every variant and attestation, each once.
    package var blobs: [BlobReference] {
        var seen: Set<Digest> = []
        let all = variants.flatMap(\.blobs) + attestations.map(\.blob)
        return all.filter { seen.insert($0.sha256).inserted }
    }
}

/// A Model Signing bundle (OpenSSF Model Signing v1) that is stored as a blob.
package struct Attestation: Equatable, Sendable {
    package var type: String
    package var blob: BlobReference

    package init(type: String, blob: BlobReference) {
        self.type = type
        self.blob = blob
    }
}

extension ModelManifest {
    package init(json: JSONValue) throws(ManifestError) {
        var reader = try Self.reader(json)
        let model = try reader.model("model")
        let version = try reader.version("version")
        let created = try reader.time("created")
        let description = try ModelDescription(&reader)
        let interface = try Interface(try reader.value("interface"), at: reader.place.member("interface"))
        self.init(
            model: model,
            version: version,
            created: created,
            description: description,
            interface: interface,
            variants: []
        )
        let list = try reader.array("variants")
        guard (1...Self.greatestVariantCount).contains(list.count) else {
            let expected = "1 to \(Self.greatestVariantCount) variants"
            throw reader.place.member("variants").invalid(expected, "\(list.count)")
        }
        for (value, place) in list {
            let variant = try Variant(value, at: place)
            guard self[variant.name] == nil else {
                throw place.member("name").invalid("distinct", "\(variant.name)")
            }
            variants.append(variant)
        }
        for (value, place) in try reader.array("checks") {
            guard value.object != nil else { throw place.invalid("an object", value) }
            checks.append(value)
        }
        for (value, place) in try reader.array("attestations") {
            attestations.append(try Attestation(value, at: place))
        }
        try reader.finish()
    }

    package var json: JSONValue {
        var object = JSONObject()
        object["type"] = .text(Self.documentType.rawValue)
        object["model"] = .text(model.description)
        object["version"] = .text(version.description)
        object["created"] = .text(created.description)
        description.write(into: &object)
        object["interface"] = interface.json
        object["variants"] = .array(variants.map(\.json))
        object["checks"] = .array(checks)
        object["attestations"] = .array(attestations.map(\.json))
        return .object(object)
    }
}

extension Attestation {
    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        type = try reader.text("type")
        blob = BlobReference(sha256: try reader.digest("sha256"), length: try reader.length("length"))
        try reader.finish()
    }

    var json: JSONValue {
        .members(["length": .count(blob.length), "sha256": .text(blob.sha256.hex), "type": .text(type)])
    }
}
