import Durable
import Names
import Signing
import Support
import Testing

extension EndToEnd {
    @Suite("Contracts", .serialized)
    struct ContractTests {
        private func started() throws -> World {
            let world = try World()
            try world.created()
            try world.serve()
            return world
        }

        private func model(_ world: World, _ label: String, input: String = "x") throws -> String {
            try world.scratch.write("\(label).onnx", TestModel.bytes(label: label, input: input))
        }

        private func expectation(_ world: World, _ model: String) throws -> String {
            let drafted = try world.run(["inspect", model, "--expectation"]).expecting(0)
            return try world.scratch.write("expectation.json", Array(drafted.output.utf8))
        }

        @Test("next takes the smallest step, and too small a step is refused with the row and what would do")
        func steps() throws {
            let world = try started()
            let first = try model(world, "a")
            #expect(try world.publish(first, "0.0.1").expecting(1).errors.contains("at least 0.1.0"))
            #expect(try world.publish(first, "next").expecting(0).output.contains("1.0.0"))
            #expect(try world.publish(try model(world, "b"), "next").expecting(0).output.contains("1.0.1"))
            let other = try model(world, "c", input: "renamed")
            let refused = try world.publish(other, "1.1.0").expecting(1)
            #expect(refused.errors.contains("publish it as 2.0.0"), "\(refused)")
            #expect(refused.errors.contains("input `x` is gone (row 2, "), "\(refused)")
            #expect(try world.publish(other, "next").expecting(0).output.contains("2.0.0"))
        }

        @Test("a signed interface that the file does not have is refused on the device, and the old stays")
        func falseInterface() async throws {
            let world = try started()
            try world.publish(try model(world, "a"), "1.0.0").expecting(0)
            try world.sync().expecting(0)
            let other = try model(world, "b", input: "renamed")
            let released = ["publish", other, "--model", "vision/detector", "--version", "2.0.0"]
            try world.run(released).expecting(0)
            try await FalseInterface(world).publish("1.1.0", filesOf: "2.0.0", interfaceOf: "1.0.0")
            let refused = try world.sync().expecting(1)
            #expect(refused.errors.contains("not those of the signed manifest"), "\(refused)")
            #expect(try world.activeVersion() == "1.0.0")
            try world.run(["verify", "--directory", world.device]).expecting(0)
            let why = try world.run(["why", "vision/detector", "--directory", world.device]).expecting(0)
            #expect(why.output.contains("1.1.0"), "\(why)")
        }

        @Test(
            "the device takes the newest version that fits its app and its runtime, and says why not the others"
        )
        func newestUsable() throws {
            let world = try started()
            let first = try model(world, "a")
            let app = try expectation(world, first)
            try world.publish(first, "1.0.0").expecting(0)
            let newer = TestModel.bytes(label: "b", operators: 40)
            try world.publish(try world.scratch.write("b.onnx", newer), "1.1.0").expecting(0)
            try world.publish(try model(world, "c", input: "renamed"), "2.0.0").expecting(0)
            let runtime = ["--runtime", "onnxruntime=1.24.1", "--expectation", "vision/detector=\(app)"]
            try world.sync(runtime).expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
            let why = try world.run(["why", "vision/detector", "--directory", world.device]).expecting(0)
            let lines = why.output.split(separator: "\n")
            let head = try #require(lines.firstIndex { $0.contains("2.0.0 was passed over:") }, "\(why)")
            #expect(lines[head...].contains { $0.contains("input `x`") }, "\(why)")
            #expect(lines.allSatisfy { $0.count < 240 }, "each reason has a line of its own: \(why)")
            let reason = "onnxruntime 1.24.1, which has 25, the model needs 40"
            #expect(lines.contains { $0.contains("1.1.0") && $0.contains(reason) }, "\(why)")
            let wanted = ["compat", "--expectation", app, "vision/detector@1.1.0", "--here"]
            let refused = try world.run(wanted + ["--runtime", "onnxruntime=1.24.1"]).expecting(1)
            #expect(refused.output.contains("not runnable here"), "\(refused)")

            // The runtime that `infer` would use is found by itself.
            let folder = try world.scratch.write("ort/libonnxruntime.so.1.23.2", [0])
            let found = try world.sync(
                ["--dry-run", "--expectation", "vision/detector=\(app)"],
                environment: ["SEALIFT_ORT_LIBRARY": folder]
            ).expecting(3)
            #expect(
                found.output.contains("1.1.0 was passed over") && found.output.contains("1.23.2"),
                "\(found)"
            )
        }

