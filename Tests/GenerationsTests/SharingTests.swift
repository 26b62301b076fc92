import Durable
import Generations
import Glibc
import Manifest
import Names
import Signing
import Support
import Testing

/// What two versions have in common is on the disk once, where that harms nobody.
@Suite("Files that versions share")
struct SharingTests {
    private let fixture: DeviceFixture
    private let weights = [UInt8](repeating: 7, count: 5_000)

    init() throws { fixture = try DeviceFixture() }

    /// A version of `format` with weights that never change and a note that does.
    private func install(
        _ version: String,
        _ format: ModelFormat,
        weights source: String? = nil
    ) throws -> InstalledFiles {
        var files: [ManifestFile] = []
        var sources: [Digest: String] = [:]
        for (name, bytes) in [("weights.bin", weights), ("note.txt", Array(version.utf8))] {
            let file = ManifestFile(
                path: try require(FilePath(name)),
                length: UInt64(bytes.count),
                sha256: SHA256.digest(of: bytes),
                blocks: nil
            )
            files.append(file)
            let incoming = "\(fixture.device.incomingPath)/\(file.sha256.hex)"
            sources[file.sha256] = incoming
            if name == "weights.bin", let source {
                sources[file.sha256] = source
            } else {
                try Durable.writeAtomically(incoming, bytes)
            }
        }
        let manifest = ModelManifest(
            model: try fixture.detector,
            version: try require(ModelVersion(version)),
            created: DeviceFixture.start.adding(seconds: Int64(version.utf8.last ?? 0)),
            interface: Interface(inputs: [], outputs: [], isDeclared: true),
            variants: [
                Variant(
                    name: try require(VariantName("only")),
                    format: format,
                    entry: try require(FilePath("weights.bin")),
                    files: files
                )
            ]
        )
        let record = try DeviceFixture.record(of: manifest)
        try fixture.device.install(record.identity, manifest: manifest.canonical, sources: sources)
        for file in files {
            try Durable.removeFile("\(fixture.device.incomingPath)/\(file.sha256.hex)")
        }
        let directory = "\(fixture.device.path)/\(record.identity.relativePath)"
        return InstalledFiles(identity: record.identity, weights: "\(directory)/weights.bin")
    }

    private struct InstalledFiles {
        let identity: VersionIdentity
        let weights: String

        var links: UInt {
            var status = stat()
            return stat(weights, &status) == 0 ? UInt(status.st_nlink) : 0
        }
    }

    @Test(
        "an unchanged file has one name more, but never for ONNX",
        arguments: [(ModelFormat.safetensors, UInt(2)), (.gguf, 2), (.opaque, 2), (.onnx, 1)]
    )
    func shared(_ format: ModelFormat, _ links: UInt) throws {
        let first = try install("1.0.0", format)
        let second = try install("1.0.1", format, weights: first.weights)
        // Where the file system shares blocks, no second name is needed.
        let clone = fixture.scratch.path("clone")
        let canClone = try Self.clones(first.weights, to: clone)
        #expect(second.links == (canClone ? 1 : links))
        #expect(try Durable.readFile(second.weights, maximum: .kibibytes(8)) == weights)
        for version in [first, second] { #expect(try fixture.device.isInstalled(version.identity)) }
    }

    @Test("a shared file that changes is damage in each version that has it")
    func damaged() throws {
        let first = try install("1.0.0", .safetensors)
        let second = try install("1.0.1", .safetensors, weights: first.weights)
        guard second.links == 2 else { return }
        chmod(second.weights, 0o644)
        let file = try require(fopen(second.weights, "r+"))
        fputc(1, file)
        fclose(file)
        for version in [first, second] { #expect(try !fixture.device.isInstalled(version.identity)) }
    }

    @Test("a file of another version whose bytes are not the signed ones is not taken")
    func wrong() throws {
        let other = try fixture.scratch.write("other", [UInt8](repeating: 8, count: 5_000))
        for format in [ModelFormat.safetensors, .onnx] {
            #expect(throws: GenerationError.self) { try install("1.0.1", format, weights: other) }
        }
    }

    private static func clones(_ from: String, to: String) throws -> Bool {
        let (source, target) = (open(from, O_RDONLY), open(to, O_RDWR | O_CREAT, 0o600))
        defer {
            close(source)
            close(target)
        }
        // FICLONE
        return ioctl(target, 0x4004_9409, source) == 0
    }
}
