import Durable
import Generations
import Glibc
import Manifest
import Names
import Signing
import Support
import Testing

@Suite("Activation")
struct ActivationTests {
    private let fixture: DeviceFixture

    init() throws { fixture = try DeviceFixture() }

    @Test("a version is active by real paths, its files read-only and whole")
    func active() throws {
        let generation = try fixture.activate("1.0.0")
        #expect(generation.number == 1)
        let model = try fixture.device.activeModel(fixture.detector)
        #expect(model.version.description == "1.0.0")
        #expect(model.directory.hasPrefix(fixture.device.path + "/versions/vision/detector/1.0.0-fp32-"))
        let bytes = try Durable.readFile(model.entryPath, maximum: .kibibytes(1))
        #expect(bytes == DeviceFixture.content("1.0.0", "model.onnx"))
        #expect(try Durable.kind(of: model.entryPath) == .file(length: UInt64(bytes.count), mode: 0o444))
        var status = stat()
        #expect(stat(model.directory, &status) == 0 && status.st_mode & 0o777 == 0o555)
        #expect(stat(model.entryPath, &status) == 0 && status.st_nlink == 1)
        #expect(try model.verify() > 0)
        // What other programs do: follow the links.
        let linked = "\(fixture.device.path)/current/vision/detector/extra/labels.txt"
        #expect(
            try Durable.readFile(linked, maximum: .kibibytes(1))
                == DeviceFixture.content("1.0.0", "extra/labels.txt")
        )
    }

    @Test("a folder without files is made with the version, and missed when it is gone or filled")
    func emptyFolders() throws {
        var shape = DeviceFixture.Content()
        shape.folders = ["extra/weights", "a/b"]
        let record = try DeviceFixture.install("1.0.0", shape, on: fixture.device)
        #expect(try fixture.device.isInstalled(record.identity))
        let top = "\(fixture.device.path)/\(record.identity.relativePath)"
        for name in ["extra/weights", "a", "a/b"] {
            var status = stat()
            #expect(stat("\(top)/\(name)", &status) == 0)
            #expect(status.st_mode & S_IFMT == S_IFDIR && status.st_mode & 0o777 == 0o555)
        }
        chmod("\(top)/a", 0o755)
        rmdir("\(top)/a/b")
        #expect(try !fixture.device.isInstalled(record.identity))
        try DeviceFixture.install("1.0.0", shape, on: fixture.device)
        #expect(try fixture.device.isInstalled(record.identity))
        chmod("\(top)/a/b", 0o755)
        try Durable.writeAtomically("\(top)/a/b/x", [1])
        #expect(try !fixture.device.isInstalled(record.identity))
    }

    @Test("opening writes nothing, takes no lock and works through a link to the directory")
    func openingIsQuiet() throws {
        try fixture.activate("1.0.0")
        let before = try tree(fixture.device.path)
        symlink(fixture.device.path, fixture.scratch.path("alias"))
        let device = try DeviceDirectory.open(fixture.scratch.path("alias"))
        #expect(device.path == fixture.device.path)
        _ = try device.activeModel(fixture.detector)
        #expect(try tree(fixture.device.path) == before)
    }

    @Test("what is not there is said, with what to do")
    func absent() throws {
        #expect(throws: GenerationError.nothingActive(directory: fixture.device.path)) {
            try fixture.device.activeModel(fixture.detector)
        }
        #expect(throws: GenerationError.missing(path: "/nowhere/at/all")) {
            try DeviceDirectory.open("/nowhere/at/all")
        }
        try fixture.activate("1.0.0")
        let other = try require(ModelName("audio/wake"))
        #expect(throws: GenerationError.notActive(model: other, active: [try fixture.detector])) {
            try fixture.device.activeModel(other)
        }
    }

    @Test("an unchanged model keeps its version directory in the next generation")
    func reuse() throws {
        let record = try DeviceFixture.install("1.0.0", on: fixture.device)
        try fixture.device.activate([record], created: DeviceFixture.start)
        let first = try fixture.device.activeModel(fixture.detector)
        let other = try DeviceFixture.install("3.0.0", of: "audio/wake", on: fixture.device)
        let generation = try fixture.device.activate([other, record], created: DeviceFixture.start)
        #expect(generation.number == 2 && generation.record.previous == 1)
        #expect(try fixture.device.activeModel(fixture.detector).directory == first.directory)
    }

    @Test("a generation whose version is not installed is not activated")
    func notInstalled() throws {
        try fixture.activate("1.0.0")
        let record = try DeviceFixture.record(of: DeviceFixture.manifest("vision/detector", "9.0.0"))
        #expect(throws: GenerationError.self) {
            try fixture.device.activate([record], created: DeviceFixture.start)
        }
        #expect(try fixture.activeVersion == "1.0.0")
    }

    @Test("sources that are not the signed files install nothing")
    func wrongSources() throws {
        let manifest = try DeviceFixture.manifest("vision/detector", "1.0.0")
        let record = try DeviceFixture.record(of: manifest)
        let short = try fixture.scratch.write("short", [1, 2, 3])
        let sources = Dictionary(uniqueKeysWithValues: manifest.variants[0].files.map { ($0.sha256, short) })
        #expect(throws: GenerationError.self) {
            try fixture.device.install(record.identity, manifest: manifest.canonical, sources: sources)
        }
        #expect(throws: GenerationError.self) {
            try fixture.device.install(record.identity, manifest: manifest.canonical + [0x20], sources: [:])
        }
        #expect(try !fixture.device.isInstalled(record.identity))
        #expect(try Durable.names(in: "\(fixture.device.versionsPath)/vision/detector").isEmpty)
    }

    private func tree(_ path: String) throws -> [String] {
        guard try Durable.kind(of: path) == .directory else { return [path] }
        var status = stat()
        stat(path, &status)
        let own = ["\(path) \(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"]
        return own + (try Durable.names(in: path).flatMap { try tree("\(path)/\($0)") })
    }
}

