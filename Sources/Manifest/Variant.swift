import CanonicalJSON
package import Names

/// How a variant's files are to be read.
package enum ModelFormat: String, Sendable, CaseIterable {
    case onnx, tflite, gguf, safetensors, opaque
    case coreMLPackage = "coreml-package"
    case coreMLModel = "coreml-model"
    case coreMLCompiled = "coreml-compiled"
}

/// A kind of processor that a variant is meant for.
package enum ComputeUnit: String, Sendable, CaseIterable {
    case cpu, gpu, npu
}

/// What a loaded variant takes, in bytes, and how that is known.
package struct MemoryNeed: Equatable, Sendable {
    /// While loaded and idle.
    package var resident: UInt64

    /// The most at any time, which is usually while loading.
    package var peak: UInt64

    /// For people: `estimated from the files`, `measured with onnxruntime 1.24 on x86-64`.
    package var measured: String

    package init(resident: UInt64, peak: UInt64, measured: String) {
        self.resident = resident
        self.peak = peak
        self.measured = measured
    }
}

/// The model that an adapter is for.
package struct BaseModel: Equatable, Sendable {
    package var model: ModelName
    package var manifest: Digest

    package init(model: ModelName, manifest: Digest) {
        self.model = model
        self.manifest = manifest
    }
}

/// One concrete set of files inside a version.
package struct Variant: Equatable, Sendable {
    package var name: VariantName
    package var format: ModelFormat

    /// The file that a runtime opens; one of `files`.
    package var entry: FilePath

    /// In the order of preference.
    package var compute: [ComputeUnit]
    package var requires: Requirements
    package var memory: MemoryNeed?
    package var base: BaseModel?
    package var files: [ManifestFile]

    /// Folders that hold no file and that the model's reader asks for, sorted.
    package var folders: [FilePath]

    /// Where it differs from the manifest's.
    package var interface: Interface?

    package init(
        name: VariantName,
        format: ModelFormat,
        entry: FilePath,
        compute: [ComputeUnit] = [.cpu],
        requires: Requirements = Requirements(),
        memory: MemoryNeed? = nil,
        base: BaseModel? = nil,
        files: [ManifestFile],
        folders: [FilePath] = [],
        interface: Interface? = nil
    ) {
        self.name = name
        self.format = format
        self.entry = entry
        self.compute = compute
        self.requires = requires
        self.memory = memory
        self.base = base
        self.files = files
        self.folders = folders
        self.interface = interface
    }

    /// The bytes of all files, without the block lists.
    package var length: UInt64 { files.reduce(0) { $0 + $1.length } }

    /// Every blob that a device or a registry needs for this variant, block lists included, each once.
    package var blobs: [BlobReference] {
        var seen: Set<Digest> = []
        let all = files.flatMap { file in
            [BlobReference(sha256: file.sha256, length: file.length)] + (file.blocks.map { [$0.list] } ?? [])
        }
        return all.filter { seen.insert($0.sha256).inserted }
    }
}

extension Variant {
    init(_ value: JSONValue, at place: Place) throws(ManifestError) {
        var reader = try MemberReader(value, at: place)
        name = try reader.parsed("name", "a variant name") { VariantName($0) }
        format = try reader.parsed("format", "a format that version 1 knows") { ModelFormat(rawValue: $0) }
        entry = try reader.parsed("entry", "a safe relative path in NFC") { FilePath($0) }
        compute = []
        for (value, place) in try reader.array("compute") {
            guard let unit = value.string.flatMap(ComputeUnit.init(rawValue:)), !compute.contains(unit) else {
                throw place.invalid("cpu, gpu or npu, each once", value)
            }
            compute.append(unit)
        }
        requires = try Requirements(try reader.value("requires"), at: place.member("requires"))
        memory = try reader.optionalReader("memory").map { (inner) throws(ManifestError) in
            try MemoryNeed(inner)
        }
        base = try reader.optionalReader("base").map { (inner) throws(ManifestError) in try BaseModel(inner) }
        files = []
        for (value, place) in try reader.array("files") { files.append(try ManifestFile(value, at: place)) }
        folders = try reader.optionalPaths("folders")
        interface = nil
        if let value = reader.optional("interface") {
            interface = try Interface(value, at: place.member("interface"))
        }
        try reader.finish()
        try checkFiles(at: place)
    }

    private func checkFiles(at place: Place) throws(ManifestError) {
        let filesPlace = place.member("files")
        guard (1...Limits.filesInVariant).contains(files.count) else {
            throw filesPlace.invalid("1 to \(Limits.filesInVariant) files", "\(files.count)")
        }
        guard files.count + folders.count <= Limits.filesInVariant else {
            let expected = "at most \(Limits.filesInVariant) with the files"
            throw place.member("folders").invalid(expected, "\(folders.count)")
        }
        guard !compute.isEmpty else { throw place.member("compute").invalid("at least one unit", "none") }
        var names = PathNames()
        var lengths: [Digest: UInt64] = [:]
        var total: UInt64 = 0
        for (index, file) in files.enumerated() {
            let place = filesPlace.element(index)
            if let other = names.insert(file.path) {
                let found = "\(file.path) beside \(other)"
                throw place.member("path").invalid(
                    "distinct with its folders, also when case is ignored",
                    found
                )
            }
            let references = [BlobReference(sha256: file.sha256, length: file.length), file.blocks?.list]
            for blob in references.compactMap(\.self) {
                let known = lengths.updateValue(blob.length, forKey: blob.sha256) ?? blob.length
                guard known == blob.length else {
                    throw place.invalid("one length for \(blob.sha256)", "\(known) and \(blob.length)")
                }
            }
            let (sum, overflow) = total.addingReportingOverflow(file.length)
            guard !overflow, sum <= 1 << 53 else { throw filesPlace.invalid("at most 2^53 bytes", "more") }
            total = sum
        }
        // One that is a file, or has one in it, clashes with that.
        for (index, folder) in folders.enumerated() {
            guard let other = names.insert(folder) else { continue }
            throw place.member("folders").element(index).invalid(
                "distinct, and without files",
                "\(folder) beside \(other)"
            )
        }
        guard files.contains(where: { $0.path == entry }) else {
            throw place.member("entry").invalid("one of the files", "\(entry)")
        }
    }

    var json: JSONValue {
        var object = JSONObject()
        object["name"] = .text(name.description)
        object["format"] = .text(format.rawValue)
        object["entry"] = .text(entry.description)
        object["compute"] = .array(compute.map { .text($0.rawValue) })
        object["requires"] = requires.json
        object.set("memory", memory?.json)
        object.set("base", base?.json)
        object["files"] = .array(files.map(\.json))
        object.set("folders", nonEmpty: folders.map { .text($0.description) })
        object.set("interface", interface?.json)
        return .object(object)
    }
}

extension MemoryNeed {
    init(_ reader: MemberReader) throws(ManifestError) {
        var reader = reader
        resident = try reader.length("resident")
        peak = try reader.length("peak")
        guard peak >= resident else {
            throw reader.place.member("peak").invalid("at least `resident`, \(resident)", "\(peak)")
        }
        measured = try reader.text("measured")
        try reader.finish()
    }

    var json: JSONValue {
        .members(["measured": .text(measured), "peak": .count(peak), "resident": .count(resident)])
    }
}

extension BaseModel {
    init(_ reader: MemberReader) throws(ManifestError) {
        var reader = reader
        model = try reader.model("model")
        manifest = try reader.digest("manifest")
        try reader.finish()
    }

    var json: JSONValue {
        .members(["manifest": .text(manifest.hex), "model": .text(model.description)])
    }
}
