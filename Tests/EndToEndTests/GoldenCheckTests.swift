import Checking
import Durable
import Glibc
import Names
import Support
import SyncAgent
import Testing

extension EndToEnd {
    @Suite("Golden vectors end to end", .serialized, .enabled(if: Peers.hasRuntime, Peers.noRuntime))
    struct GoldenCheckTests {
        private let world: World
        private let ort = Peers.runtimeEnvironment
        private let none = ["SEALIFT_ORT_DIR": "/nowhere", "SEALIFT_ORT_LIBRARY": ""]

        init() throws {
            world = try World()
            try world.created()
            try world.serve()
        }

        @discardableResult
        private func checks(_ y: String?, x: String = "[1, 2, 3, 4]", _ rest: String = "") throws -> String {
            let outputs = y.map { ", \"outputs\": {\"y\": \($0)}" } ?? ""
            let text =
                "{\"type\": \"sealift/checks@1\", \"checks\": [{\"name\": \"four\", \"inputs\": {\"x\": \(x)}"
                + "\(outputs)\(rest)}]}"
            return try world.scratch.write("checks.json", Array(text.utf8))
        }

        private func model(_ label: String, width: UInt64 = 4) throws -> String {
            try world.scratch.write("\(label).onnx", TestModel.bytes(label: label, width: width))
        }

        private func publish(
            _ file: String,
            _ version: String,
            _ extra: [String] = [],
            _ environment: [String: String]
        ) throws -> Outcome {
            try world.run(
                [
                    "publish", file, "--model", "vision/detector", "--version", version, "--channel",
                    "stable",
                    "--checks", world.scratch.path("checks.json"),
                ] + extra,
                environment: environment
            )
        }

