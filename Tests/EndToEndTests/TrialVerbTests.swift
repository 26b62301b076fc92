import CanonicalJSON
import Glibc
import Support
import Testing

extension EndToEnd {
    /// What an operator and an app do about a version on a device, by the real program.
    @Suite("Trials on the command line", .serialized)
    struct TrialVerbTests {
        private let world: World
        private let device: [String]

        init() throws {
            world = try World()
            try world.created()
            try world.serve()
            device = ["--directory", world.device]
            try publish("1.0.0")
            try sync().expecting(0)
            try world.run(["confirm", "vision/detector"] + device).expecting(0)
            try publish("1.1.0")
        }

        private func publish(_ version: String) throws {
            let file = try world.scratch.write("\(version).onnx", TestModel.bytes(label: version))
            try world.publish(file, version).expecting(0)
        }

        private func sync() throws -> Outcome {
            try world.sync(["--confirm", "vision/detector=2/1h"])
        }

        private func started() throws -> String {
            let command = ["--", "sh", "-c", "echo $SEALIFT_MODEL_VERSION"]
            return try world.run(["run", "vision/detector"] + device + command).expecting(0).output
        }

        @Test("an app that is started again and again and never confirms is back on the version before")
        func crashLoop() throws {
            try sync().expecting(0)
            let status = try world.run(["status"] + device).output
            #expect(
                status.contains("trial: its app has not confirmed it; 0 of 2 starts so far, "),
                "\(status)"
            )
            #expect(status.contains("m left, until ") && !status.contains("stays in any case"), "\(status)")
            try world.stopServing()
            #expect(
                try [started(), started(), started(), started()] == [
                    "1.1.0\n", "1.1.0\n", "1.0.0\n", "1.0.0\n",
                ]
            )
            #expect(try world.run(["status"] + device).output.contains("the fallback of generation 2"))
            try world.serve()
            try sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
            let why = try world.run(["why", "vision/detector"] + device).output
            #expect(
                why.contains("1.1.0 was passed over: quarantined on this device: it was started 2 times"),
                "\(why)"
            )
            #expect(try world.run(["quarantine", "list"] + device).output.contains("vision/detector 1.1.0"))
            try world.run(["quarantine", "clear", "vision/detector"] + device).expecting(0)
            try sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0")
        }

        @Test(
            "a program that cannot be started counts as no start",
            arguments: ["no-such-program", "/dev", "./none"]
        )
        func noProgram(_ program: String) throws {
            try sync().expecting(0)
            for _ in 0..<4 {
                let run = ["run", "vision/detector"] + device + ["--", program]
                let outcome = try world.run(run).expecting(2)
                #expect(outcome.errors.contains("could not run ‘\(program)’"), "\(outcome)")
            }
            #expect(try started() == "1.1.0\n")
        }

        @Test("rollback, pin and unpin do what they say, and gc names what it would delete")
        func operatorVerbs() throws {
            try sync().expecting(0)
            #expect(try world.run(["rollback"] + device).code == 2, "a reason is asked for")
            let rollback = try world.run(["rollback", "--reason", "wrong labels"] + device).expecting(0)
            #expect(rollback.output.contains("1.1.0 was left and is quarantined; 1.0.0 is active now"))
            #expect(try world.activeVersion() == "1.0.0")
            #expect(try world.run(["rollback", "--reason", "again"] + device).code == 1)
            let unknown = try world.run(["pin", "vision/detector", "9.9.9"] + device).expecting(2)
            #expect(unknown.errors.contains("there is no version 9.9.9 of vision/detector"), "\(unknown)")
            try world.run(["pin", "vision/detector", "1.0.0"] + device).expecting(0)
            try publish("1.2.0")
            try sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
            try world.run(["unpin", "vision/detector"] + device).expecting(0)
            try sync().expecting(0)
            #expect(try world.activeVersion() == "1.2.0")
            let plan = try world.run(["gc", "--dry-run", "--retain", "1s"] + device).expecting(0)
            #expect(plan.output.contains("bytes would be free"))
            let none = try world.run(["gc", "--retain", "0s"] + device).expecting(2)
            #expect(none.errors.contains("at least one second"), "\(none)")
            try world.scratch.write("broken.json", Array(#"{"type": "sealift/agent@1", "rat": "1MB"}"#.utf8))
            let broken = ["gc", "--retain", "1s", "--config", world.scratch.path("broken.json")] + device
            #expect(try world.run(broken).expecting(2).errors.contains("‘rat’"))
            try world.run(["gc", "--retain", "1s"] + device).expecting(0)
            try world.run(["verify"] + device).expecting(0)
        }

        @Test("gc keeps versions as long as the device's agent.json says, unless the call says otherwise")
        func retain() throws {
            try sync().expecting(0)
            for version in ["1.2.0", "1.3.0"] {
                try publish(version)
                try sync().expecting(0)
            }
            func plan(_ retain: String, _ arguments: [String] = []) throws -> Outcome {
                let text =
                    #"{"type": "sealift/agent@1", "directory": "\#(world.device)", "retain": "\#(retain)"}"#
                let file = try world.scratch.write("agent-\(retain).json", Array(text.utf8))
                usleep(1_100_000)
                return try world.run(["gc", "--dry-run", "--config", file] + arguments).expecting(0)
            }
            let soon = try plan("1s")
            #expect(soon.output.contains("would delete versions/vision/detector/1.1.0"), "\(soon)")
            #expect(!(try plan("1d").output.contains("versions/")))
            #expect(try plan("1d", ["--retain", "1s"]).output.contains("would delete versions/"))
        }

        @Test("‘path --json’ says in one document what a program needs to open the version")
        func path() throws {
            let path = ["path", "vision/detector"] + device
            let json = try world.run(path + ["--json"]).expecting(0).output
            let value = try JSONParser.parse(Array(json.utf8), maximumLength: 65_536)
            #expect(value["model"]?.string == "vision/detector" && value["version"]?.string == "1.0.0")
            let entry = try #require(value["path"]?.string)
            #expect(try world.run(path).output == "\(entry)\n")
            let directory = try #require(value["directory"]?.string)
            #expect(try world.run(path + ["--dir"]).output == "\(directory)\n")
            #expect(try world.run(path + ["--dir", "--file", "model.onnx"]).code == 2)
            #expect(entry.hasPrefix("\(directory)/") && !directory.contains("current"))
            #expect(value["variant"]?.string != nil && value["manifest"]?.string?.count == 64)
            let status = try world.run(["status", "--json"] + device).output
            #expect(status.contains(value["manifest"]?.string ?? "none"))
        }
    }
}