        @Test("an app that registered its needs is not broken, unless it is named")
        func registered() throws {
            let world = try started()
            let first = try model(world, "a")
            try world.publish(first, "next").expecting(0)
            let file = try expectation(world, first)
            try world.run(["expectation", "register", "camera", "vision/detector", file]).expecting(0)
            let listed = try world.run(["expectation", "list", "vision/detector"]).expecting(0)
            #expect(listed.output.contains("camera"), "\(listed)")
            // The same again is the same version, as often as CI says it.
            let repeated = try world.publish(first, "next").expecting(0)
            #expect(repeated.output.contains("1.0.0 is published already"), "\(repeated)")
            let other = try model(world, "b", input: "renamed")
            let refused = try world.publish(other, "next").expecting(1)
            #expect(refused.errors.contains("--breaks camera"), "\(refused)")
            let only = ["publish", other, "--model", "vision/detector", "--version", "2.0.0"]
            try world.run(only + ["--breaks", "camera"]).expecting(0)
            let added = try world.run(["channel", "add", "vision/detector", "stable", "2.0.0"]).expecting(1)
            #expect(added.errors.contains("breaks apps that registered what they need"), "\(added)")
            #expect(added.errorLines.contains { $0.hasSuffix("camera:") }, "\(added)")
            #expect(refused.errors.contains("input `renamed`"), "\(refused)")
            try world.publish(other, "next", ["--breaks", "stranger"]).expecting(1)
            let published = try world.publish(other, "next", ["--breaks", "camera"]).expecting(0)
            #expect(published.output.contains("2.0.0"), "\(published)")
            let again = try world.publish(try model(world, "c", input: "renamed"), "next").expecting(0)
            #expect(again.output.contains("2.0.1"), "what the app could not use before stops nobody")
            let note = "camera cannot use 2.0.1, and could not use 2.0.0 either"
            #expect(again.errors.contains(note), "\(again)")
            try world.run(["expectation", "remove", "camera", "vision/detector"]).expecting(0)
            let empty = try world.run(["expectation", "list", "--json"]).expecting(0)
            #expect(empty.output == #"{"expectations":[]}"# + "\n")
        }

