import Durable
import Foundation
import Glibc
import Names
import Support
import Testing

extension EndToEnd {
    @Suite("Every format", .serialized)
    struct FormatTests {
        private static let fixtures = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/models").path(percentEncoded: false)

        private static let opaque = #"{"type":"sealift/card@1","variants":{"default":{"format":"opaque"}}}"#

        /// Name, the fixture, and what programs open below the version's directory.
        private static let models = [
            ("onnx", "onnx/mlp_dynamic_batch.onnx", "mlp_dynamic_batch.onnx"),
            ("mlmodel", "coreml/nn_classifier.mlmodel", "nn_classifier.mlmodel"),
            ("mlpackage", "coreml/mlprogram_state.mlpackage", "mlprogram_state.mlpackage"),
            ("tflite", "tflite/mlp_signature.tflite", "mlp_signature.tflite"),
            ("gguf", "gguf/tiny_llama.gguf", "tiny_llama.gguf"),
            ("safetensors", "safetensors/set", "model.safetensors.index.json"),
        ]

        private func started() throws -> World {
            let world = try World()
            try world.created()
            try world.serve()
            return world
        }

        private func publish(
            _ world: World,
            _ path: String,
            as name: String,
            _ extra: [String] = []
        ) throws -> Outcome {
            let words = ["--model", "vision/\(name)", "--version", "next", "--channel", "stable"]
            return try world.run(["publish", path] + words + extra)
        }

        private func folder(_ world: World, _ name: String, of files: [(String, String)]) throws -> String {
            for (file, fixture) in files {
                let bytes = try Durable.readFile(fixture, maximum: .mebibytes(16))
                try world.scratch.write("\(name)/\(file)", bytes)
            }
            return world.scratch.path(name)
        }

        /// What the device opens of a model, once it has synced it.
        private func synced(_ world: World, _ name: String) throws -> String {
            let wanted = ["--model", "vision/\(name)@stable"]
            try world.run(["sync", "--directory", world.device] + wanted).expecting(0)
            let found = try world.run(["path", "vision/\(name)", "--directory", world.device]).expecting(0)
            return String(found.output.dropLast())
        }

        /// What lies below a folder, hidden files aside.
        private func contents(_ path: String) throws -> [String: [UInt8]] {
            var found: [String: [UInt8]] = [:]
            for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
                let file = "\(path)/\(name)"
                if try Durable.kind(of: file) != .directory {
                    found[name] = try Durable.readFile(file, maximum: .mebibytes(16))
                }
            }
            return found
        }

        @Test(
            "each is published, read again in a process of its own on the device, and is there byte for byte"
        )
        func formats() throws {
            let world = try started()
            let set = (1...3).map { "set-0000\($0)-of-00003.gguf" }
            let split = try folder(world, "split", of: set.map { ($0, "\(Self.fixtures)/gguf/\($0)") })
            let external = try folder(
                world,
                "external",
                of: ["external_data.onnx", "external_data.weights"].map {
                    ($0, "\(Self.fixtures)/onnx/\($0)")
                }
            )
            let card = try world.scratch.write("opaque.json", Array(Self.opaque.utf8))
            let blob = try world.scratch.write("weights.bin", Array("anything".utf8))
            var models = Self.models.map { ($0, "\(Self.fixtures)/\($1)", $2) }
            models.append(("split", split, "set-00001-of-00003.gguf"))
            models.append(("external", external, "external_data.onnx"))
            for (name, path, _) in models { try publish(world, path, as: name).expecting(0) }
            let unread = try publish(world, blob, as: "opaque").expecting(1)
            #expect(unread.errors.contains("declare the variant opaque"), "\(unread)")
            try publish(world, blob, as: "opaque", ["--card", card]).expecting(0)
            models.append(("opaque", blob, "weights.bin"))
            let wanted = models.flatMap { ["--model", "vision/\($0.0)@stable"] }
            try world.run(["sync", "--directory", world.device] + wanted).expecting(0)
            for (name, path, entry) in models {
                let found = try world.run(["path", "vision/\(name)", "--directory", world.device])
                let line = try found.expecting(0).output.dropLast()
                #expect(line.hasSuffix("/" + entry), "\(name): \(line)")
                let installed = String(line.dropLast(entry.utf8.count + 1))
                let isPackage = path.hasSuffix(".mlpackage")
                let place = isPackage ? "\(installed)/\(entry.split(separator: "/")[0])" : installed
                let original =
                    isFolder(path)
                    ? try contents(path) : [entry: try Durable.readFile(path, maximum: .mebibytes(16))]
                #expect(try contents(place) == original, "\(name)")
            }
        }

