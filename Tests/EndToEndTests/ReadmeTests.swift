import Durable
import Glibc
import Inference
import ModelLibrary
import ModelRuntimes
import Names
import Support
import SyncAgent
import Testing

extension EndToEnd {
    /// The README's commands are run as they stand there, so that it and the program cannot part.
    @Suite("The README", .serialized)
    struct ReadmeTests {
        private let readme: Readme
        private let terminal: Terminal
        private var scratch: Scratch { terminal.world.scratch }

        init() throws {
            readme = try Readme("From nothing to a model that runs")
            terminal = try Terminal()
        }

        /// Runs the lines of a block that ends with serving.
        ///
        /// - Returns: The server, and the port that it chose.
        private func serve(_ block: [String], _ adapt: (String) -> String = { $0 }) throws -> (Child, String)
        {
            let lines = block.map(adapt)
            for line in lines.dropLast() { try terminal.run(line) }
            let line = try #require(lines.last)
            #expect(line.hasPrefix("sealift serve "))
            let server = try terminal.start(line, ["SEALIFT_LISTEN": "127.0.0.1:0"])
            let address = try server.waits(30, for: "address") { $0.hasSuffix("/\n") ? $0 : nil }
            let port = address.split(separator: ":").last?.dropLast(2)
            return (server, String(try #require(port)))
        }

        /// Runs the README's first two blocks.
        ///
        /// - Returns: The server, and what the commands after them need because it is not on its usual port.
        private func synced() throws -> (Child, [String: String]) {
            let blocks = readme.blocks("sh")
            try #require(blocks.count == 4)
            let model = try #require(readme.spans("python3 Tests/").first)
            try terminal.run(model.replacing("Tests/", with: "\(Readme.project)/Tests/"))
            let (server, port) = try serve(blocks[0])
            let variables = ["SEALIFT_REGISTRY": "https://localhost:\(port)/"]
            var last: Outcome?
            for line in blocks[1] { last = try terminal.run(line, variables) }
            let path = try #require(last).output.split(separator: "\n").first
            #expect(
                try Durable.readFile(String(try #require(path)), maximum: .mebibytes(1))
                    == scratch.read("detector.onnx"),
                "the path leads to what was published"
            )
            return (server, variables)
        }

        @Test(
            "its commands lead from nothing to a model on a device, and answer what they are there to answer"
        )
        func commands() throws {
            let (server, variables) = try synced()
            let checks = try #require(readme.spans(#"{"type": "sealift/checks@1""#).first)
            try scratch.write("checks.json", Array(checks.utf8))
            let commands = readme.tableCommands.filter { !$0.hasPrefix("sealift infer ") }
            #expect(commands.count >= 7)
            for command in commands { try terminal.run(command, variables) }
            server.signal(SIGINT)
            #expect(try server.finished(within: 20).code == 0, "Ctrl-C ends it")
        }

        @Test(
            "the model runs, from the command line and from Python",
            .enabled(if: Peers.hasRuntime, Peers.noRuntime)
        )
        func inference() throws {
            let (_, variables) = try synced()
            let environment = variables.merging(Peers.runtimeEnvironment) { $1 }
            try scratch.write("input.json", Array(try #require(readme.spans(#"{"x""#).first).utf8))
            let command = try #require(readme.tableCommands.first { $0.hasPrefix("sealift infer ") })
            #expect(try terminal.run(command, environment).output.contains("[3.0,5.0,7.0,9.0]"))

            let program =
                try #require(readme.blocks("python").first).joined(separator: "\n") + "\nprint(model.version)"
            try scratch.write("program.py", Array(program.utf8))
            let modules = ["PYTHONPATH": Readme.project + "/Sources/SealiftPython"]
            let python = try #require(Peers.python)
            #expect(try terminal.run("'\(python)' program.py", modules).output.contains("1.0.0"))
        }

        @Test("a device on another machine needs the two files and the address, and nothing else")
        func anotherMachine() throws {
            let blocks = readme.blocks("sh")
            try #require(blocks.count == 4)
            let other = "127.0.0.2"
            let (server, port) = try serve(blocks[2]) {
                $0.replacing("models.example.com", with: other).replacing(":8443", with: ":0")
            }
            try scratch.write("detector.onnx", TestModel.bytes(label: "1"))
            try terminal.run(
                try #require(blocks[1].first),
                ["SEALIFT_REGISTRY": "https://localhost:\(port)/"]
            )
            for file in ["root.json", "ca.pem"] {
                try scratch.write("far/\(file)", scratch.read(".config/sealift/\(file)"))
            }
            for line in blocks[3] {
                try terminal.run(
                    line.replacing("models.example.com:8443", with: "\(other):\(port)"),
                    in: "far"
                )
            }
            #expect(try Durable.kind(of: scratch.path("far/models/current/vision/detector")) != nil)
            server.signal(SIGTERM)
            #expect(try server.finished(within: 20).code == 0)
        }

        @Test("its Swift compiles: it stands in this file too")
        func swift() throws {
            let bytes = try Durable.readFile("\(#filePath)", maximum: .mebibytes(1))
            let own = trimmed(String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init))
            #expect(readme.blocks("swift").count == 1)
            for block in readme.blocks("swift") {
                let imports = block.prefix { $0.hasPrefix("import ") }
                #expect(imports.count == 4)
                for line in imports { #expect(own.contains(line), "\(line)") }
                #expect(own.contains(trimmed(Array(block.dropFirst(imports.count)))), "\(block)")
            }
        }

        private func trimmed(_ lines: [String]) -> String {
            lines.map { $0.split(separator: " ").joined(separator: " ") }.joined(separator: "\n")
        }

        /// Never called: that it compiles is what matters.
        private func answer() async throws -> (SyncReport, [Float]?) {
            var device = SyncConfiguration(
                directory: "models",
                registries: ["https://models.example.com:8443/"],
                rootFile: "root.json",
                models: [try WantedModel("vision/detector@stable")]
            )
            // The private authority that `sealift init` made; without it the system's count.
            device.caFile = "ca.pem"
            let report = try await SyncAgent(configuration: device).sync()

            let library = ModelLibrary(directory: "models", runtimes: [try await ONNXRuntime()])
            let answer = try await library.withModel(ModelRequest("vision/detector")) { model in
                try await model.run(["x": try Tensor([Float(1), 2, 3, 4], shape: [4])])
            }
            let numbers = try answer["y"]?.tensor?.values(as: Float.self)
            return (report, numbers)
        }
    }
}
