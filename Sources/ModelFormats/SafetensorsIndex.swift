import CanonicalJSON
import Manifest
import Names

/// An index of safetensors files, `weight_map` from each tensor to its file: every file of it, none beside.
enum SafetensorsIndex {
    /// Where each tensor is, by the number of its file among `files`, each of which stands there once.
    private struct Map {
        var files: [FilePath] = []
        var places: [FeatureName: Int] = [:]
    }

    static func inspect(
        _ index: FilePath,
        _ parts: [FilePath],
        in files: VariantFiles,
        _ limits: FormatLimits
    ) throws(VariantError) -> VariantInspection {
        let map = try read(index, in: files, limits)
        let order = map.files.indices.sorted { map.files[$0] < map.files[$1] }
        guard let first = order.first else { throw problem(.contradiction("\(index)", "it names no file")) }
        for number in order where !files.has(map.files[number]) {
            throw problem(.missing("\(map.files[number])", neededBy: "\(index)"))
        }
        let wanted = Set(map.files)
        if let stray = parts.first(where: { !wanted.contains($0) }) { throw problem(.stray("\(stray)")) }
        var whole = Inspection(format: .safetensors)
        whole.tensors.reserveCapacity(map.places.count)
        var shapes: Set<[Int64]> = []
        for number in order {
            let path = map.files[number]
            let part = try ModelCandidate.inspect(path, files, .safetensors, limits)
            for row in part.tensors {
                guard let place = map.places.index(forKey: row.name), map.places[place].value == number else {
                    throw problem(
                        .contradiction("\(path)", "the index has tensor `\(row.name)` elsewhere, or not")
                    )
                }
                // Of each name and each shape one copy, however many tensors have it.
                let shape = shapes.insert(row.shape).memberAfterInsert
                whole.tensors.append(TensorRow(name: map.places[place].key, type: row.type, shape: shape))
            }
            if number == first { whole.metadata = part.metadata }
        }
        guard whole.tensors.count == map.places.count else {
            let said = "it names \(map.places.count) tensors, and the files have \(whole.tensors.count)"
            throw problem(.contradiction("\(index)", said))
        }
        whole.interface.tensors = whole.tensors.summary
        return VariantInspection(entry: map.files[first], inspection: whole)
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
    ) throws(VariantError) -> Map {
        let source = try files.open(index)
        do {
            let file = FileBytes(source, format: .safetensors, limits: limits)
            let bytes = try file.bytes(at: 0, count: file.length, limit: limits.index, "index")
            return try map(in: bytes, beside: index, limits)
        } catch { throw VariantError(index, error) }
    }

    private static func map(
        in bytes: [UInt8],
        beside index: FilePath,
        _ limits: FormatLimits
    ) throws(FormatError) -> Map {
        var scanner = JSONScanner(bytes, at: 0, format: .safetensors)
        var map: Map?
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
    ) throws(FormatError) -> Map {
        var map = Map()
        // By bytes: as texts, a name that is no path would be the one that it looks like.
        var numbers: [JSONText: Int] = [:]
        // A number of each name, equal for two in which people see the same; its seed is another one in each process.
        var names: Set<Int> = []
        var named = 0
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
            let key = JSONText(file)
            if numbers[key] == nil {
                guard FilePath(file) != nil, let path = FilePath(index.folder + file) else {
                    let said = String(file.prefix(256))
                    throw .refused(.safetensors, field: "weight_map", offset: place, .externalLocation(said))
                }
                numbers[key] = map.files.count
                map.files.append(path)
            }
            guard names.insert(name.lookAlikeKey.hashValue).inserted else {
                throw scanner.error("weight_map `\(name)`", .duplicateName, at: place)
            }
            map.places[name] = numbers[key]
            named += name.description.utf8.count
            try check("tensors", map.places.count, limits.tensorsOfSet, place)
            try check("bytes of tensor names", named, Int(limits.tensorNamesOfSet), place)
            try check("files", map.files.count, limits.externalFiles, place)
        } while try scanner.another(before: UInt8(ascii: "}"), "weight_map")
        return map
    }

    private static func check(
        _ which: String,
        _ found: Int,
        _ limit: Int,
        _ offset: UInt64
    ) throws(FormatError) {
        guard found > limit else { return }
        let (found, limit) = (UInt64(found), UInt64(limit))
        throw .limit(.safetensors, which: which, offset: offset, found: found, limit: limit)
    }

    private static func problem(_ problem: FormatError.VariantProblem) -> VariantError {
        VariantError(nil, .files(.safetensors, problem))
    }
}
