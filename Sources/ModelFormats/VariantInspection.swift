package import Manifest
package import Names

/// What a variant's files are, taken together.
package struct VariantInspection: Equatable, Sendable {
    /// The file that names the model to a runtime.
    ///
    /// Of a set the first part; of a package its `Manifest.json`, beside which
    /// everything else lies.
    package var entry: FilePath
    package var inspection: Inspection

    /// Folders that must be there beside the files, and hold none; sorted.
    package var folders: [FilePath] = []
}

extension ModelFile {
    /// Finds the one model that these files are, reads it, and checks that they are all of it.
    ///
    /// - Parameters:
    ///   - files: All files of the variant; those that no model needs are companions, except inside packages.
    ///   - declared: What somebody says that it is. `.opaque` asks for no reading.
    ///   - entry: What somebody says is the entry.
    ///   - limits: How much of everything is taken, for each file.
    /// - Returns: The model and its entry.
    /// - Throws: `VariantError`: no model, several, one that is refused or lacks a part, or a pickle.
    package static func inspect(
        _ files: VariantFiles,
        declared: ModelFormat? = nil,
        entry: FilePath? = nil,
        limits: FormatLimits = FormatLimits()
    ) throws(VariantError) -> VariantInspection {
        if declared == .opaque { return try opaque(files, entry) }
        for file in files.files where try PickleFile.isPickle(file.path, in: files) {
            throw VariantError(nil, .files(.opaque, .pickle("\(file.path)")))
        }
        let candidate = try candidate(in: files, declared, entry)
        let found = try candidate.inspect(files, declared, limits)
        if let declared, declared != found.inspection.format {
            throw VariantError(found.entry, .disagrees(declared: declared, found: found.inspection.format))
        }
        if let entry, entry != found.entry {
            let problem = FormatError.VariantProblem.badEntry(declared: "\(entry)", found: "\(found.entry)")
            throw VariantError(nil, .files(found.inspection.format, problem))
        }
        try files.check(found.inspection.externalFiles, of: found.entry)
        return found
    }

    private static func opaque(
        _ files: VariantFiles,
        _ entry: FilePath?
    ) throws(VariantError) -> VariantInspection {
        let only = files.files.count == 1 ? files.files.first?.path : nil
        guard let path = entry ?? only else { throw VariantError(nil, .files(.opaque, .entryUnknown)) }
        guard files.has(path) else {
            throw VariantError(nil, .files(.opaque, .missing("\(path)", neededBy: "the entry")))
        }
        return VariantInspection(entry: path, inspection: Inspection(format: .opaque))
    }

    /// The one model among the files; what was declared decides where there are several.
    private static func candidate(
        in files: VariantFiles,
        _ declared: ModelFormat?,
        _ entry: FilePath?
    ) throws(VariantError) -> ModelCandidate {
        var all = try ModelCandidate.all(in: files)
        if let declared, all.contains(where: { $0.format == declared }) {
            all.removeAll { $0.format != declared }
        }
        if let entry, all.contains(where: { $0.entry == entry }) { all.removeAll { $0.entry != entry } }
        for case .file(let path) in all { try SafetensorsIndex.refusePart(path, in: files) }
        guard all.count <= 1 else {
            throw VariantError(
                nil,
                .files(declared ?? .opaque, .severalModels(all.compactMap { $0.entry?.description }))
            )
        }
        if let only = all.first { return only }
        // A single file needs no name that says what it is.
        guard let path = entry ?? (files.files.count == 1 ? files.files.first?.path : nil), files.has(path)
        else { throw VariantError(nil, .files(declared ?? .opaque, .noModel)) }
        return .file(path)
    }
}

/// Files that look like one model.
enum ModelCandidate {
    case file(FilePath)

    /// Parts of one GGUF model, in order.
    case ggufSet(SetName, parts: [FilePath])

    /// An index of safetensors files.
    case safetensorsIndex(FilePath, parts: [FilePath])

    /// A Core ML package or compiled model: the folder, with its `/`.
    case package(String), compiled(String)

    var entry: FilePath? {
        switch self {
        case .file(let path): path
        case .ggufSet(_, let parts), .safetensorsIndex(_, let parts): parts.first
        case .package(let folder): FilePath(folder + "Manifest.json")
        case .compiled(let folder): FilePath(folder + "coremldata.bin")
        }
    }

    /// As the names say.
    var format: ModelFormat? {
        switch self {
        case .file(let path): ModelFile.format(ofName: path.name)
        case .ggufSet: .gguf
        case .safetensorsIndex: .safetensors
        case .package: .coreMLPackage
        case .compiled: .coreMLCompiled
        }
    }

