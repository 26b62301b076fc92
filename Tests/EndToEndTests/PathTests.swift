import Durable
import Support
import Testing

extension EndToEnd {
    @Suite("The whole path", .serialized)
    struct PathTests {
        @Test("publish, serve, sync, verify, activate, infer, and again with the next version")
        func wholePath() throws {
            let world = try World()
            try world.created()
            try world.serve()
            let first = try world.scratch.write("m1.onnx", TestModel.bytes(label: "1.0.0", padding: 300_000))
            let second = try world.scratch.write("m2.onnx", TestModel.bytes(label: "1.1.0", padding: 300_000))
            try world.publish(first, "1.0.0").expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
            try world.publish(second, "1.1.0").expecting(0)
            #expect(try world.activeVersion() == "1.0.0", "publishing alone changes no device")
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0")

            let status = try world.run(["status", "--directory", world.device]).expecting(0)
            #expect(status.output.contains("log: not checked"))
            let verified = try world.run(["verify", "--directory", world.device]).expecting(0)
            #expect(verified.output.contains("vision/detector"))
            let why = try world.run(["why", "vision/detector", "--directory", world.device]).expecting(0)
            #expect(why.output.contains("1.1.0"))
            let history = try world.run(["history", "vision/detector"]).expecting(0)
            #expect(history.output.contains("1.0.0") && history.output.contains("1.1.0"))
            #expect(try world.stopServing().code == 0)

            // Everything that reads needs no registry.
            #expect(try world.activeVersion() == "1.1.0")
            try world.run(["verify", "--directory", world.device]).expecting(0)
        }

        @Test("the model answers through ONNX Runtime", .enabled(if: Peers.hasRuntime, Peers.noRuntime))
        func inference() throws {
            let world = try World()
            try world.created()
            try world.serve()
            let file = try world.scratch.write("m.onnx", TestModel.bytes(label: "1.0.0"))
            try world.publish(file, "1.0.0").expecting(0)
            try world.sync().expecting(0)
            try world.stopServing()
            let input = try world.scratch.write(
                "input.json",
                Array(#"{"x":{"type":"float32","shape":[4],"data":[0,1,-2.5,100]}}"#.utf8)
            )
            let answer = try world.run(
                ["infer", "vision/detector", "--directory", world.device, "--input", input, "--json"],
                environment: Peers.runtimeEnvironment
            ).expecting(0)
            #expect(answer.output.contains("201"), "2 x 100 + 1: \(answer)")
        }

        @Test("a second sync with nothing new changes nothing and succeeds")
        func nothingNew() throws {
            let world = try World()
            try world.created()
            try world.serve()
            try world.publish(try world.scratch.write("m.onnx", TestModel.bytes(label: "1")), "1.0.0")
                .expecting(0)
            try world.sync().expecting(0)
            let generation = try Durable.destination(ofLink: world.device + "/current")
            try world.sync().expecting(0)
            #expect(try Durable.destination(ofLink: world.device + "/current") == generation)
        }

        @Test("a version whose interface the app cannot use is skipped for the next newest, and why says so")
        func incompatible() throws {
            let world = try World()
            try world.created()
            try world.serve()
            try world.publish(try world.scratch.write("m1.onnx", TestModel.bytes(label: "1")), "1.0.0")
                .expecting(0)
            let other = TestModel.bytes(label: "2", input: "renamed")
            try world.publish(try world.scratch.write("m2.onnx", other), "2.0.0").expecting(0)
            let drafted = try world.run(["inspect", world.scratch.path("m1.onnx"), "--expectation"])
                .expecting(0)
            let file = try world.scratch.write("expectation.json", Array(drafted.output.utf8))
            let expectation = ["--expectation", "vision/detector=\(file)"]
            try world.sync(expectation).expecting(0)
            #expect(try world.activeVersion() == "1.0.0", "the newest that it can use")
            try world.sync(expectation).expecting(3)
            #expect(try world.activeVersion() == "1.0.0")
            let why = try world.run(["why", "vision/detector", "--directory", world.device]).expecting(0)
            #expect(why.output.contains("2.0.0") && why.output.contains("renamed"), "\(why)")
        }

        @Test("a version that is taken is refused, and the same again changes nothing")
        func takenVersion() throws {
            let world = try World()
            try world.created()
            try world.serve()
            let file = try world.scratch.write("m.onnx", TestModel.bytes(label: "1"))
            try world.publish(file, "1.0.0").expecting(0)
            let other = try world.scratch.write("m2.onnx", TestModel.bytes(label: "2"))
            let taken = try world.publish(other, "1.0.0").expecting(1)
            #expect(taken.errorLines.count == 1 && taken.errors.contains("1.0.0"), "\(taken)")
            let again = try world.publish(file, "1.0.0").expecting(0)
            #expect(again.output.contains("nothing was changed"), "\(again)")
        }

        @Test(
            "a card that does not fit the file is refused, and nothing is published",
            arguments: [
                #"{"type":"sealift/card@1","variants":{"fp16":{"compute":["gpu"]}}}"#,
                #"{"type":"sealift/card@1","licence":"MIT"}"#, #"{"type":"sealift/card@2"}"#, "not a card",
            ]
        )
        func unfitCard(card: String) throws {
            let world = try World()
            try world.created()
            try world.serve()
            let file = try world.scratch.write("m.onnx", TestModel.bytes(label: "1"))
            let written = try world.scratch.write("card.json", Array(card.utf8))
            let code: Int32 = card.contains("fp16") ? 1 : 2
            let refused = try world.publish(file, "1.0.0", ["--card", written]).expecting(code)
            #expect(refused.errorLines.count == 1 && refused.errors.contains("card"), "\(refused)")
            #expect(try world.sync().code != 0, "there is nothing to sync")
            try world.publish(file, "1.0.0").expecting(0)
            try world.sync().expecting(0)
        }
    }
}
