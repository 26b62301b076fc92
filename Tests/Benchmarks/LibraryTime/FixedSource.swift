import Durable
import Glibc
import Inference
import ModelLibrary
import ModelRuntimes
import Names

/// Models of one file, under two names; a look at them costs what one at a device directory does.
struct FixedSource: ModelSource {
    let file: String
    let length: UInt64

    static func library(
        _ runtime: any ModelRuntime,
        _ file: String,
        keeping residency: ResidencyPolicy = .everything
    ) throws -> (ModelLibrary, ModelRequest) {
        var configuration = LibraryConfiguration()
        configuration.residency = residency
        configuration.idleTimeout = .seconds(600)
        let library = ModelLibrary(
            source: FixedSource(file: file, length: 6_144 * 8_192 * 4),
            runtimes: [runtime],
            configuration: configuration
        )
        return (library, try ModelRequest("bench/first"))
    }

    func stamp() -> SourceStamp? {
        var status = stat()
        guard lstat(file, &status) == 0, lstat(file, &status) == 0 else { return nil }
        return SourceStamp([Int64(truncatingIfNeeded: status.st_ino)])
    }

    func activeVersion(of model: ModelName) throws(ModelLibraryError) -> LibraryVersion {
        guard let version = ModelVersion("1.0.0"), let variant = VariantName("default"),
            let digest = Digest(
                bytes: [UInt8](repeating: model.description == "bench/first" ? 1 : 2, count: 32)
            )
        else { throw .notAvailable(model: model.description, reason: "it has no version") }
        return LibraryVersion(model: model, version: version, variant: variant, manifest: digest)
    }

    func earlierVersion(
        of model: ModelName,
        than version: LibraryVersion
    ) throws(ModelLibraryError) -> LibraryVersion? { nil }

    func condemn(
        _ version: LibraryVersion,
        _ reason: String
    ) throws(ModelLibraryError) -> QuarantinePlace { .memory("there is no device") }

    func mayRun(_ version: LibraryVersion) throws(ModelLibraryError) -> Bool { true }

    func open(_ version: LibraryVersion) throws(ModelLibraryError) -> OpenedModel? {
        let port = { (name: String, length: Int) in
            Port(name: name, kind: .tensor(.float32, [.symbol("n"), .fixed(length)]))
        }
        var opened = OpenedModel(
            version: version,
            directory: Durable.parent(of: file),
            entryPath: file,
            format: "onnx",
            ports: ModelPorts(inputs: [port("x", 6_144)], outputs: [port("y", 8_192)])
        )
        opened.length = length
        return opened
    }
}
