import Arguments
import CanonicalJSON
import Durable
import Manifest
import Names

/// Documents that a person wrote, read from files; errors name the file.
///
/// They are inputs of the command, so what is wrong with one is its caller's
/// mistake, and no answer to what was asked.
enum DocumentFile {
    static func card(_ file: String) throws -> Card {
        try read(file, "card") { bytes throws(ManifestError) in try Card(bytes: bytes) }
    }

    static func expectation(_ file: String) throws -> Expectation {
        try read(file, "expectation") { bytes throws(ManifestError) in try Expectation(bytes: bytes) }
    }

    /// The bytes of a file of at most `maximum`, also of standard input for `-` where `isPipe`.
    static func bytes(_ file: String, maximum: ByteCount, orInput isPipe: Bool = false) throws -> [UInt8] {
        do throws(DurableError) {
            if isPipe, file == "-" { return try PlainStreams.input(atMost: Int(maximum.rawValue)) }
            return try Durable.readFile(file, maximum: maximum)
        } catch {
            if case .tooLong = error { throw Failure(code: .usage, "\(error)") }
            throw error
        }
    }

    private static func read<Document>(
        _ file: String,
        _ schema: String,
        _ parse: ([UInt8]) throws(ManifestError) -> Document
    ) throws -> Document {
        let bytes = try bytes(file, maximum: Limits.manifest)
        guard !bytes.isEmpty else { throw Failure(code: .usage, "\(file) is empty") }
        do { return try parse(bytes) } catch {
            throw Failure(code: .usage, "\(file): \(error)\(suggestion(error, schema))")
        }
    }

    /// The member that was meant, where one is spelt nearly so.
    private static func suggestion(_ error: ManifestError, _ schema: String) -> String {
        guard case .unknown(_, let member) = error, let text = JSONSchemas.text(schema),
            let value = try? JSONParser.parse(Array(text.utf8), maximumLength: 1 << 20)
        else { return "" }
        let path = member.split(separator: ".")
        let written = String(path.last ?? "")
        // Below the top any depth will do; at the top only what may stand there.
        let known = path.count > 1 ? names(in: value) : Set(value["properties"]?.object?.keys ?? [])
        // A third of the letters, so that a short word is not taken for another short word.
        let most = min(2, max(1, written.utf8.count / 3))
        let near = known.map { (name: $0, distance: EditDistance.between(written, $0)) }
            .filter { $0.distance <= most }
        let best = near.min { ($0.distance, $0.name) < ($1.distance, $1.name) }
        return best.map { "; did you mean ‘\($0.name)’?" } ?? ""
    }

    /// Every member that a schema knows, at any depth.
    private static func names(in schema: JSONValue) -> Set<String> {
        guard let object = schema.object else {
            return (schema.array ?? []).reduce(into: []) { $0.formUnion(names(in: $1)) }
        }
        var found = Set(object["properties"]?.object?.keys ?? [])
        for key in object.keys { if let value = object[key] { found.formUnion(names(in: value)) } }
        return found
    }
}
