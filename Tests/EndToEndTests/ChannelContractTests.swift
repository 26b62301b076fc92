import Durable
import Names
import Support
import Testing

extension EndToEnd {
    /// What apps registered counts on the channels on which they live, and before anything is changed.
    @Suite("Contracts of channels", .serialized)
    struct ChannelContractTests {
        private let world: World
        private let other: String

        /// 1.0.0 on stable, and an app that needs its input.
        init() throws {
            world = try World()
            try world.created()
            try world.serve()
            let first = try world.scratch.write("a.onnx", TestModel.bytes(label: "a"))
            other = try world.scratch.write("b.onnx", TestModel.bytes(label: "b", input: "renamed"))
            try world.publish(first, "1.0.0").expecting(0)
            let drafted = try world.run(["inspect", first, "--expectation"]).expecting(0)
            let file = try world.scratch.write("app.json", Array(drafted.output.utf8))
            try world.run(["expectation", "register", "camera", "vision/detector", file]).expecting(0)
        }

        private func publish(_ channel: String, _ extra: [String] = []) throws -> Outcome {
            let words = ["--model", "vision/detector", "--version", "2.0.0", "--channel", channel]
            return try world.run(["publish", other] + words + extra)
        }

        @Test("what nobody lived with on a channel breaks nobody there, and on another channel it does")
        func perChannel() throws {
            try publish("stable").expecting(1)
            let beta = try publish("beta").expecting(0)
            #expect(beta.errors.contains("camera cannot use 2.0.0"), "\(beta)")
            try publish("stable").expecting(1)
            let add = ["channel", "add", "vision/detector", "stable", "2.0.0"]
            let real = try world.run(add).expecting(1)
            #expect(real.errors.contains("breaks apps that registered what they need"), "\(real)")
            try world.run(add + ["--breaks", "camera"]).expecting(0)
            // Where it is already, another share of devices breaks nobody, whichever verb says so.
            try publish("stable", ["--rollout", "50%"]).expecting(0)
            try world.run(["rollout", "vision/detector", "stable", "2.0.0", "60%"]).expecting(0)
        }

        @Test("what would leave an app with nothing on its channel is refused, and a recall only tells")
        func lastOne() throws {
            try publish("stable", ["--breaks", "camera"]).expecting(0)
            let model = "vision/detector"
            for change in [
                ["channel", "remove", model, "stable", "1.0.0", "--yes"],
                ["channel", "set", model, "stable", "2.0.0", "--reason", "new", "--yes"],
                ["floor", model, "stable", "2.0.0", "--yes"],
                ["yank", model, "1.0.0", "--reason", "old", "--yes"],
            ] {
                let dry = try world.run(change + ["--dry-run"]).expecting(1)
                let real = try world.run(change).expecting(1)
                #expect(
                    dry.errors == real.errors && real.errors.contains("--breaks camera"),
                    "\(dry) \(real)"
                )
                #expect(real.errors.contains("camera: can use 1.0.0, and nothing else there"), "\(real)")
                try world.run(change + ["--dry-run", "--breaks", "camera"]).expecting(0)
            }
            try world.run(["channel", "remove", model, "stable", "2.0.0", "--yes"]).expecting(0)
            let recall = ["recall", model, "1.0.0", "--reason", "unsafe", "--yes"]
            let recalled = try world.run(recall).expecting(0)
            #expect(recalled.errors.contains("offers nothing that camera can use"), "\(recalled)")
        }

        @Test("an import is gated as the change would be, also in its dry run and of versions that it brings")
        func imported() throws {
            let model = "vision/detector"
            try publish("beta").expecting(0)
            let third = try world.scratch.write("c.onnx", TestModel.bytes(label: "c", input: "renamed"))
            let brought = ["publish", third, "--model", model, "--version", "3.0.0", "--channel", "stable"]
            let floor = ["floor", model, "stable", "2.0.0"]
            for (index, change) in [["yank", model, "1.0.0", "--reason", "old"], floor, brought].enumerated()
            {
                let file = world.scratch.path("\(index).proposal")
                let named = change == brought ? ["--breaks", "camera"] : ["--yes"]
                try world.run(change + named + ["--out", file]).expecting(0)
                let imported = ["role", "import", file, "--yes"]
                let dry = try world.run(imported + ["--dry-run"]).expecting(1)
                let real = try world.run(imported).expecting(1)
                #expect(dry.errors == real.errors && dry.errors.contains("--breaks camera"), "\(dry) \(real)")
                try world.run(imported + ["--dry-run", "--breaks", "camera"]).expecting(0)
            }
            try world.run(["role", "import", world.scratch.path("2.proposal"), "--yes", "--breaks", "camera"])
                .expecting(0)
        }

        @Test("a dry run is refused as the change would be, and changes nothing")
        func dryRun() throws {
            try publish("beta").expecting(0)
            for change in [
                ["channel", "add", "vision/detector", "stable", "2.0.0"],
                ["channel", "set", "vision/detector", "stable", "2.0.0", "--reason", "new", "--yes"],
            ] {
                let dry = try world.run(change + ["--dry-run"]).expecting(1)
                let real = try world.run(change).expecting(1)
                #expect(dry.errors == real.errors && dry.errors.contains("--breaks camera"), "\(dry) \(real)")
                let named = try world.run(change + ["--dry-run", "--breaks", "camera"]).expecting(0)
                #expect(named.output.contains("nothing was changed"), "\(named)")
            }
            #expect(try publish("stable", ["--dry-run"]).code == 1)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
        }
    }
}
