import CanonicalJSON
import Manifest
import ModelFormats
import Names
import Testing

@Suite("Core ML files of the official library")
struct CoreMLTests {
    static let models = ["flexible_io", "glm_regressor", "nn_classifier"]
    static let packages = ["mlprogram", "mlprogram_range_classifier", "multifunction"]

    @Test("the interface of a model is the one the file has", arguments: models)
    func model(_ name: String) throws {
        let found = try Fixtures.inspect("coreml/\(name).mlmodel")
        #expect(found.format == .coreMLModel)
        try check(found, against: Fixtures.schema("coreml/\(name).mlmodel.expected.json"))
    }

    @Test("the interface of a package is the one its specification has", arguments: packages)
    func package(_ name: String) throws {
        let found = try ModelFile.inspect(Fixtures.variant("coreml", inside: "\(name).mlpackage"))
        #expect(found.entry.description == "\(name).mlpackage/Manifest.json")
        #expect(found.inspection.format == .coreMLPackage)
        try check(found.inspection, against: Fixtures.schema("coreml/\(name).mlpackage.expected.json"))
    }

    private func check(_ found: Inspection, against schema: JSONValue) throws {
        let expected = try ExpectedCoreML.interface(schema)
        #expect(found.interface == expected)
        #expect(try Interface(json: found.interface.json) == found.interface)
        #expect(found.requires.specificationVersion == schema["requires"]?["specification_version"]?.integer)
        #expect(found.metadata["model_type"] == schema["model_type"]?.string)
        let metadata = schema["metadata"]
        #expect(found.metadata.documentation == metadata?["shortDescription"]?.string)
        for key in ["author", "license", "version"] {
            #expect(found.metadata[key] ?? "" == metadata?[key]?.string)
        }
        for member in metadata?["userDefined"]?.object?.members ?? [] {
            #expect(found.metadata["user.\(member.key.string)"] == member.value.string)
        }
    }

    @Test("states are states, not inputs")
    func states() throws {
        let found = try ModelFile.inspect(Fixtures.variant("coreml", inside: "mlprogram_state.mlpackage"))
        let interface = found.inspection.interface
        let tensor = ValueType.tensor(TensorType(element: .float16, shape: .fixed([1, 64])))
        #expect(interface.inputs.map(\.name.description) == ["x"])
        #expect(interface.states.map(\.name.description) == ["memory"])
        #expect(interface.states.map(\.type) == [tensor])
        #expect(found.inspection.requires.specificationVersion == 9)
    }

    @Test("an image is an image, in both kinds of model")
    func images() throws {
        let program = try ModelFile.inspect(Fixtures.variant("coreml", inside: "mlprogram_image.mlpackage"))
        let image = ValueType.image(ImageType(color: .rgb, width: 8, height: 8))
        #expect(program.inspection.interface.input("photo")?.type == image)
        let network = try Fixtures.inspect("coreml/nn_image.mlmodel")
        #expect(network.interface.input("photo")?.type == image)
        let written =
            #"{"inside_model":{"photo":{"scaler":{"blue_bias":"-0.125","channel_scale":"0.0078125","#
            + #""green_bias":"-0.25","red_bias":"-0.5"}}}}"#
        #expect(network.interface.preprocessing.flatMap(\.canonicalText) == written)
        #expect(try Interface(json: network.interface.json) == network.interface)
    }

    @Test(
        "integer labels are read, also through a pipeline",
        arguments: ["tree_classifier", "pipeline_classifier"]
    )
    func labels(_ name: String) throws {
        #expect(try Fixtures.inspect("coreml/\(name).mlmodel").interface.labels == .integers([10, 20, 30]))
    }

