import Support
import Testing

extension EndToEnd {
    @Suite("Operators", .serialized)
    struct OperatorTests {
        /// A registry with 1.0.0 and 1.1.0 on stable, and a device that has the newer.
        private func twoVersions() throws -> World {
            let world = try World()
            try world.created()
            try world.serve()
            try world.release("1.0.0").expecting(0)
            try world.release("1.1.0").expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0")
            return world
        }

        @Test(
            "a recalled version is left for the newest good one, and used again when the recall is taken back"
        )
        func recall() throws {
            let world = try twoVersions()
            let silent = try world.run(["recall", "vision/detector", "1.1.0", "--yes"]).expecting(2)
            #expect(silent.errors.contains("--reason"))
            let asked = try world.run(["recall", "vision/detector", "1.1.0", "--reason", "bad"]).expecting(2)
            #expect(asked.errors.contains("--yes"), "no terminal to ask at: \(asked)")
            try world.run(["recall", "vision/detector", "1.1.0", "--reason", "bad", "--yes"]).expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
            let why = try world.run(["why", "vision/detector", "--directory", world.device]).expecting(0)
            #expect(why.output.contains("bad"), "\(why)")
            let history = try world.run(["history", "vision/detector"]).expecting(0)
            #expect(history.output.contains("recalled: bad"), "\(history)")
            try world.run(["unyank", "vision/detector", "1.1.0", "--yes"]).expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0")
        }

        @Test("an administrator denies a version above the model's own keys, and lifts it")
        func deny() throws {
            let world = try twoVersions()
            let model = ["deny", "vision/detector", "1.1.0"]
            let stranger = try world.run(model + ["--reason", "x", "--yes", "--key", world.key("vision")])
                .expecting(1)
            #expect(stranger.errors.contains("may not sign targets"), "\(stranger)")
            try world.run(model + ["--reason", "key stolen", "--yes"]).expecting(0)
            let never = try world.run(["deny", "vision/detector", "7.0.0", "--reason", "x", "--yes"])
                .expecting(1)
            #expect(never.errors.contains("7.0.0 was never released"), "\(never)")
            let history = try world.run(["history", "vision/detector"]).expecting(0)
            #expect(history.output.contains("1.1.0  denied by targets: key stolen"), "\(history)")
            let now = try world.run(["history", "vision/detector", "--at", "2999-01-01T00:00:00Z"]).expecting(
                0
            )
            #expect(now.output.contains("but denied by targets"), "\(now)")
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
            try world.run(model + ["--lift", "--yes"]).expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0")

            try world.run(model + ["--team", "--reason", "ours", "--yes"]).expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
        }

        @Test("a yanked version is not newly installed; devices that have it keep it")
        func yank() throws {
            let world = try twoVersions()
            try world.run(["yank", "vision/detector", "1.1.0", "--reason", "labels", "--yes"]).expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0")
            try world.otherDevice("second").expecting(0)
            #expect(try world.activeVersion(on: "second") == "1.0.0")
            let again = try world.run(["yank", "vision/detector", "1.1.0", "--reason", "labels", "--yes"])
            #expect(again.code == 0 && again.output.contains("nothing was changed"), "\(again)")
        }

        @Test("nothing below the floor is newly activated, and what runs stays until something is above it")
        func floor() throws {
            let world = try World()
            try world.created()
            try world.serve()
            try world.release("1.0.0").expecting(0)
            try world.sync().expecting(0)
            let told = try world.run(["floor", "vision/detector", "stable", "1.1.0", "--yes"]).expecting(0)
            #expect(told.output.contains("lists nothing from 1.1.0 on"), "\(told)")
            _ = try world.sync()
            #expect(try world.activeVersion() == "1.0.0", "the old one answers while nothing else can")
            _ = try world.otherDevice("second")
            #expect(try world.activeVersion(on: "second") == nil)
            try world.release("1.1.0").expecting(0)
            try world.otherDevice("second").expecting(0)
            #expect(try world.activeVersion(on: "second") == "1.1.0")
        }

        @Test("a held version is skipped for the next newest, and taken when the hold is lifted")
        func hold() throws {
            let world = try World()
            try world.created()
            try world.serve()
            try world.release("1.0.0").expecting(0)
            try world.release("1.1.0").expecting(0)
            let arguments = [world.registry, "vision/detector", "1.1.0"]
            let long = try world.run(["hold"] + arguments + ["--reason", "crash", "--for", "8d"]).expecting(2)
            #expect(long.errors.contains("7d"))
            let held = try world.run(["hold"] + arguments + ["--reason", "crash reports", "--for", "24h"])
                .expecting(0)
            #expect(held.output.hasPrefix("vision/detector 1.1.0 is held until 2"), "\(held)")
            let list = try world.run(["hold", "list", world.registry]).expecting(0)
            #expect(list.output == held.output)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
            try world.run(["unhold"] + arguments).expecting(0)
            let none = try world.run(["hold", "list", world.registry, "vision/detector"]).expecting(0)
            #expect(none.output == "nothing of vision/detector is held\n")
            let history = try world.run(["history", "vision/detector"]).expecting(0)
            #expect(
                history.output.contains("1.1.0  held until 2")
                    && history.output.contains("1.1.0  no longer held")
            )
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0")
        }

        @Test(
            "channel set brings devices back; channel remove leaves them; rollout and add choose who takes what"
        )
        func channels() throws {
            let world = try twoVersions()
            let set = [
                "channel", "set", "vision/detector", "stable", "1.0.0", "--reason", "regression", "--yes",
            ]
            let shown = try world.run(set + ["--dry-run"]).expecting(0)
            #expect(shown.output.contains("exactly 1.0.0: regression"), "\(shown)")
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0", "a dry run changes nothing")
            try world.run(set).expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
            let history = try world.run(["history", "vision/detector"]).expecting(0)
            #expect(history.output.contains("1.0.0  replaces 1.1.0 on stable: devices go back"), "\(history)")
            let json = try world.run(["history", "vision/detector", "--json"]).expecting(0)
            #expect(json.output.contains(#""kind":"replacing","replaces":["1.1.0"]"#), "\(json)")
            #expect(json.output.contains(#""event":"taken off stable","kind":"unlisted""#), "\(json)")
            try world.run(["channel", "add", "vision/detector", "stable", "1.1.0", "--rollout", "0%"])
                .expecting(0)
            _ = try world.sync()
            #expect(try world.activeVersion() == "1.0.0")
            try world.run(["rollout", "vision/detector", "stable", "1.1.0", "100%"]).expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0")
            try world.run(["channel", "remove", "vision/detector", "stable", "1.1.0", "--yes"]).expecting(0)
            _ = try world.sync()
            #expect(try world.activeVersion() == "1.1.0", "taken off the channel: it stays")
            let unknown = try world.run(["channel", "add", "vision/detector", "stable", "9.0.0"]).expecting(1)
            #expect(unknown.errors.contains("is not released"), "\(unknown)")
            let slip = try world.run(["rollout", "vision/detector", "stabel", "1.1.0", "5%"]).expecting(1)
            #expect(slip.errors.contains("no channel stabel; it has stable"), "\(slip)")
            let new = try world.run(["channel", "add", "vision/detector", "beta", "1.1.0"]).expecting(0)
            #expect(new.output.contains("beta is a new channel of vision/detector; it had stable"), "\(new)")
        }
    }
}
