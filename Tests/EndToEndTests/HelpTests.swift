import CanonicalJSON
import Durable
import Glibc
import Names
import Support
import Testing

extension EndToEnd {
    /// What somebody meets who does not know the program yet.
    @Suite("Help and mistakes", .serialized)
    struct HelpTests {
        static let commands = [
            "init", "serve", "keygen", "inspect", "publish", "sync", "status", "why", "path", "verify",
            "infer",
            "history", "errors",
        ]

        private let terminal: Terminal
        private var scratch: Scratch { terminal.world.scratch }

        init() throws { terminal = try Terminal() }

        /// The one line that a mistake ends with.
        private func mistake(_ line: String, says words: String) throws {
            let outcome = try terminal.start(line).finished(within: 30)
            #expect(
                outcome.code == 2 && outcome.errorLines.count == 1 && outcome.output.isEmpty,
                "\(outcome)"
            )
            #expect(outcome.errors.contains(words), "\(outcome)")
        }

        @Test(
            "every command has a page, by two ways, and names an option that it does not know",
            arguments: commands
        )
        func pages(command: String) throws {
            let page = try terminal.run("sealift \(command) --help").output
            #expect(try terminal.run("sealift help \(command)").output == page)
            #expect(page.contains("Example:\n  sealift \(command) "))
            let outcome = try terminal.start("sealift \(command) --no-such-option").finished(within: 30)
            #expect(outcome.code == 2 && outcome.errors.contains("--no-such-option"), "\(outcome)")
        }

        @Test(
            "what has several lines is printed as lines",
            arguments: ["errors", "config --directory models", "schema card", "unit", "help"]
        )
        func lines(command: String) throws {
            let output = try terminal.run("sealift \(command)").output
            #expect(output.split(separator: "\n").count > 5 && !output.contains(#"\u{"#), "\(output)")
        }

        @Test(
            "the commands of one name are listed by that name, alone and with help",
            arguments: ["channel", "key"]
        )
        func groups(name: String) throws {
            let page = try terminal.run("sealift \(name) --help").output
            #expect(page.contains("  \(name) ") && !page.contains("  publish"), "\(page)")
            #expect(try terminal.run("sealift help \(name)").output == page)
            let bare = try terminal.start("sealift \(name)").finished(within: 30)
            #expect(bare.code == 2 && bare.output == page, "\(bare)")
            try mistake(
                "sealift \(name) nothing",
                says: "there is no command ‘\(name) nothing’ (did you mean ‘\(name) "
            )
        }

        @Test("the example of each page runs as it is written")
        func examples() throws {
            func example(_ command: String) throws -> String {
                let lines = try terminal.run("sealift help \(command)").output.split(separator: "\n")
                let heading = try #require(lines.firstIndex(of: "Example:"))
                return String(lines[heading + 1].trimmingPrefix("  ")).replacing(":8443", with: ":0")
            }
            try scratch.write("detector.onnx", TestModel.bytes(label: "1"))
            try terminal.run(example("init"))
            let server = try terminal.start(example("serve"))
            let address = try server.waits(30, for: "address") { $0.hasSuffix("/\n") ? $0 : nil }
            let port = try #require(address.split(separator: ":").last?.dropLast(2))
            for command in Self.commands where !["init", "serve", "infer"].contains(command) {
                try terminal.run(example(command), ["SEALIFT_REGISTRY": "https://localhost:\(port)/"])
            }
        }

        @Test("a second init changes nothing of the first, wherever its keys would go")
        func secondInit() throws {
            try terminal.run("sealift init registry --namespace vision")
            let files = ["client.json", "root.json", "ca.pem", "keys/root.pem", "keys/token"]
            let before = try files.map { try scratch.read(".config/sealift/\($0)") }
            try mistake("sealift init registry --namespace text", says: "never overwrites")
            try mistake("sealift init other --namespace text", says: "keys/root.pem is there already")
            let keys = scratch.path(".config/sealift/others")
            try mistake(
                "sealift init other --namespace text --keys '\(keys)'",
                says: "client.json is there already"
            )
            #expect(try files.map { try scratch.read(".config/sealift/\($0)") } == before)
            #expect(try Durable.kind(of: scratch.path("other")) == nil && Durable.kind(of: keys) == nil)
            try terminal.run("sealift init other --namespace text --keys other-keys/keys")
        }

        @Test("a host that no certificate can name is refused before anything is written")
        func host() throws {
            for host in ["'a b'", "localhost:8443", "-"] {
                try mistake("sealift init registry --host \(host)", says: "--host")
            }
            #expect(try Durable.kind(of: scratch.path("registry")) == nil)
            #expect(try Durable.kind(of: scratch.path(".config")) == nil)
            let told = try terminal.run("sealift init registry --host ::1 --host models.example.com")
            #expect(
                told.errors.contains("--listen 0.0.0.0:8443"),
                "the usual address would not be reached: \(told)"
            )
            let client = String(decoding: try scratch.read(".config/sealift/client.json"), as: UTF8.self)
            #expect(client.contains("https://[::1]:8443/"))
        }

        @Test("a record of a library that is not there is said to be missing; memory is shown all the same")
        func record() throws {
            let told = try terminal.run("sealift library status --record nowhere.json")
            #expect(told.errors.contains("nowhere.json is not there yet"), "\(told)")
            #expect(told.output.contains("memory: ") && told.output.contains("no use recorded"), "\(told)")
        }

        @Test("mistakes in a call are told in one line, and end with 2")
        func mistakes() throws {
            try terminal.run("sealift init registry --namespace vision")
            try scratch.write("detector.onnx", TestModel.bytes(label: "1"))
            let publish = "sealift publish detector.onnx --version 1.0.0"
            try mistake("\(publish) --model vision/detector --rollout 50%", says: "--channel")
            try mistake("sealift status --directory nowhere", says: "no device directory at nowhere")
            try scratch.write("folder/file", [1])
            for verb in ["status", "why vision/detector", "verify"] {
                try mistake("sealift \(verb) --directory folder", says: "no device directory at folder")
            }
            let sync = "sealift sync --model vision/detector"
            try mistake("\(sync) --directory models --token-file nowhere", says: "nowhere")
            try mistake("\(sync) --directory detector.onnx", says: "Not a directory")
            try mistake(
                "sealift sync --directory --model x/y@stable",
                says: "--directory needs a value, found ‘--model’"
            )
            try mistake("sealift inspct", says: "did you mean ‘inspect’?")
            let json = try terminal.start("sealift status --directory nowhere --json").finished(within: 30)
            #expect(json.code == 2 && json.errorLines.count == 1, "\(json)")
            let report = try JSONParser.parse(Array(json.output.utf8), maximumLength: 65_536)
            #expect(report["error"]?["code"]?.string == "place")
            #expect(report["error"]?["exit_code"]?.integer == 2)
            let remedy = try #require(report["error"]?["remedy"]?.string)
            #expect(try terminal.run("sealift errors place").output.contains(remedy))
        }
    }
}
