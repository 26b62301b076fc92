import CanonicalJSON
import Manifest
import Names

/// A Core ML package: `Manifest.json`, and `Data/` with the items that it lists.
///
/// The official reader joins `Data/` and an item's path without a look at it
/// (coremltools 9.0, ModelPackage.cpp). Here an item's path is a plain one, and
/// every file in the package belongs to an item.
struct CoreMLPackage {
    /// In the variant, with its `/`.
    private let folder: String
    private let files: VariantFiles
    private let limits: FormatLimits

    static func inspect(
        _ folder: String,
        in files: VariantFiles,
        _ limits: FormatLimits
    ) throws(VariantError) -> VariantInspection {
        let package = CoreMLPackage(folder: folder, files: files, limits: limits)
        guard let entry = FilePath(folder + "Manifest.json"), files.has(entry) else {
            throw VariantError(
                nil,
                .files(.coreMLPackage, .missing(folder + "Manifest.json", neededBy: folder))
            )
        }
        let root = try package.root(saidBy: entry)
        return VariantInspection(entry: entry, inspection: try package.inspect(root))
    }

    /// - Returns: The specification, which is the root item.
    private func root(saidBy entry: FilePath) throws(VariantError) -> FilePath {
        let source = try files.open(entry)
        let items: (paths: [FilePath], root: FilePath)
        do {
            let file = FileBytes(source, format: .coreMLPackage, limits: limits)
            let bytes = try file.bytes(at: 0, count: file.length, limit: 1 << 20, "Manifest.json")
            items = try self.items(in: bytes)
        } catch { throw VariantError(entry, error) }
        for item in items.paths where !files.files.contains(where: { Self.is($0.path, in: item) }) {
            throw problem(.missing("\(item)", neededBy: "\(entry)"))
        }
        let inside = files.files.lazy.map(\.path).filter { $0.description.utf8.starts(with: folder.utf8) }
        for path in inside where path != entry {
            guard items.paths.contains(where: { Self.is(path, in: $0) }) else {
                throw problem(.stray("\(path)"))
            }
        }
        guard files.has(items.root) else { throw problem(.missing("\(items.root)", neededBy: "\(entry)")) }
        return items.root
    }

    /// Whether a file is the item, or in the folder that the item is.
    private static func `is`(_ path: FilePath, in item: FilePath) -> Bool {
        path == item || path.description.utf8.starts(with: "\(item)/".utf8)
    }

    private func items(in bytes: [UInt8]) throws(FormatError) -> (paths: [FilePath], root: FilePath) {
        let value: JSONValue
        do { value = try JSONParser.parse(bytes, maximumLength: 1 << 20, maximumDepth: 8) } catch {
            let what: FormatError.Malformation = error.reason == .duplicateKey ? .duplicate : .unexpectedByte
            throw malformed(error.member ?? "document", UInt64(error.offset), what)
        }
        guard let document = value.object else { throw malformed("document", 0, .unexpectedByte) }
        guard value["fileFormatVersion"]?.string == "1.0.0" else {
            throw malformed(
                "fileFormatVersion",
                offset("fileFormatVersion", in: document),
                .unknownTypeName(value["fileFormatVersion"]?.string ?? "")
            )
        }
        guard let entries = value["itemInfoEntries"]?.object else {
            throw malformed("itemInfoEntries", offset("itemInfoEntries", in: document), .missing)
        }
        guard let rootID = value["rootModelIdentifier"]?.string else {
            throw malformed("rootModelIdentifier", offset("rootModelIdentifier", in: document), .missing)
        }
        var paths: [FilePath] = []
        var root: FilePath?
        for member in entries.members {
            let id = member.key.string
            guard let item = member.value.object else {
                throw malformed("itemInfoEntries.\(id)", offset(id, in: entries), .missing)
            }
            for key in ["path", "name", "author", "description"] where item[key]?.string == nil {
                throw malformed("itemInfoEntries.\(id).\(key)", offset(key, in: item), .missing)
            }
            let path = try path(ofItem: id, item)
            guard !paths.contains(where: { Self.is($0, in: path) || Self.is(path, in: $0) }) else {
                throw malformed("itemInfoEntries.\(id).path", offset("path", in: item), .overlap)
            }
            paths.append(path)
            if member.key == JSONText(rootID) { root = path }
        }
        guard let root else {
            throw malformed("rootModelIdentifier", offset("rootModelIdentifier", in: document), .badReference)
        }
        return (paths, root)
    }

    /// Of a member's value, or of the object where there is none.
    private func offset(_ key: String, in object: JSONObject) -> UInt64 {
        UInt64(object.offset(of: key) ?? object.offset() ?? 0)
    }

    private func path(ofItem id: String, _ item: JSONObject) throws(FormatError) -> FilePath {
        let text = item["path"]?.string ?? ""
        guard FilePath(text) != nil, let path = FilePath("\(folder)Data/\(text)") else {
            let said = String(text.prefix(256))
            throw .refused(
                .coreMLPackage,
                field: "Manifest.json itemInfoEntries.\(id).path",
                offset: offset("path", in: item),
                .externalLocation(said)
            )
        }
        return path
    }

    private func malformed(
        _ field: String,
        _ offset: UInt64,
        _ what: FormatError.Malformation
    ) -> FormatError { .malformed(.coreMLPackage, field: "Manifest.json \(field)", offset: offset, what) }

    private func problem(_ problem: FormatError.VariantProblem) -> VariantError {
        VariantError(nil, .files(.coreMLPackage, problem))
    }

    /// Reads the specification, and the records of weights that it names.
    private func inspect(_ root: FilePath) throws(VariantError) -> Inspection {
        var inspection = try ModelCandidate.inspect(root, files, .coreMLModel, limits)
        try files.check(inspection.externalFiles, of: root)
        for (name, records) in inspection.weightRecords.sorted(by: { $0.key < $1.key }) {
            guard let path = FilePath("\(root.folder)\(name)") else {
                throw problem(.missing("\(name)", neededBy: "\(root)"))
            }
            let source = try files.open(path)
            do { try CoreMLWeights.check(source, name, records: records, limits: limits) } catch {
                throw VariantError(path, error)
            }
        }
        inspection.format = .coreMLPackage
        // They were checked here, and are part of the package.
        inspection.externalFiles = []
        return inspection
    }
}