@Suite("Damage on the disk")
struct DamageTests {
    private let fixture: DeviceFixture
    private let model: ActiveModel

    init() throws {
        fixture = try DeviceFixture()
        try fixture.activate("1.0.0")
        model = try fixture.device.activeModel(fixture.detector)
    }

    @Test("a byte changed in place is found at the next opening, and the file is named")
    func changedByte() throws {
        var bytes = try Durable.readFile(model.entryPath, maximum: .kibibytes(1))
        bytes[0] ^= 1
        try DeviceFixture.overwrite(model.entryPath, bytes)
        let error = #expect(throws: GenerationError.self) { try fixture.device.activeModel(fixture.detector) }
        #expect(error?.description.contains(model.entryPath) == true)
        #expect(try !fixture.device.isInstalled(model.identity))
    }

    @Test("a byte changed under the old date is found by verifying")
    func changedUnderOldDate() throws {
        var bytes = try Durable.readFile(model.entryPath, maximum: .kibibytes(1))
        bytes[0] ^= 1
        var status = stat()
        #expect(stat(model.entryPath, &status) == 0)
        try DeviceFixture.overwrite(model.entryPath, bytes)
        utimensat(AT_FDCWD, model.entryPath, [status.st_mtim, status.st_mtim], 0)
        let opened = try fixture.device.activeModel(fixture.detector)
        #expect(throws: GenerationError.self) { try opened.verify() }
        // What was found once is known to all: nobody opens it again, and it is installed anew.
        #expect(throws: GenerationError.self) { try fixture.device.activeModel(fixture.detector) }
        #expect(try !fixture.device.isInstalled(model.identity))
        try DeviceFixture.install("1.0.0", on: fixture.device)
        #expect(try fixture.device.activeModel(fixture.detector).verify() > 0)
    }

    @Test("the same bytes under another date are as good")
    func copied() throws {
        let bytes = try Durable.readFile(model.entryPath, maximum: .kibibytes(1))
        try DeviceFixture.overwrite(model.entryPath, bytes, mode: 0o644)
        #expect(try fixture.activeVersion == "1.0.0")
    }

    @Test("a file nobody signed is found at the next opening, and goes when the version is installed again")
    func extraFile() throws {
        chmod(model.directory, 0o755)
        try Durable.writeAtomically(model.directory + "/extra.py", [1])
        #expect(throws: GenerationError.self) { try model.verify() }
        #expect(throws: GenerationError.self) { try fixture.device.activeModel(fixture.detector) }
        try DeviceFixture.install("1.0.0", on: fixture.device)
        #expect(try fixture.device.activeModel(fixture.detector).verify() > 0)
    }

