import Blocking
import CanonicalJSON
import Checking
import Durable
import Glibc
import Inference
import Manifest
import Names
import Signing

/// The tensors of golden vectors, small ones in the manifest and large ones as files of each variant.
///
/// The files lie in a folder of their own until they are uploaded, which goes
/// with the last reference.
final class CheckFiles: Sendable {
    /// Bytes that a tensor may have to stand in the manifest itself.
    static let longestInline = 1_024

    /// The folder of such files in a variant; no reader takes what is in it for a part of a model.
    static let folder = "sealift-checks"

    private let place: String
    private let state = Guarded(State())

    private struct State {
        var inline = 0
        var measured: [FilePath: MeasuredFile] = [:]
    }

    /// Bytes of all tensors that stand in the manifest, which has other things to say as well.
    private static let mostInline = 128 << 10

    /// Makes the folder.
    init() throws(PublishingError) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        // The letters at the end are what mkdtemp replaces.
        var template = Array("\(parent)/sealift-checks-XXXXXX".utf8CString)
        let made = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
        }
        guard let made else { throw .file(.system("create a folder in", parent)) }
        place = made
    }

    deinit { try? Durable.removeTree(place) }

    /// The files, by path.
    var measured: [MeasuredFile] {
        state.withLock { $0.measured.values.sorted { $0.entry.path < $1.entry.path } }
    }

    /// Where each lies.
    var locations: [FilePath: String] { state.withLock { $0.measured.mapValues(\.location) } }

    /// A golden vector as a manifest has it.
    func value(of check: WrittenCheck) throws(PublishingError) -> JSONValue {
        try check.canonical { (tensor) throws(PublishingError) in try placed(tensor) }
    }

    /// The value of a tensor in a manifest.
    private func placed(_ tensor: Tensor) throws(PublishingError) -> JSONValue {
        let bytes = tensor.bytes
        let isInline = state.withLock { state in
            guard bytes.count <= Self.longestInline, state.inline + bytes.count <= Self.mostInline else {
                return false
            }
            state.inline += bytes.count
            return true
        }
        guard !isInline else { return .members(["base64": .text(Base64.text(bytes))]) }
        guard UInt64(bytes.count) <= CheckRun.longestFile.rawValue else {
            throw .unpublishable("a tensor has \(bytes.count) bytes; the most is \(CheckRun.longestFile)")
        }
        let name = SHA256.digest(of: bytes).hex.prefix(32)
        guard let path = FilePath("\(Self.folder)/\(name).vector") else {
            throw .unpublishable("no name for the file of a golden vector")
        }
        if state.withLock({ $0.measured[path] }) == nil {
            let file = "\(place)/\(name)"
            do throws(DurableError) { try Durable.writeAtomically(file, bytes) } catch { throw .file(error) }
            let measured = try MeasuredFile(file, as: path)
            state.withLock { $0.measured[path] = measured }
        }
        return .members(["file": .text(path.description)])
    }
}