    static func all(in files: VariantFiles) throws(VariantError) -> [ModelCandidate] {
        var packages: [String] = []
        var compiled: [String] = []
        var plain: [FilePath] = []
        for file in files.files {
            if let folder = file.path.upTo(suffix: ".mlpackage") {
                if packages.last != folder { packages.append(folder) }
            } else if let folder = file.path.upTo(suffix: ".mlmodelc") {
                if compiled.last != folder { compiled.append(folder) }
            } else {
                plain.append(file.path)
            }
        }
        var found = packages.map(ModelCandidate.package) + compiled.map(ModelCandidate.compiled)
        let byFolder = Dictionary(grouping: plain.filter { $0.has(suffix: ".safetensors") }, by: \.folder)
        let indexes = plain.filter { $0.has(suffix: ".safetensors.index.json") }
        for index in indexes {
            found.append(.safetensorsIndex(index, parts: byFolder[index.folder] ?? []))
        }
        // Once a folder, however many indexes are in it.
        var taken = Set(Set(indexes.map(\.folder)).flatMap { byFolder[$0] ?? [] })
        var sets: [SetName: [FilePath]] = [:]
        for path in plain {
            guard let name = SetName(path, extension: ".gguf") else { continue }
            sets[name, default: []].append(path)
            taken.insert(path)
        }
        found += sets.sorted { $0.key.prefix < $1.key.prefix }.map { .ggufSet($0.key, parts: $0.value) }
        for path in plain where !taken.contains(path) && ModelFile.format(ofName: path.name) != nil {
            found.append(.file(path))
        }
        return found
    }

    func inspect(
        _ files: VariantFiles,
        _ declared: ModelFormat?,
        _ limits: FormatLimits
    ) throws(VariantError) -> VariantInspection {
        switch self {
        case .file(let path):
            let inspection = try Self.inspect(path, files, declared, limits)
            if inspection.format == .opaque && declared == nil {
                throw VariantError(nil, .files(.opaque, .noModel))
            }
            if let split = inspection.split {
                let set = "the whole set of \(split.count) files, named as they were split"
                throw VariantError(nil, .files(.gguf, .missing(set, neededBy: "\(path)")))
            }
            return VariantInspection(entry: path, inspection: inspection)
        case .ggufSet(let set, let parts): return try GGUFSet.inspect(set, parts, in: files, limits)
        case .safetensorsIndex(let index, let parts):
            return try SafetensorsIndex.inspect(index, parts, in: files, limits)
        case .package(let folder): return try CoreMLPackage.inspect(folder, in: files, limits)
        case .compiled(let folder): return try CoreMLCompiled.inspect(folder, in: files, limits)
        }
    }

    static func inspect(
        _ path: FilePath,
        _ files: VariantFiles,
        _ declared: ModelFormat?,
        _ limits: FormatLimits
    ) throws(VariantError) -> Inspection {
        let source = try files.open(path)
        do {
            return try ModelFile.inspect(source: source, name: path.name, declared: declared, limits: limits)
        } catch { throw VariantError(path, error) }
    }
}

extension FilePath {
    /// The folders up to the first whose name ends so, with a `/`.
    func upTo(suffix: String) -> String? {
        let segments = self.segments
        guard let index = segments.dropLast().firstIndex(where: { $0.lowercased().hasSuffix(suffix) }) else {
            return nil
        }
        return segments[...index].map { $0 + "/" }.joined()
    }
}

/// A name such as `model-00001-of-00003.gguf`.
struct SetName: Hashable {
    /// With the folder, without number and count.
    let prefix: String
    let count: Int
    let number: Int

    init?(_ path: FilePath, extension suffix: String) {
        let text = path.description
        guard path.has(suffix: suffix) else { return nil }
        let stem = Array(text.utf8.dropLast(suffix.utf8.count))
        guard stem.count > 15, Array(stem[(stem.count - 9)..<(stem.count - 5)]) == Array("-of-".utf8),
            stem[stem.count - 15] == UInt8(ascii: "-"),
            let count = Self.number(stem[(stem.count - 5)...]),
            let number = Self.number(stem[(stem.count - 14)..<(stem.count - 9)])
        else { return nil }
        prefix = String(decoding: stem[..<(stem.count - 15)], as: UTF8.self)
        self.count = count
        self.number = number
    }

    /// The path of another part of the same set.
    func name(of number: Int, extension suffix: String) -> String {
        func padded(_ number: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, 5 - digits.count)) + digits
        }
        return "\(prefix)-\(padded(number))-of-\(padded(count))\(suffix)"
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        digits.allSatisfy { (0x30...0x39).contains($0) } ? Int(String(decoding: digits, as: UTF8.self)) : nil
    }

    static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.prefix.utf8.elementsEqual(right.prefix.utf8)
    }

    /// All parts of one set are the same.
    func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for byte in prefix.utf8 { hasher.combine(byte) }
    }
}
