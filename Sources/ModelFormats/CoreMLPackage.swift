import CanonicalJSON
import Manifest
import Names

/// A Core ML package: `Manifest.json`, and `Data/` with the items that it lists.
///
/// The official reader joins `Data/` and an item's path without a look at it
/// (coremltools 9.0, ModelPackage.cpp). Here an item's path is a plain one, and
/// every file in the package belongs to an item. An item without a file is a
/// folder that must be there all the same: coremltools 9.0 lists the folder of
/// weights of every ML Program, also of one that has none, and Apple's reader
/// asks that each item exists. What is named to be in it is looked for by name.
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
        let (root, empty) = try package.items(saidBy: entry)
        return VariantInspection(entry: entry, inspection: try package.inspect(root), folders: empty)
    }

    /// - Returns: The specification, which is the root item, and the items without a file.
    private func items(
        saidBy entry: FilePath
    ) throws(VariantError) -> (root: FilePath, empty: [FilePath]) {
        let source = try files.open(entry)
        let items: (all: PackageItems, root: FilePath)
        do {
            let file = FileBytes(source, format: .coreMLPackage, limits: limits)
            let bytes = try file.bytes(at: 0, count: file.length, limit: 1 << 20, "Manifest.json")
            items = try self.items(in: bytes)
        } catch { throw VariantError(entry, error) }
        let inside = files.files.lazy.map(\.path).filter { $0.description.utf8.starts(with: folder.utf8) }
        var filled: Set<[UInt8]> = []
        var stray: FilePath?
        for path in inside where path != entry {
            if let item = items.all.item(holding: path) { filled.insert(item) } else { stray = stray ?? path }
        }
        if let stray { throw problem(.stray("\(stray)")) }
        guard files.has(items.root) else { throw problem(.missing("\(items.root)", neededBy: "\(entry)")) }
        let empty = items.all.paths.filter { !filled.contains(Array($0.description.utf8)) }
        return (items.root, empty.sorted())
    }

    private func items(in bytes: [UInt8]) throws(FormatError) -> (all: PackageItems, root: FilePath) {
        let value: JSONValue
        do { value = try JSONParser.parse(bytes, maximumLength: 1 << 20, maximumDepth: 8) } catch {
            let what: FormatError.Malformation = error.reason == .duplicateKey ? .duplicate : .unexpectedByte
            throw malformed(error.member ?? "document", UInt64(error.offset), what)
        }
        guard let document = value.object else { throw malformed("document", 0, .unexpectedByte) }
        guard let version = value["fileFormatVersion"]?.string else {
            throw malformed("fileFormatVersion", offset("fileFormatVersion", in: document), .missing)
        }
        guard version == "1.0.0" else {
            let what = FormatError.Malformation.unknownVersionName(String(version.prefix(64)))
            throw malformed("fileFormatVersion", offset("fileFormatVersion", in: document), what)
        }
        guard let entries = value["itemInfoEntries"]?.object else {
            throw malformed("itemInfoEntries", offset("itemInfoEntries", in: document), .missing)
        }
        guard let rootID = value["rootModelIdentifier"]?.string else {
            throw malformed("rootModelIdentifier", offset("rootModelIdentifier", in: document), .missing)
        }
        let members = entries.members
        guard members.count <= limits.packageItems else {
            throw .limit(
                .coreMLPackage,
                which: "items",
                offset: offset("itemInfoEntries", in: document),
                found: UInt64(members.count),
                limit: UInt64(limits.packageItems)
            )
        }
        let rootKey = JSONText(rootID)
        var all = PackageItems()
        var root: FilePath?
        for member in members {
            let id = member.key.string
            guard let item = member.value.object else {
                throw malformed("itemInfoEntries.\(id)", offset(id, in: entries), .missing)
            }
            for key in ["path", "name", "author", "description"] where item[key]?.string == nil {
                throw malformed("itemInfoEntries.\(id).\(key)", offset(key, in: item), .missing)
            }
            let path = try path(ofItem: id, item)
            guard all.add(path) else {
                throw malformed("itemInfoEntries.\(id).path", offset("path", in: item), .overlap)
            }
            if member.key == rootKey { root = path }
        }
        guard let root else {
            throw malformed("rootModelIdentifier", offset("rootModelIdentifier", in: document), .badReference)
        }
        return (all, root)
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

/// The items of a package, none of which is in another.
///
/// Found by the folders above a path, of which there are few, and not by a look at every other item.
private struct PackageItems {
    private(set) var paths: [FilePath] = []
    private var items: Set<[UInt8]> = []

    /// Every folder above an item.
    private var folders: Set<[UInt8]> = []

    /// - Returns: Whether it shares nothing with those before it.
    mutating func add(_ path: FilePath) -> Bool {
        let own = Array(path.description.utf8)
        guard item(holding: path) == nil, !folders.contains(own) else { return false }
        paths.append(path)
        items.insert(own)
        folders.formUnion(Self.folders(above: own))
        return true
    }

    /// The item that a file is, or is in.
    func item(holding path: FilePath) -> [UInt8]? {
        let own = Array(path.description.utf8)
        if items.contains(own) { return own }
        return Self.folders(above: own).first(where: items.contains)
    }

    private static func folders(above path: [UInt8]) -> [[UInt8]] {
        path.indices.filter { path[$0] == UInt8(ascii: "/") }.map { Array(path[..<$0]) }
    }
}
