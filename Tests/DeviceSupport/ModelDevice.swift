import Blocking
package import CanonicalJSON
import Durable
package import Generations
package import Manifest
import ModelFormats
import Names
import Signing
package import Support

/// A device directory in a scratch folder, on which real model files are made active as a sync leaves them.
package final class ModelDevice: Sendable {
    package let scratch = Scratch()
    package let device: DeviceDirectory

    /// What is active, by model.
    private let active = Guarded<[ModelName: GenerationRecord.Model]>([:])

    package init() throws { device = try DeviceDirectory.create(scratch.path("device")) }

    /// Files of a version: the name in the version, and the bytes.
    package typealias Files = [(name: String, bytes: [UInt8])]

    /// Installs a version and makes it active beside the other models.
    ///
    /// - Parameters:
    ///   - model: The name.
    ///   - version: The version.
    ///   - files: The first is the entry.
    ///   - interface: What the manifest says; what the entry says of itself unless given.
    ///   - checks: The manifest's golden vectors.
    ///   - bounds: Within what an app has to confirm the version.
    /// - Returns: What is active now of that model.
    /// - Throws: `BadModel` for a name that is none, and what the readers and the disk refuse.
    @discardableResult
    package func activate(
        _ model: String,
        _ version: String,
        _ files: Files,
        interface: Interface? = nil,
        checks: [JSONValue] = [],
        bounds: TrialBounds? = nil
    ) throws -> VersionIdentity {
        guard let name = ModelName(model), let number = ModelVersion(version), let first = files.first,
            let entry = FilePath(first.name), let created = UnixTime("2026-01-02T03:04:05Z"),
            let variant = VariantName("default")
        else { throw BadModel(text: "\(model) \(version)") }
        var sources: [Digest: String] = [:]
        var described: [ManifestFile] = []
        for file in files {
            guard let path = FilePath(file.name) else { throw BadModel(text: file.name) }
            let digest = SHA256.digest(of: file.bytes)
            let incoming = "\(device.incomingPath)/\(digest)"
            try Durable.writeAtomically(incoming, file.bytes, mode: 0o644)
            sources[digest] = incoming
            described.append(Self.described(path, UInt64(file.bytes.count), digest))
        }
        let read = try interface ?? Self.interface(of: first, in: scratch)
        let manifest = try ModelManifest(
            model: name,
            version: number,
            created: created,
            interface: read,
            variants: [Variant(name: variant, format: .onnx, entry: entry, files: described)],
            checks: checks
        )
        .encoded()
        let identity = VersionIdentity(
            model: name,
            version: number,
            variant: variant,
            manifest: SHA256.digest(of: manifest)
        )
        try device.install(identity, manifest: manifest, sources: sources)
        for path in sources.values { try Durable.removeFile(path) }
        let model = GenerationRecord.Model(identity: identity, entry: entry, channel: nil, reason: "a test")
        let models = active.withLock { active in
            active[name] = model
            return Array(active.values)
        }
        _ = try device.activate(models, created: created, bounds: { $0 == name ? bounds : nil })
        return identity
    }

    /// What the entry says of itself.
    ///
    /// - Throws: What the reader refuses.
    package static func interface(
        of file: (name: String, bytes: [UInt8]),
        in scratch: Scratch
    ) throws -> Interface {
        let path = scratch.path("inspected.onnx")
        try Durable.writeAtomically(path, file.bytes, mode: 0o644)
        return try ModelFile.inspect(source: FileSource(path), name: "model.onnx").interface
    }

    /// A model of `LargeModel`, its files in memory; each `marker` makes other bytes of the same network.
    ///
    /// - Throws: `DurableError` when the disk does not take it.
    package static func files(rows: Int, columns: Int, marker: String, in scratch: Scratch) throws -> Files {
        let file = try LargeModel.write(in: scratch.path, rows: rows, columns: columns)
        let weights = "\(scratch.path)/weights.bin"
        let model = marked(try Durable.readFile(file, maximum: .mebibytes(1)), marker)
        return [
            ("model.onnx", model), ("weights.bin", try Durable.readFile(weights, maximum: .mebibytes(512))),
        ]
    }

    /// The same network in other bytes: an ONNX model with one more metadata entry.
    package static func marked(_ model: [UInt8], _ marker: String) -> [UInt8] {
        let entry = [0x0A, 1, UInt8(ascii: "v"), 0x12, UInt8(marker.utf8.count)] + Array(marker.utf8)
        return model + [0x72, UInt8(entry.count)] + entry
    }

    /// Nothing here reads block lists, which only tell a download what to expect.
    private static func described(_ path: FilePath, _ length: UInt64, _ digest: Digest) -> ManifestFile {
        let other = SHA256.digest(of: Array("blocks of \(digest)".utf8))
        let blocks = BlockPlan.for(length: length).map { plan in
            BlockListReference(
                size: plan.blockSize,
                list: BlobReference(sha256: other, length: plan.blockCount * BlockPlan.digestLength)
            )
        }
        return ManifestFile(path: path, length: length, sha256: digest, blocks: blocks)
    }
}

/// A model that a test cannot make.
package struct BadModel: Error {
    package let text: String
}