    @Test(
        "a pointer to a generation that is gone, or of any number, is replaced by the next activation",
        arguments: ["generations/999999", "generations/18446744073709551615", "generations/999999999999"]
    )
    func lostGeneration(_ destination: String) throws {
        try Durable.replaceLink(fixture.device.currentPath, destination: destination)
        let record = try DeviceFixture.install("2.0.0", on: fixture.device)
        if destination.hasSuffix("/999999999999") {
            #expect(throws: GenerationError.self) {
                try fixture.device.activate([record], created: DeviceFixture.start)
            }
        } else {
            try fixture.device.activate([record], created: DeviceFixture.start)
            #expect(try fixture.activeVersion == "2.0.0")
        }
    }

    @Test(
        "a directory among the generations that nobody made is not counted on from",
        arguments: ["18446744073709551615", "9007199254740991", "999999999999", "999999"]
    )
    func foreignGeneration(_ name: String) throws {
        try Durable.makeDirectory("\(fixture.device.generationsPath)/\(name)")
        #expect(try fixture.activate("2.0.0").number == 2)
        try Durable.removeFile(fixture.device.currentPath)
        if name != "999999999999" { #expect(try fixture.activate("1.0.0").number > 2) }
    }

    @Test("a directory in the place of the pointer, as a copy that followed links leaves it, is replaced")
    func pointerBecameDirectory() throws {
        try Durable.removeFile(fixture.device.currentPath)
        try Durable.makeDirectory(fixture.device.currentPath + "/vision/detector")
        #expect(throws: GenerationError.self) { try fixture.device.activeGeneration() }
        try fixture.activate("2.0.0")
        #expect(try fixture.activeVersion == "2.0.0")
    }

    @Test("a link in the place of a file is refused")
    func linkForFile() throws {
        chmod(model.directory, 0o755)
        let elsewhere = try fixture.scratch.write("elsewhere", DeviceFixture.content("1.0.0", "model.onnx"))
        try Durable.replaceLink(model.entryPath, destination: elsewhere)
        #expect(throws: GenerationError.self) { try fixture.device.activeModel(fixture.detector) }
    }

    @Test("a changed manifest is refused")
    func changedManifest() throws {
        let file = model.directory + ".json"
        try Durable.writeAtomically(file, model.manifestBytes + [0x20])
        #expect(throws: GenerationError.self) { try fixture.device.activeModel(fixture.detector) }
    }

    @Test(
        "a pointer that leads anywhere but to a generation is refused",
        arguments: [
            "/etc", "../elsewhere", "generations/1", "generations/000001/..", "generations/0000001", "",
        ]
    )
    func hostilePointer(_ destination: String) throws {
        let current = fixture.device.currentPath
        if destination.isEmpty {
            try Durable.removeFile(current)
            try Durable.writeAtomically(current, [1])
        } else {
            try Durable.replaceLink(current, destination: destination)
        }
        #expect(throws: GenerationError.self) { try fixture.device.activeGeneration() }
    }

    @Test("a generation's link that leads elsewhere is refused")
    func hostileLink() throws {
        let link = "\(fixture.device.generationsPath)/000001/vision/detector"
        try Durable.replaceLink(link, destination: "/etc")
        #expect(throws: GenerationError.self) { try fixture.device.activeGeneration() }
    }

    @Test("a record under another number is refused")
    func otherNumber() throws {
        let file = "\(fixture.device.generationsPath)/000001/generation.json"
        let record = try require(
            GenerationRecord(number: 2, previous: nil, created: DeviceFixture.start, models: [])
        )
        try Durable.writeAtomically(file, record.canonical)
        #expect(throws: GenerationError.self) { try fixture.device.activeGeneration() }
    }

    @Test("a damaged version does not keep another model from moving, and is not newly activated")
    func damagedNeighbour() throws {
        try DeviceFixture.overwrite(model.entryPath, [1])
        let record = try #require(try fixture.device.activeGeneration()?.record.models.first)
        let other = try DeviceFixture.install("2.0.0", of: "audio/wake", on: fixture.device)
        try fixture.device.activate([record, other], created: DeviceFixture.start)
        #expect(try fixture.device.activeModel(require(ModelName("audio/wake"))).verify() > 0)
        #expect(throws: GenerationError.self) { try fixture.device.activeModel(fixture.detector) }
        try fixture.device.activate([other], created: DeviceFixture.start)
        #expect(throws: GenerationError.self) {
            try fixture.device.activate([record, other], created: DeviceFixture.start)
        }
    }

    @Test("installing a damaged version again puts it right in place")
    func repair() throws {
        chmod(model.directory, 0o755)
        try Durable.removeFile(model.entryPath)
        #expect(throws: GenerationError.self) { try fixture.device.activeModel(fixture.detector) }
        try DeviceFixture.install("1.0.0", on: fixture.device)
        #expect(try fixture.device.activeModel(fixture.detector).verify() > 0)
        let names = try Durable.names(in: "\(fixture.device.versionsPath)/vision/detector")
        #expect(names.count == 2)
    }
}