        @Test("an empty folder that a package lists is on the device too, and an absent one is missed")
        func emptyFolder() throws {
            let world = try started()
            let items = try contents("\(Self.fixtures)/coreml/mlprogram.mlpackage")
            for (name, bytes) in items where name != "Manifest.json" {
                try world.scratch.write("m.mlpackage/\(name)", bytes)
            }
            let extra =
                #"{"x": {"author": "a", "description": "d", "name": "n", "path": "com.apple.CoreML/other"},"#
            let text = String(decoding: items["Manifest.json"] ?? [], as: UTF8.self)
                .replacing("\"itemInfoEntries\": {", with: "\"itemInfoEntries\": " + extra)
            try world.scratch.write("m.mlpackage/Manifest.json", Array(text.utf8))
            let package = world.scratch.path("m.mlpackage")
            let absent = try publish(world, package, as: "hollow").expecting(1)
            #expect(absent.errors.contains("Data/com.apple.CoreML/other, a folder"), "\(absent)")
            try Durable.makeDirectory("\(package)/Data/com.apple.CoreML/other")
            try publish(world, package, as: "hollow").expecting(0)
            // Who signs and who looks up what is signed is told of it.
            let inspected = try world.run(["inspect", "vision/hollow@stable"]).expecting(0)
            let place = "m.mlpackage/Data/com.apple.CoreML/other"
            #expect(inspected.output.contains("empty folder, default: \(place)"), "\(inspected)")
            let file = world.scratch.path("hollow.proposal")
            try publish(world, package, as: "again", ["--out", file]).expecting(0)
            let signed = try world.run(["role", "sign", file, "--yes"]).expecting(0)
            #expect(signed.errors.contains("and 1 empty folder (\(place))"), "\(signed)")
            let path = try synced(world, "hollow")
            #expect(try Durable.kind(of: "\(path)/Data/com.apple.CoreML/other") == .directory)
            try world.run(["verify", "--directory", world.device]).expecting(0)
            #expect(try contents(path).keys.sorted() == items.keys.sorted())
        }

        @Test(
            "a cache of links is followed, what tools leave behind is skipped and named, and pickles are refused"
        )
        func cache() throws {
            let world = try started()
            let hub = "hub/models--org--tiny"
            let bytes = try Durable.readFile("\(Self.fixtures)/gguf/tiny_llama.gguf", maximum: .mebibytes(1))
            try world.scratch.write("\(hub)/blobs/abc", bytes)
            let readme = "---\nlicense: mit\nbase_model: org/base\n---\n"
            try world.scratch.write("\(hub)/blobs/def", Array(readme.utf8))
            try world.scratch.write("\(hub)/snapshots/1/.cache/x", [1])
            try world.scratch.write("\(hub)/snapshots/1/.git/HEAD", [1])
            let snapshot = world.scratch.path("\(hub)/snapshots/1")
            symlink("../../blobs/abc", "\(snapshot)/tiny.gguf")
            symlink("../../blobs/def", "\(snapshot)/README.md")
            let published = try publish(world, snapshot, as: "tiny").expecting(0)
            #expect(published.errors.contains(".git") && published.errors.contains(".cache"), "\(published)")
            let folder = Durable.parent(of: try synced(world, "tiny"))
            #expect(try contents(folder).keys.sorted() == ["README.md", "tiny.gguf"])

            try world.scratch.write("\(hub)/snapshots/1/pytorch_model.bin", [0x80, 2, 0x7D])
            let pickle = try publish(world, snapshot, as: "tiny").expecting(1)
            #expect(pickle.errors.contains("pytorch_model.bin is a Python pickle"), "\(pickle)")
        }

