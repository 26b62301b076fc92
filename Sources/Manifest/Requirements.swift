package import CanonicalJSON

/// What a variant needs of the place where it runs, computed by the extractor, never typed by hand.
package struct Requirements: Equatable, Sendable {
    /// A named thing and the least version of it.
    package struct Minimum: Equatable, Sendable {
        package var name: String
        package var minimum: String?

        package init(name: String, minimum: String?) {
            self.name = name
            self.minimum = minimum
        }
    }

    /// ONNX: the version of the intermediate representation.
    package var irVersion: Int64?

    /// ONNX: the operator sets by domain; the domain `""` is written `ai.onnx`.
    package var opsets: [String: Int64]

    /// Core ML and TFLite: the version of the file's own schema.
    package var specificationVersion: Int64?
    package var operatingSystem: Minimum?

    /// `x86-64`, `arm64`.
    package var architecture: String?
    package var runtime: Minimum?

    package init(irVersion: Int64? = nil, opsets: [String: Int64] = [:], specificationVersion: Int64? = nil) {
        self.irVersion = irVersion
        self.opsets = opsets
        self.specificationVersion = specificationVersion
    }
}

extension Requirements {
    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        let versions: ClosedRange<Int64> = 0...Int64(Int32.max)
        self.init(irVersion: try reader.optionalInteger("ir_version", in: versions))
        if var sets = try reader.optionalReader("opsets") {
            for domain in value["opsets"]?.object?.keys ?? [] {
                opsets[domain] = try sets.integer(domain, in: versions)
            }
            guard !opsets.isEmpty else { throw sets.place.invalid("absent when it has no members", "{}") }
        }
        specificationVersion = try reader.optionalInteger("specification_version", in: versions)
        operatingSystem = try Self.minimum(&reader, "operating_system")
        architecture = try reader.optionalText("architecture")
        runtime = try Self.minimum(&reader, "runtime")
        try reader.finish()
    }

    private static func minimum(_ reader: inout MemberReader, _ key: String) throws(ManifestError) -> Minimum?
    {
        guard var inner = try reader.optionalReader(key) else { return nil }
        let minimum = Minimum(name: try inner.text("name"), minimum: try inner.optionalText("minimum"))
        try inner.finish()
        return minimum
    }

    package var json: JSONValue {
        var object = JSONObject()
        object.set("ir_version", irVersion.map(JSONValue.integer))
        if !opsets.isEmpty {
            var sets = JSONObject()
            for (domain, version) in opsets { sets[domain] = .integer(version) }
            object["opsets"] = .object(sets)
        }
        object.set("specification_version", specificationVersion.map(JSONValue.integer))
        object.set("operating_system", operatingSystem?.json)
        object.set("architecture", text: architecture)
        object.set("runtime", runtime?.json)
        return .object(object)
    }
}

extension Requirements.Minimum {
    var json: JSONValue {
        var object = JSONObject()
        object["name"] = .text(name)
        object.set("minimum", text: minimum)
        return .object(object)
    }
}
