import CanonicalJSON
import Durable
import Glibc
import Names
import Support
import Testing

extension EndToEnd {
    /// What a person who looks at a model by `infer` is told, and what that leaves behind.
    @Suite("Infer on the command line", .serialized, .enabled(if: Peers.hasRuntime, Peers.noRuntime))
    struct InferTests {
        private let world: World
        private let device: [String]
        private let input: String

        init() throws {
            world = try World()
            try world.created()
            try world.serve()
            device = ["--directory", world.device]
            input = try world.scratch.write("input.json", Array(#"{"x":[1,2,3,4]}"#.utf8))
            try publish("1.0.0")
            try world.sync().expecting(0)
        }

        private func publish(_ version: String) throws {
            let file = try world.scratch.write("\(version).onnx", TestModel.bytes(label: version))
            try world.publish(file, version).expecting(0)
        }

        private func infer(_ arguments: [String]) throws -> Outcome {
            try world.run(
                ["infer", "vision/detector"] + device + arguments,
                environment: Peers.runtimeEnvironment
            )
        }

        private func document(_ outcome: Outcome) throws -> JSONValue {
            let bytes = Array(outcome.output.utf8).dropLast()
            // The numbers of outputs have fractions, which signed documents have not.
            let whole = String(decoding: bytes, as: UTF8.self).replacing(/\.0([,\]])/) { $0.output.1 }
            return try JSONParser.parse(Array(whole.utf8), maximumLength: bytes.count)
        }

        @Test("the version that answered is named, in text and as JSON")
        func version() throws {
            let text = try infer(["--input", input]).expecting(0)
            #expect(text.output.contains(#"{"y":{"data":[3.0,5.0,7.0,9.0]"#), "\(text)")
            #expect(text.errors.contains("vision/detector 1.0.0 (default)"), "\(text)")
            let json = try document(try infer(["--input", input, "--json"]).expecting(0))
            #expect(json["model"]?.string == "vision/detector" && json["version"]?.string == "1.0.0")
            #expect(json["variant"]?.string == "default" && json["passed_over"]?.array?.isEmpty == true)
            #expect(json["outputs"]?["y"]?["data"]?.array?.compactMap(\.integer) == [3, 5, 7, 9])
        }

        @Test("‘-’ reads the inputs from standard input, as much as a file may hold")
        func standardInput() throws {
            let infer = "'\(world.program)' infer vision/detector --input -"
            let folder = try #require(Peers.runtimeFolder)
            let given = try world.shell("SEALIFT_ORT_DIR='\(folder)' \(infer) < '\(input)'")
                .finished(within: 60).expecting(0)
            #expect(given.output.contains(#"{"y":{"data":[3.0,5.0,7.0,9.0]"#), "\(given)")
            let endless = try world.shell("\(infer) < /dev/zero").finished(within: 60)
            #expect(endless.code != 0 && endless.errors.contains("standard input"), "\(endless)")
        }

        @Test("an active version that does not work is named with its reason, and the exit code is 3")
        func fallback() throws {
            // An operation that no runtime has.
            let bytes = TestModel.bytes(label: "1.1.0").replacing(Array("Mul".utf8), with: Array("Nil".utf8))
            #expect(bytes != TestModel.bytes(label: "1.1.0"))
            try world.publish(try world.scratch.write("1.1.0.onnx", bytes), "1.1.0").expecting(0)
            try world.sync().expecting(0)
            let text = try infer(["--input", input]).expecting(3)
            #expect(text.output.contains("[3.0,5.0,7.0,9.0]"), "\(text)")
            #expect(text.errors.contains("vision/detector 1.1.0"), "\(text)")
            #expect(text.errors.contains("1.0.0, the version before it, answered"), "\(text)")
            let json = try document(try infer(["--input", input, "--json"]).expecting(3))
            #expect(json["version"]?.string == "1.0.0")
            #expect(json["passed_over"]?.array?.first?["version"]?.string == "1.1.0")
            #expect(json["passed_over"]?.array?.first?["reason"]?.string?.isEmpty == false)
        }

        @Test("looking as often as one likes loses no trial and confirms none")
        func trial() throws {
            try publish("1.1.0")
            try world.sync(["--confirm", "vision/detector=2/24h"]).expecting(0)
            let wrong = try world.scratch.write("wrong.json", Array("{}".utf8))
            for _ in 0..<4 {
                try infer(["--input", wrong]).expecting(2)
                try infer(["--input", input]).expecting(0)
            }
            #expect(try world.activeVersion() == "1.1.0")
            let status = try world.run(["status"] + device).output
            #expect(status.contains("trial: its app has not confirmed it"), "\(status)")
        }

        @Test("a record is kept, and nothing else is replaced by one")
        func record() throws {
            let record = world.scratch.path("library.json")
            for _ in 0..<3 { try infer(["--input", input, "--record", record]).expecting(0) }
            let status = try world.run(["library", "status", "--record", record, "--suggest"]).expecting(0)
            #expect(status.output.contains("vision/detector: 3 requests, 3 loads"), "\(status)")
            #expect(!status.output.contains("pin"), "each run must load it once: \(status)")
            let precious = try world.scratch.write("precious.txt", Array("hello".utf8))
            let refused = try infer(["--input", input, "--record", precious]).expecting(2)
            #expect(refused.output.isEmpty && refused.errors.contains("no record of a library"), "\(refused)")
            #expect(try world.scratch.read("precious.txt") == Array("hello".utf8))
            #expect(try infer(["--input", input, "--record", "/dev/full"]).code != 0)
            #expect(try Durable.kind(of: "/dev/full") == .other, "it is what it was")
            #expect(try infer(["--input", input, "--record", "/nowhere/library.json"]).code != 0)
            #expect(try world.run(["library", "status", "--record", precious]).code == 2)
        }
    }
}