        @Test("of a folder with one model in several formats the others are left out and named")
        func exclusions() throws {
            let world = try started()
            let folder = try folder(
                world,
                "hub",
                of: [
                    ("tiny-Q4.gguf", "\(Self.fixtures)/gguf/tiny_llama.gguf"),
                    ("tiny-Q8.gguf", "\(Self.fixtures)/gguf/tiny_llama.gguf"),
                    ("onnx/model.onnx", "\(Self.fixtures)/onnx/mlp_dynamic_batch.onnx"),
                ]
            )
            let refused = try publish(world, folder, as: "tiny").expecting(1)
            #expect(refused.errors.contains("there are 3 models") && refused.errors.contains("--exclude"))
            let patterns = ["--exclude", "onnx", "--exclude", "*Q8*"]
            let idle = try publish(world, folder, as: "tiny", patterns + ["--exclude", "*.bin"]).expecting(2)
            #expect(idle.errors.contains("--exclude ‘*.bin’ matches nothing in \(folder)"), "\(idle)")
            let published = try publish(world, folder, as: "tiny", patterns).expecting(0)
            for name in ["left out: onnx/", "left out: tiny-Q8.gguf", "license: CC0-1.0"] {
                #expect(published.errors.contains(name), "\(published)")
            }
            let json = try publish(world, folder, as: "tiny", patterns + ["--json"]).expecting(0)
            #expect(json.output.contains(#""left_out":["onnx/","tiny-Q8.gguf"]"#), "\(json)")
            #expect(json.output.contains(#""state":"unchanged""#), "\(json)")
            let installed = Durable.parent(of: try synced(world, "tiny"))
            #expect(try contents(installed).keys.sorted() == ["tiny-Q4.gguf"])
            let inspected = try world.run(["inspect", folder] + patterns).expecting(0)
            #expect(inspected.output.contains("tiny-Q4.gguf"), "\(inspected)")
            let reference = "vision/tiny@1.0.0"
            let same = try world.run(["compat", reference, folder] + patterns).expecting(0)
            #expect(same.output.contains("the same interface"), "\(same)")
            for command in [["inspect", reference], ["compat", reference, reference]] {
                try world.run(command + patterns).expecting(2)
            }
        }

        @Test("several variants are one version, and the device takes the one that its app can use")
        func variants() throws {
            let world = try started()
            let wide = try world.scratch.write("wide.onnx", TestModel.bytes(label: "a", width: 8))
            let narrow = try world.scratch.write("narrow.onnx", TestModel.bytes(label: "b", width: 4))
            let both = ["--variant", "wide=\(wide)", "--variant", "narrow=\(narrow)"]
            let words = ["--model", "vision/detector", "--version", "next", "--channel", "stable"]
            try world.run(["publish"] + both + words).expecting(0)
            for (file, name) in [(wide, "wide"), (narrow, "narrow")] {
                let drafted = try world.run(["inspect", file, "--expectation"]).expecting(0)
                let app = try world.scratch.write("\(name).json", Array(drafted.output.utf8))
                let device = world.scratch.path("device-\(name)")
                let wanted = ["--model", "vision/detector@stable", "--expectation", "vision/detector=\(app)"]
                try world.run(["sync", "--directory", device] + wanted).expecting(0)
                let path = try world.run(["path", "vision/detector", "--directory", device]).expecting(0)
                #expect(path.output.contains("1.0.0-\(name)-"), "\(path)")
                let why = try world.run(["why", "vision/detector", "--directory", device]).expecting(0)
                let chosen = "variant \(name): the first of wide, narrow that can be used here"
                #expect(why.output.contains(chosen), "\(why)")
                #expect(why.output.contains("variant wide: input `x`") == (name == "narrow"), "\(why)")
            }
        }

