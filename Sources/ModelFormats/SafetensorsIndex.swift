import Manifest
import Names

/// An index of safetensors files, `weight_map` from each tensor to its file: every file of it, none beside.
enum SafetensorsIndex {
    static func inspect(
        _ index: FilePath,
        _ parts: [FilePath],
        in files: VariantFiles,
        _ limits: FormatLimits
    ) throws(VariantError) -> VariantInspection {
        let map = try read(index, in: files, limits)
        let wanted = Set(map.values)
        guard let first = wanted.min() else { throw problem(.contradiction("\(index)", "it names no file")) }
        for path in wanted.sorted() where !files.has(path) {
            throw problem(.missing("\(path)", neededBy: "\(index)"))
        }
        if let stray = parts.first(where: { !wanted.contains($0) }) { throw problem(.stray("\(stray)")) }
        var whole = Inspection(format: .safetensors)
        for path in wanted.sorted() {
            let part = try ModelCandidate.inspect(path, files, .safetensors, limits)
            for row in part.tensors where map[row.name] != path {
                throw problem(
                    .contradiction("\(path)", "the index has tensor `\(row.name)` elsewhere, or not")
                )
            }
            whole.tensors += part.tensors
            if path == first { whole.metadata = part.metadata }
        }
        guard whole.tensors.count == map.count else {
            let said = "it names \(map.count) tensors, and the files have \(whole.tensors.count)"
            throw problem(.contradiction("\(index)", said))
        }
        whole.interface.tensors = whole.tensors.summary
        return VariantInspection(entry: first, inspection: whole)
    }

    /// Refuses a file whose name says that it is one of several and beside which no index lies.
    ///
    /// It says nothing of the others itself, so it would pass for the whole model.
    static func refusePart(_ path: FilePath, in files: VariantFiles) throws(VariantError) {
        guard let name = SetName(path, extension: ".safetensors"), name.count > 1 else { return }
        let here = Set(
            files.files.compactMap { SetName($0.path, extension: ".safetensors") }.filter { $0 == name }
                .map(\.number)
        )
        let absent = (1...name.count).filter { !here.contains($0) }
        let index = "\(name.prefix).safetensors.index.json"
        guard let first = absent.first else { throw problem(.missing(index, neededBy: "\(path)")) }
        let part = name.name(of: first, extension: ".safetensors")
        let more = absent.count > 1 ? "\(absent.count - 1) more parts and " : ""
        throw problem(.missing("\(part) (with \(more)the index \(index))", neededBy: "\(path)"))
    }

    private static func read(
        _ index: FilePath,
        in files: VariantFiles,
        _ limits: FormatLimits
    ) throws(VariantError) -> [FeatureName: FilePath] {
        let source = try files.open(index)
        do {
            let file = FileBytes(source, format: .safetensors, limits: limits)
            let bytes = try file.bytes(at: 0, count: file.length, limit: limits.tensorHeader, "index")
            return try map(in: bytes, beside: index, limits)
        } catch { throw VariantError(index, error) }
    }

    private static func map(
        in bytes: [UInt8],
        beside index: FilePath,
        _ limits: FormatLimits
    ) throws(FormatError) -> [FeatureName: FilePath] {
        var scanner = JSONScanner(bytes, at: 0, format: .safetensors)
        var map: [FeatureName: FilePath]?
        var keys: Set<[UInt8]> = []
        try scanner.expect(UInt8(ascii: "{"), "index")
        repeat {
            scanner.passSpace()
            let place = scanner.offset
            let key = try scanner.text("index", limit: 1_024)
            try scanner.expect(UInt8(ascii: ":"), "index")
            guard keys.insert(Array(key.utf8)).inserted else {
                throw scanner.error(key == "weight_map" ? key : "index", .duplicate, at: place)
            }
            guard key == "weight_map" else {
                try scanner.passValue("index")
                continue
            }
            map = try readMap(&scanner, beside: index, limits)
        } while try scanner.another(before: UInt8(ascii: "}"), "index")
        try scanner.finish("index")
        guard let map else { throw scanner.error("weight_map", .missing) }
        return map
    }

    private static func readMap(
        _ scanner: inout JSONScanner,
        beside index: FilePath,
        _ limits: FormatLimits
    ) throws(FormatError) -> [FeatureName: FilePath] {
        var map: [FeatureName: FilePath] = [:]
        var names: Set<String> = []
        try scanner.expect(UInt8(ascii: "{"), "weight_map")
        if scanner.take(UInt8(ascii: "}")) { return map }
        repeat {
            scanner.passSpace()
            let place = scanner.offset
            guard let name = FeatureName(try scanner.text("weight_map", limit: 1_024)) else {
                throw scanner.error("weight_map", .badName, at: place)
            }
            try scanner.expect(UInt8(ascii: ":"), "weight_map")
            let file = try scanner.text("weight_map", limit: 4_096)
            guard FilePath(file) != nil, let path = FilePath(index.folder + file) else {
                let said = String(file.prefix(256))
                throw .refused(.safetensors, field: "weight_map", offset: place, .externalLocation(said))
            }
            guard names.insert(name.lookAlikeKey).inserted else {
                throw scanner.error("weight_map `\(name)`", .duplicateName, at: place)
            }
            map[name] = path
            guard map.count <= limits.tensors else {
                let limit = UInt64(limits.tensors)
                throw .limit(.safetensors, which: "tensors", offset: place, found: limit + 1, limit: limit)
            }
        } while try scanner.another(before: UInt8(ascii: "}"), "weight_map")
        return map
    }

    private static func problem(_ problem: FormatError.VariantProblem) -> VariantError {
        VariantError(nil, .files(.safetensors, problem))
    }
}