    @Test(
        "an item without a file is a folder that must be there, as that of the weights where there are none"
    )
    func emptyItems() throws {
        var files = try Fixtures.contents("coreml", inside: "mlprogram.mlpackage")
        let manifest = "mlprogram.mlpackage/Manifest.json"
        let extra = """
            "itemInfoEntries": {
                "empty": {"author": "a", "description": "d", "name": "n", "path": "com.apple.CoreML/other"},
            """
        let text = String(decoding: files[manifest] ?? [], as: UTF8.self)
        files[manifest] = Array(text.replacing("\"itemInfoEntries\": {", with: extra).utf8)
        let found = try ModelFile.inspect(Fixtures.variant(files))
        #expect(found.folders.map(\.description) == ["mlprogram.mlpackage/Data/com.apple.CoreML/other"])
        let whole = try ModelFile.inspect(Fixtures.variant("coreml", inside: "mlprogram.mlpackage"))
        #expect(whole.folders.isEmpty && found.inspection == whole.inspection)
        // The specification itself is no folder.
        files["mlprogram.mlpackage/Data/com.apple.CoreML/model.mlmodel"] = nil
        #expect(throws: VariantError.self) { try ModelFile.inspect(Fixtures.variant(files)) }
    }

    @Test("each function of a package has its own labels")
    func functionLabels() throws {
        let found = try ModelFile.inspect(Fixtures.variant("coreml", inside: "two_classifiers.mlpackage"))
        let interface = found.inspection.interface
        #expect(interface.labels == texts("day", "night"))
        #expect(interface.functions.map(\.name.description) == ["weather"])
        #expect(interface.functions.map(\.labels) == [texts("dry", "wet")])
    }

    @Test("weights are not read")
    func weights() throws {
        var opened: Set<String> = []
        let bytes = try Fixtures.bytes("coreml/mlprogram.mlpackage/Data/com.apple.CoreML/weights/weight.bin")
        let counting = CountingSource(MemorySource(bytes))
        let files = try Fixtures.variant("coreml", inside: "mlprogram.mlpackage") { path, source in
            opened.insert(path)
            return path.hasSuffix("weight.bin") ? counting : source
        }
        _ = try ModelFile.inspect(files)
        #expect(opened.count == 3)
        #expect(counting.bytesRead <= 16_384)
    }
}

@Suite("Core ML packages that are refused")
struct CoreMLPackageRefusalTests {
    private func refusal(_ edit: (inout [String: [UInt8]]) -> Void) throws -> String? {
        var files = try Fixtures.contents("coreml", inside: "mlprogram.mlpackage")
        edit(&files)
        do { _ = try ModelFile.inspect(Fixtures.variant(files)) } catch { return "\(error)" }
        return nil
    }

    private static let folder = "mlprogram.mlpackage/"
    private static let manifest = folder + "Manifest.json"
    private static let weights = folder + "Data/com.apple.CoreML/weights/weight.bin"
    private static let model = folder + "Data/com.apple.CoreML/model.mlmodel"

    private func replacing(_ old: String, _ new: String, in bytes: [UInt8]?) -> [UInt8] {
        Array(String(decoding: bytes ?? [], as: UTF8.self).replacing(old, with: new).utf8)
    }

    static let paths = [
        "../../etc/passwd", "/etc/passwd", "com.apple.CoreML/../x", "a\\\\b", "", "./model.mlmodel",
    ]

    @Test("an item outside of the package", arguments: paths)
    func escape(_ path: String) throws {
        let said = try refusal { files in
            let old = "\"com.apple.CoreML/model.mlmodel\""
            files[Self.manifest] = replacing(old, "\"\(path)\"", in: files[Self.manifest])
        }
        #expect(said?.contains("itemInfoEntries") == true)
        #expect(said?.contains("it must be a plain file in the folder of the model") == true)
    }