        @Test("4,096 files are one variant and one more is too many; names that clash are refused")
        func files() throws {
            let world = try started()
            let model = TestModel.bytes(label: "a")
            try world.scratch.write("many/model.onnx", model)
            for index in 1..<4_096 { try world.scratch.write("many/\(index / 100)/\(index).txt", [0x61]) }
            let folder = world.scratch.path("many")
            try publish(world, folder, as: "many").expecting(0)
            let wanted = ["--model", "vision/many@stable"]
            try world.run(["sync", "--directory", world.device] + wanted, within: 120).expecting(0)
            let path = try world.run(["path", "vision/many", "--directory", world.device]).expecting(0).output
            let installed = String(path.dropLast("/model.onnx\n".utf8.count))
            #expect(try contents(installed).count == 4_096)
            try world.scratch.write("many/more.txt", [0x61])
            let refused = try publish(world, folder, as: "many").expecting(1)
            #expect(refused.errors.contains("4096") || refused.errors.contains("4,096"), "\(refused)")

            try world.scratch.write("clash/model.onnx", model)
            try world.scratch.write("clash/Labels.txt", [1])
            try world.scratch.write("clash/labels.txt", [2])
            let clash = try publish(world, world.scratch.path("clash"), as: "clash").expecting(1)
            #expect(clash.errors.lowercased().contains("labels.txt"), "\(clash)")
            #expect(clash.errorLines.count == 1, "\(clash)")
        }

        @Test("class labels are each function's and each output's, and what is not certain is told")
        func classLabels() throws {
            let world = try started()
            let (name, model) = ("two_classifiers.mlpackage", "Data/com.apple.CoreML/model.mlmodel")
            let package = "\(Self.fixtures)/coreml/\(name)"
            let inspected = try world.run(["inspect", package]).expecting(0)
            #expect(inspected.output.contains("  labels: 2 (day, night)\n"), "\(inspected)")
            #expect(inspected.output.contains("  weather labels: 2 (dry, wet)\n"), "\(inspected)")
            for option in ["--json", "--expectation"] {
                let written = try world.run(["inspect", package, option]).expecting(0).output
                let compact = written.filter { !$0.isWhitespace }
                #expect(compact.contains(#""labels":["dry","wet"]"#), "\(written)")
                #expect(compact.contains(#""labels":["day","night"]"#), "\(written)")
            }
            try publish(world, package, as: "light").expecting(0)
            _ = try synced(world, "light")
            for (file, bytes) in try contents(package) {
                let changed = bytes.replacing(Array("wet".utf8), with: Array("fog".utf8))
                try world.scratch.write("\(name)/\(file)", file == model ? changed : bytes)
            }
            let words = ["--model", "vision/light", "--version", "1.0.1", "--channel", "stable"]
            let refused = try world.run(["publish", world.scratch.path(name)] + words).expecting(1)
            #expect(refused.errors.contains("function `weather`, class labels: was `wet`"), "\(refused)")
            #expect(refused.errors.contains("row 26"), "\(refused)")

            let heads = "\(Self.fixtures)/onnx/two_heads.onnx"
            let told = "class labels are not taken: outputs `label1` and `label2` have different ones"
            #expect(try world.run(["inspect", heads]).expecting(0).output.contains("  \(told)"))
            #expect(try world.run(["inspect", heads, "--json"]).expecting(0).output.contains(told))
            for option in ["--expectation", "--card"] {
                #expect(try world.run(["inspect", heads, option]).expecting(0).errors.contains(told))
            }
            let uncertain = try publish(world, heads, as: "heads").expecting(0)
            #expect(uncertain.errors.contains("two_heads.onnx: \(told)"), "\(uncertain)")
            let text = #"{"type":"sealift/card@1","labels":["day","night"]}"#
            let card = try world.scratch.write("labels.json", Array(text.utf8))
            let certain = try publish(world, heads, as: "heads", ["--card", card]).expecting(0)
            #expect(!certain.errors.contains(told), "\(certain)")
        }

        @Test("a card that says other than the files is refused")
        func card() throws {
            let world = try started()
            let cards = [
                (#"{"type":"sealift/card@1","variants":{"default":{"format":"tflite"}}}"#, "tflite"),
                (#"{"type":"sealift/card@1","labels":["one","two"]}"#, "labels"),
                (#"{"type":"sealift/card@1","variants":{"gpu":{"compute":["gpu"]}}}"#, "no variant gpu"),
            ]
            for (text, reason) in cards {
                let card = try world.scratch.write("card.json", Array(text.utf8))
                let model = "\(Self.fixtures)/coreml/nn_classifier.mlmodel"
                let refused = try publish(world, model, as: "classifier", ["--card", card]).expecting(1)
                #expect(refused.errors.contains(reason), "\(refused)")
            }
        }
    }
}