        @Test(
            "a model that does what is expected of it is published, tried by the device once, and activated"
        )
        func good() throws {
            try checks("[3, 5, 7, 9]")
            let published = try publish(try model("a"), "1.0.0", [], ort).expecting(0)
            #expect(published.errors.contains("variant default: 1 golden vector reproduced with onnxruntime"))
            let synced = try world.sync(environment: ort).expecting(0)
            #expect(synced.output.contains("its 1 golden vector reproduced with onnxruntime"), "\(synced)")
            #expect(try world.activeVersion() == "1.0.0")
            let again = try world.sync(environment: none).expecting(0)
            #expect(!again.description.contains("not run"), "they are not run at every sync: \(again)")
            let status = try world.run(["status", "--directory", world.device]).expecting(0)
            #expect(status.output.contains("golden vector reproduced with onnxruntime"), "\(status)")
            let loaded = try world.scratch.write("input.json", Array(#"{"x": [1, 2, 3, 4]}"#.utf8))
            let infer = ["infer", "vision/detector", "--directory", world.device, "--input", loaded]
            #expect(try world.run(infer, environment: ort).expecting(0).output.contains("[3.0,5.0,7.0,9.0]"))
        }

        @Test("a model that does not is not published, and it is said which element is wrong by how much")
        func wrong() throws {
            try checks("[3, 5, 7, 9.5]")
            for extra in [[], ["--dry-run"], ["--out", world.scratch.path("p.proposal")]] as [[String]] {
                let refused = try publish(try model("a"), "1.0.0", extra, ort).expecting(1)
                let expected =
                    "check 0: the output 'y' is 9.0 at element 3, expected 9.5 within 1e-05 + 0.001 × it; 1 of 4 differ"
                #expect(refused.errors.contains(expected), "\(refused)")
            }
            #expect(try Durable.kind(of: world.scratch.path("p.proposal")) == nil)
            try world.sync(environment: ort).expecting(3)
            try checks("[3, 5, 7, 9.5]", #", "absolute": 0.6"#)
            try publish(try model("a"), "1.0.0", [], ort).expecting(0)
        }

        @Test("what fits no input, or is no check, is refused before anything is uploaded")
        func unfit() throws {
            for (x, text) in [("[1, 2]", "dimension 0 of the input 'x' is 2"), ("{}", "has no data")] {
                try checks("[3, 5, 7, 9]", x: x)
                let refused = try publish(try model("a"), "1.0.0", [], ort).expecting(2)
                #expect(refused.errors.contains(text), "\(refused)")
            }
            for document in ["{}", "", #"{"type": "sealift/checks@1", "checks": [{"inputs": {"x": [1, 2,"#] {
                try world.scratch.write("checks.json", Array(document.utf8))
                try publish(try model("a"), "1.0.0", [], ort).expecting(2)
            }
        }

        @Test("what is too long to be an input is one of the command, and says nothing about the model")
        func tooLong() throws {
            try world.scratch.write("checks.json", [])
            try #require(truncate(world.scratch.path("checks.json"), 17 << 20) == 0)
            let refused = try publish(try model("a"), "1.0.0", [], ort).expecting(2)
            #expect(refused.errors.contains("is longer than the"), "\(refused)")
            try checks("[3, 5, 7, 9]")
            try publish(try model("a"), "1.0.0", [], ort).expecting(0)
            try world.sync(environment: ort).expecting(0)
            let long = world.scratch.path("long.json")
            try world.scratch.write("long.json", [])
            try #require(truncate(long, 17 << 20) == 0)
            let infer = ["infer", "vision/detector", "--directory", world.device, "--input"]
            try world.run(infer + [long], environment: ort).expecting(2)
            try publish(try model("a"), "1.0.1", ["--card", long], ort).expecting(2)
        }

        @Test("the same again with outputs that the model itself gave is the version that it was")
        func recordedAgain() throws {
            try checks(nil)
            for _ in 0..<3 {
                let published = try publish(try model("a"), "next", [], ort).expecting(0)
                #expect(published.output.contains("1.0.0"), "\(published)")
            }
        }

        @Test("a version that fails on the device is quarantined, tells why, and the old one answers")
        func quarantine() throws {
            try checks("[3, 5, 7, 9]")
            try publish(try model("a"), "1.0.0", [], none).expecting(0)
            try world.sync(environment: ort).expecting(0)
            try checks("[3, 5, 7, 10]")
            let untried = try publish(try model("b"), "1.1.0", [], none).expecting(0)
            #expect(untried.errors.contains("1 golden vector not run, since no ONNX Runtime was found"))
            let refused = try world.sync(["--json"], environment: ort).expecting(1)
            #expect(refused.output.contains(#""code":"checks-failed""#), "\(refused)")
            #expect(try world.activeVersion() == "1.0.0")
            for command in [
                ["status", "--directory", world.device],
                ["why", "vision/detector", "--directory", world.device],
                ["quarantine", "list", "--directory", world.device],
            ] {
                let told = try world.run(command).expecting(0)
                #expect(told.output.contains("is 9.0 at element 3, expected 10.0"), "\(told)")
            }
            let later = try world.sync(environment: ort).expecting(0)
            #expect(later.output.contains("1.1.0 was passed over: quarantined"), "\(later)")
            try checks("[3, 5, 7, 9]")
            try publish(try model("c"), "1.2.0", [], ort).expecting(0)
            try world.sync(environment: ort).expecting(0)
            #expect(try world.activeVersion() == "1.2.0")
        }

        @Test(
            "outputs that are left out are recorded from the model, and that is told; without a runtime they must be written"
        )
        func recorded() throws {
            try checks(nil)
            let refused = try publish(try model("a"), "1.0.0", [], none).expecting(2)
            #expect(refused.errors.contains("has no outputs, and no ONNX Runtime was found"), "\(refused)")
            let published = try publish(try model("a"), "1.0.0", [], ort).expecting(0)
            #expect(published.errors.contains("were recorded from the model itself with onnxruntime"))
            try world.sync(environment: ort).expecting(0)
            // What was recorded of another model with the same ports is not what this one gives.
            try publish(try model("a"), "1.0.0", [], ort).expecting(0)
        }

        @Test("the library that tries them can be named, and one that is refused is told with its reason")
        func named() throws {
            try checks("[3, 5, 7, 9]")
            let wrong = ["SEALIFT_ORT_LIBRARY": "/nowhere/libonnxruntime.so"]
            let untried = try publish(try model("a"), "1.0.0", [], wrong).expecting(0)
            #expect(untried.errors.contains("/nowhere/libonnxruntime.so is refused"), "\(untried)")
            let missing = ["--runtime-library", "/nowhere/libonnxruntime.so"]
            for more in [[], ["--runtime", "onnxruntime=1.24.1"]] as [[String]] {
                let dry = try world.sync(missing + more + ["--dry-run"], environment: ort).expecting(0)
                #expect(dry.errors.contains("/nowhere/libonnxruntime.so is refused"), "\(dry)")
            }
            let library = try #require(Peers.runtimeLibrary)
            let synced = try world.sync(["--runtime-library", library], environment: none).expecting(0)
            #expect(synced.output.contains("golden vector reproduced with onnxruntime"), "\(synced)")
        }

        @Test("golden vectors of a card are tried as those of --checks are")
        func ofCard() throws {
            let file = try model("a")
            func published(_ y: String) throws -> Outcome {
                let x = "AACAPwAAAEAAAEBAAACAQA=="
                let check = #"{"inputs": {"x": {"base64": "\#(x)"}}, "outputs": {"y": {"base64": "\#(y)"}}}"#
                let text = #"{"type": "sealift/card@1", "checks": [\#(check)]}"#
                let card = try world.scratch.write("card.json", Array(text.utf8))
                let words = ["--model", "vision/detector", "--version", "1.0.0", "--card", card]
                return try world.run(["publish", file] + words, environment: ort)
            }
            let refused = try published("AABAQAAAoEAAAOBAAAAYQQ==").expecting(1)
            #expect(refused.errors.contains("is 9.0 at element 3, expected 9.5"), "\(refused)")
            let taken = try published("AABAQAAAoEAAAOBAAAAQQQ==").expecting(0)
            #expect(taken.errors.contains("1 golden vector reproduced with onnxruntime"), "\(taken)")
        }

        @Test("outputs of a model of another format are not recorded, and no runtime is said to help")
        func recordedOfNone() throws {
            let text = #"{"type": "sealift/checks@1", "checks": [{"inputs": {"features": [[1, 2, 3, 4]]}}]}"#
            try world.scratch.write("checks.json", Array(text.utf8))
            let fixture = "\(Readme.project)/Tests/Fixtures/models/tflite/mlp_signature.tflite"
            let refused = try publish(fixture, "1.0.0", [], ort).expecting(2)
            #expect(refused.errors.contains("since none of tflite can be run here"), "\(refused)")
            #expect(!refused.errors.contains("ONNX Runtime"), "\(refused)")
        }

        @Test("large tensors are files of the version, and are found again on the device")
        func large() throws {
            let x = "[" + (0..<5_000).map(String.init).joined(separator: ",") + "]"
            let y = "[" + (0..<5_000).map { String($0 * 2 + 1) }.joined(separator: ",") + "]"
            try checks(y, x: x)
            let temporary = world.scratch.path("tmp")
            try Durable.makeDirectory(temporary)
            let environment = ort.merging(["TMPDIR": temporary]) { $1 }
            try publish(try model("a", width: 5_000), "1.0.0", [], environment).expecting(0)
            #expect(try Durable.names(in: temporary).isEmpty, "nothing is left behind")
            let synced = try world.sync(environment: ort).expecting(0)
            #expect(synced.output.contains("golden vector reproduced"), "\(synced)")
            let path = try world.run(["path", "vision/detector", "--directory", world.device]).expecting(0)
            let folder = Durable.parent(of: String(path.output.prefix { $0 != "\n" })) + "/sealift-checks"
            #expect(try Durable.names(in: folder).count == 2)
        }

        @Test("co-signers read that a version has golden vectors, and they are published with it")
        func several() throws {
            try checks("[3, 5, 7, 9]")
            let file = world.scratch.path("release.proposal")
            try publish(try model("a"), "1.0.0", ["--out", file], ort).expecting(0)
            let signing = try world.run(["role", "sign", file, "--yes", "--key", world.key("vision")])
            #expect(
                signing.errors.contains("vision/detector 1.0.0 must reproduce 1 golden vector"),
                "\(signing)"
            )
            try world.run(["role", "import", file, "--yes"]).expecting(0)
            let synced = try world.sync(environment: ort).expecting(0)
            #expect(synced.output.contains("golden vector reproduced"), "\(synced)")
        }

        @Test(
            "a model that hangs, or takes more memory than it may, is ended, quarantined, and the device lives on",
            arguments: [true, false]
        )
        func hard(_ isEndless: Bool) async throws {
            try checks("[3, 5, 7, 9]")
            try publish(try model("a"), "1.0.0", [], none).expecting(0)
            try world.sync(environment: ort).expecting(0)
            let bytes = isEndless ? HardModel.endless() : HardModel.enormous()
            let file = try world.scratch.write("hard.onnx", bytes)
            try publish(file, "1.1.0", [], none).expecting(0)
            var configuration = try world.syncConfiguration()
            configuration.checkProgram = world.program
            let library = try #require(Peers.runtimeLibrary)
            configuration.runtimeLibrary = library
            configuration.checkLimits.seconds = 8
            let report = try await SyncAgent(configuration: configuration).sync()
            #expect(report.exitCode == 1, "\(report)")
            let failure = try #require(report.models[0].failure)
            #expect(failure.code == "checks-failed", "\(failure)")
            if isEndless {
                #expect(
                    failure.message.contains("did not end") || failure.message.contains("too much time"),
                    "\(failure)"
                )
            }
            #expect(try world.activeVersion() == "1.0.0")
        }
    }
}