        @Test("compat says in a table what does not fit, for files and for published versions")
        func compat() throws {
            let world = try started()
            let first = try model(world, "a")
            let other = try model(world, "b", input: "renamed")
            let file = try expectation(world, first)
            let fits = try world.run(["compat", "--expectation", file, first]).expecting(0)
            #expect(fits.output.contains("compatible"))
            let refused = try world.run(["compat", "--expectation", file, other]).expecting(1)
            #expect(refused.output.contains("incompatible") && refused.output.contains("what to do"))
            let none = ["SEALIFT_ORT_LIBRARY": "", "SEALIFT_ORT_DIR": world.scratch.path]
            let here = try world.run(["compat", "--expectation", file, first, "--here"], environment: none)
            #expect(try here.expecting(1).output.contains("nobody could ask whether it runs here"), "\(here)")
            let named = ["compat", "--expectation", file, first, "--runtime", "onnxruntime=1.24.1"]
            #expect(try world.run(named).expecting(0).output.contains("compatible"))
            let old = Array(named.dropLast()) + ["onnxruntime=1.0.0"]
            #expect(try world.run(old).expecting(1).output.contains("not runnable here"))
            let malformed = try world.scratch.write("bad.json", Array(#"{"foo": 1}"#.utf8))
            let mistake = try world.run(["compat", "--expectation", malformed, first]).expecting(2)
            #expect(mistake.errors.contains("bad.json") && !mistake.errors.contains("did you mean"))
            let json = try world.run(["compat", "--expectation", file, other, "--json"]).expecting(1)
            #expect(json.output.contains(#""verdict":"incompatible""#), "\(json)")
            try world.publish(first, "1.0.0").expecting(0)
            for wanted in ["vision/detector@1.0.0", "vision/detector@stable"] {
                let published = try world.run(["compat", "--expectation", file, wanted]).expecting(0)
                #expect(published.output.contains("vision/detector 1.0.0"), "\(published)")
            }
        }

        @Test("two models are compared, files and published ones, with the version that the change asks for")
        func comparison() throws {
            let world = try started()
            let first = try model(world, "a")
            let other = try model(world, "b", input: "renamed")
            try world.publish(first, "1.0.0").expecting(0)
            try world.publish(other, "2.0.0").expecting(0)
            let files = try world.run(["compat", first, other]).expecting(0)
            #expect(files.output.contains("2 changes, a major step\n"), "\(files)")
            #expect(files.output.contains("input `x` is gone"), "\(files)")
            let mixed = try world.run(["compat", "vision/detector@1.0.0", other]).expecting(0)
            #expect(mixed.output.contains("a major step, 2.0.0 or higher"), "\(mixed)")
            let versions = ["compat", "vision/detector@1.0.0", "vision/detector@stable", "--json"]
            let json = try world.run(versions).expecting(0)
            #expect(json.output.contains(#""next":"2.0.0""#) && json.output.contains(#""row":2"#), "\(json)")
            let same = try world.run(["compat", first, "vision/detector@1.0.0"]).expecting(0)
            #expect(same.output.contains("the same interface, a patch step"), "\(same)")

            // What publish counts, compat counts: here what a runtime must have.
            let later = TestModel.bytes(label: "d", input: "renamed", operators: 21)
            let raised = try world.scratch.write("raised.onnx", later)
            let needs = try world.run(["compat", "vision/detector@2.0.0", raised]).expecting(0)
            #expect(needs.output.contains("a minor step, 2.1.0 or higher"), "\(needs)")
            #expect(needs.output.contains("operators of ai.onnx, 13 became 21"), "\(needs)")
            #expect(try world.publish(raised, "2.0.1").expecting(1).errors.contains("2.1.0"))
            let pair = ["--variant", "one=\(first)", "--variant", "two=\(other)", "--version", "3.0.0"]
            try world.run(["publish", "--model", "vision/detector"] + pair).expecting(0)
            let fewer = try world.run(["compat", "vision/detector@3.0.0", other]).expecting(0)
            #expect(fewer.output.contains("a major step, 4.0.0 or higher"), "\(fewer)")
            #expect(try world.publish(other, "3.0.1").expecting(1).errors.contains("4.0.0"))
            let both = ["compat", first, other, "--expectation", try expectation(world, first)]
            #expect(try world.run(both).expecting(2).errors.contains("give one with --expectation"))
            #expect(try world.run(["compat", first]).expecting(2).errors.contains("give a second model"))

            let signed = try world.run(["inspect", "vision/detector@stable"]).expecting(0)
            #expect(signed.output.contains("vision/detector 2.0.0 (default)"), "\(signed)")
            #expect(signed.output.contains("renamed  float32[4]"), "\(signed)")
            #expect(signed.output.contains("license: none is stated"), "\(signed)")
            #expect(signed.output.contains("checks: none"), "\(signed)")
            let digest = SHA256.digest(of: TestModel.bytes(label: "b", input: "renamed")).hex
            #expect(signed.output.contains(digest), "\(signed)")
            let whole = try world.run(["inspect", "vision/detector@stable", "--json"]).expecting(0)
            #expect(whole.output.contains(digest) && whole.output.contains(#""manifest":{"#), "\(whole)")
            let stranger = try world.run(["inspect", "vision/nope@stable"]).expecting(2)
            #expect(stranger.errors.contains("no model vision/nope"), "\(stranger)")
            let local = try world.run(["inspect", other, "--expectation"]).expecting(0).output
            let remote = try world.run(["inspect", "vision/detector@2.0.0", "--expectation"]).expecting(0)
            #expect(remote.output == local && local.hasPrefix("{\n  \""), "\(remote)")
        }

        @Test("each variant's interface is shown where they differ, and how")
        func variantTables() throws {
            let world = try started()
            let wide = try world.scratch.write("wide.onnx", TestModel.bytes(label: "a", width: 8))
            let narrow = try model(world, "b")
            let words = ["publish", "--model", "vision/detector", "--version", "next", "--dry-run"]
            let two = ["--variant", "wide=\(wide)", "--variant", "narrow=\(narrow)"]
            let shown = try world.run(words + two).expecting(0)
            for line in ["variant wide, onnx:", "variant narrow, onnx:"] {
                #expect(shown.errorLines.contains { $0 == line }, "\(shown)")
            }
            #expect(shown.errors.contains("not as variant wide: input `x`"), "\(shown)")
            #expect(shown.errors.contains("float32[8]") && shown.errors.contains("float32[4]"), "\(shown)")
            let equal = ["--variant", "one=\(narrow)", "--variant", "two=\(try model(world, "c"))"]
            let same = try world.run(words + equal).expecting(0)
            #expect(same.errors.contains("the same for variants one, two:"), "\(same)")
        }

        @Test("a drafted card says what a folder's README says, and publishes as it stands")
        func card() throws {
            let world = try started()
            try world.scratch.write("folder/model.onnx", TestModel.bytes(label: "a"))
            let readme = "---\nlicense: apache-2.0\nbase_model:\n- hub/base\ntags: [a, \"b\"]\n---\n# Model\n"
            try world.scratch.write("folder/README.md", Array(readme.utf8))
            let folder = world.scratch.path("folder")
            let drafted = try world.run(["inspect", folder, "--card"]).expecting(0)
            #expect(drafted.output.contains("\n  \"license\": \"Apache-2.0\","), "\(drafted)")
            #expect(drafted.output.contains(#""base_model": "hub/base""#), "\(drafted)")
            let card = try world.scratch.write("card.json", Array(drafted.output.utf8))
            try world.publish(folder, "next", ["--card", card]).expecting(0)
        }

        @Test("lines of this program are lines, and those in words of others are shown as what they are")
        func lines() throws {
            let world = try started()
            let first = try model(world, "a")
            let card = #"{"type":"sealift/card@1","license":"MIT","labels":["one\nsealift: forged","two"]}"#
            let cardFile = try world.scratch.write("card.json", Array(card.utf8))
            let dry = try world.publish(first, "1.0.0", ["--card", cardFile, "--dry-run"]).expecting(0)
            #expect(
                dry.errorLines.contains { $0.hasPrefix("  input ") } && dry.errorLines.count > 3,
                "\(dry)"
            )
            #expect(dry.errors.contains(#"one\u{A}sealift: forged"#), "\(dry)")
            #expect(dry.errorLines.contains("  license: MIT"), "\(dry)")
            let done = try world.publish(first, "1.0.0").expecting(0)
            #expect(
                !done.errors.contains(#"\u{A}"#) && done.errors.contains("license: none is stated"),
                "\(done)"
            )
            let other = try model(world, "b", input: "renamed")
            let step = try world.publish(other, "1.1.0").expecting(1)
            #expect(step.errorLines.first?.hasSuffix("or say --version next:") == true, "\(step)")
            #expect(step.errorLines.dropFirst().contains { $0.hasPrefix("  input `x` is gone") }, "\(step)")
            let file = try expectation(world, first)
            let register = ["expectation", "register", "camera"]
            let told = try world.run(register + ["vision/detector", file]).expecting(0)
            #expect(told.errors.contains("1.0.0, on stable: fits"), "\(told)")
            let slip = try world.run(register + ["vision/detecto", file]).expecting(0)
            #expect(slip.errors.contains("no model vision/detecto here yet"), "\(slip)")
            let broken = try world.publish(other, "2.0.0").expecting(1)
            #expect(broken.errorLines.contains("  camera:"), "\(broken)")
            #expect(!(step.errors + broken.errors).contains(#"\u{A}"#), "\(broken)")
        }

        @Test("an expectation for another model is refused by compat, as by sync")
        func otherModel() throws {
            let world = try started()
            let first = try model(world, "a")
            try world.publish(first, "1.0.0").expecting(0)
            let text = try world.run(["inspect", first, "--expectation"]).expecting(0).output
            let other = #"{"model":"vision/else","# + text.dropFirst()
            let file = try world.scratch.write("other.json", Array(other.utf8))
            let compat = ["compat", "--expectation", file, "vision/detector@1.0.0"]
            let refused = try world.run(compat).expecting(2)
            #expect(refused.errors.contains("is an expectation for vision/else"), "\(refused)")
            try world.run(["compat", "--expectation", file, first]).expecting(0)
        }

        @Test("a README's licence that is not certain is not signed, and a note says so")
        func uncertainLicense() throws {
            let world = try started()
            try world.scratch.write("folder/model.onnx", TestModel.bytes(label: "a"))
            let readme = "---\r\nlicense: [mit, apache-2.0]\r\ntags: [a]\r\n---\r\n# Model\r\n"
            try world.scratch.write("folder/README.md", Array(readme.utf8))
            let folder = world.scratch.path("folder")
            let dry = try world.publish(folder, "next", ["--dry-run"]).expecting(0)
            #expect(dry.errors.contains("no licence is taken: it names 2 licences"), "\(dry)")
            #expect(dry.errors.contains("license: none is stated"), "\(dry)")
            let drafted = try world.run(["inspect", folder, "--card"]).expecting(0)
            #expect(drafted.output.contains(#""license": """#), "\(drafted)")
            #expect(drafted.errors.contains("no licence is taken"), "\(drafted)")
        }
    }
}