    @Test("what is wrong in the list of items is named, with its place")
    func places() throws {
        func places(_ old: String, _ new: String) throws -> (said: String, place: Int)? {
            var place = 0
            let said = try refusal { files in
                let changed = replacing(old, new, in: files[Self.manifest])
                files[Self.manifest] = changed
                place = changed.firstRange(of: Array(new.utf8))?.lowerBound ?? 0
            }
            return said.map { ($0, place) }
        }
        let version = try #require(try places("\"1.0.0\"", "\"2.0.0\""))
        #expect(version.said.contains("Manifest.json fileFormatVersion at byte \(version.place):"))
        #expect(version.said.contains("version `2.0.0`, which this reader does not know"))
        let path = try #require(try places("\"com.apple.CoreML/model.mlmodel\"", "\"../x\""))
        #expect(path.place > 0 && path.said.contains(".path at byte \(path.place):"), "\(path)")
        let root = try #require(
            try places("\"rootModelIdentifier\"", "\"rootModelIdentifier\": \"x\", \"y\"")
        )
        #expect(root.said.contains("rootModelIdentifier at byte \(root.place + 23):"), "\(root)")
        let twice = try #require(
            try places("\"itemInfoEntries\"", "\"itemInfoEntries\": {}, \"itemInfoEntries\"")
        )
        #expect(twice.said.contains("itemInfoEntries at byte \(twice.place + 23):"), "\(twice)")
        #expect(twice.said.contains("it stands twice"))
    }

    /// The manifest with further items, each with a path and a place in the file for it.
    private func refusal(items paths: [String]) throws -> String? {
        try refusal { files in
            let entries = paths.enumerated().map { index, path in
                #""i\#(index)": {"path": "\#(path)", "name": "", "author": "", "description": ""},"#
            }
            let old = "\"itemInfoEntries\": {"
            files[Self.manifest] = replacing(old, old + entries.joined(), in: files[Self.manifest])
            for path in paths { files[Self.folder + "Data/" + path] = [1] }
        }
    }

    @Test("items are counted, and none is in another, whichever stands first")
    func items() throws {
        #expect(try refusal(items: (0..<3_000).map { "x/\($0)" }) == nil)
        #expect(try refusal(items: (0..<5_000).map { "x/\($0)" })?.contains("items 5002") == true)
        for paths in [["x", "x"], ["x", "x/y"], ["x/y/z", "x"], ["x/y/z", "x/y"]] {
            let said = try refusal(items: paths)
            #expect(said?.contains("itemInfoEntries.i1.path") == true, "\(paths): \(said ?? "")")
            #expect(said?.contains("it shares bytes with something else") == true)
        }
        #expect(try refusal(items: ["x/y", "x.y", "x/yz", "xy"]) == nil)
    }

    @Test("a file that no item covers")
    func stray() throws {
        let said = try refusal { $0[Self.folder + "Data/com.apple.CoreML/extra.bin"] = [1] }
        #expect(said?.contains("extra.bin belongs to no part") == true)
        #expect(
            try refusal { $0[Self.folder + "README"] = [1] }?.contains("README belongs to no part") == true
        )
    }

    @Test("a package without its weights, or with damaged ones")
    func lacking() throws {
        #expect(try refusal { $0[Self.weights] = nil }?.contains("which is not among the files") == true)
        #expect(try refusal { $0[Self.weights]?[64] = 0 }?.contains("record at byte 64") == true)
        #expect(
            try refusal { $0[Self.weights]?[78] = 0xFF }?.contains("record.sizeInBytes at byte 72") == true
        )
        #expect(try refusal { $0[Self.weights]?.removeLast(4_000) } != nil)
    }

    @Test("a manifest of another version, without root, or with a key twice")
    func manifests() throws {
        let edits = [
            ("1.0.0", "2.0.0"), ("rootModelIdentifier", "root"), ("\"author\"", "\"name\""),
            ("\"description\"", "\"about\""), ("000000000001\"\n", "000000000003\"\n"),
        ]
        for (old, new) in edits {
            let said = try refusal { $0[Self.manifest] = replacing(old, new, in: $0[Self.manifest]) }
            #expect(said?.contains("Manifest.json") == true, "\(old)")
        }
    }

    @Test("a program that takes other inputs than its description says")
    func programInputs() throws {
        let said = try refusal { files in
            guard let bytes = files[Self.model], let name = bytes.firstRange(of: Array("\u{A}\u{1}x".utf8))
            else {
                return
            }
            files[Self.model]?[name.upperBound - 1] = UInt8(ascii: "z")
        }
        #expect(said?.contains("inputs") == true)
    }

    @Test("weights named outside of the package")
    func weightName() throws {
        let said = try refusal { files in
            guard var bytes = files[Self.model], let name = bytes.firstRange(of: Array("@model_path/w".utf8))
            else {
                return
            }
            bytes.replaceSubrange(name, with: Array("@model_path//".utf8))
            files[Self.model] = bytes
        }
        #expect(said?.contains("blobFileValue.fileName") == true)
    }
}
