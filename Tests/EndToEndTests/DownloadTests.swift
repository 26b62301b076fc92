import CanonicalJSON
import Durable
import Glibc
import Names
import Support
import Testing

extension EndToEnd {
    /// What people complain of in other downloaders, tried on this one.
    @Suite("Downloads that are cut off, limited and held up", .serialized)
    struct DownloadTests {
        private static let padding = 6_000_000

        /// A registry with 1.0.0, and a device that has nothing.
        private func published() throws -> World {
            let world = try World()
            try world.created()
            try world.serve()
            let file = try world.scratch.write(
                "m1.onnx",
                TestModel.bytes(label: "1.0.0", padding: Self.padding)
            )
            try world.publish(file, "1.0.0").expecting(0)
            return world
        }

        private func fetched(_ outcome: Outcome) throws -> Int {
            let bytes = Array(outcome.output.utf8)
            let value = try JSONParser.parse(bytes, maximumLength: 1 << 20, maximumDepth: 16)
            guard case .integer(let count)? = value["bytes_fetched"] else {
                throw Trouble("no count: \(outcome)")
            }
            return Int(count)
        }

        /// Starts a slow sync and waits until about `share` of the file is on the disk.
        private func started(_ world: World, until share: Double, _ extra: [String] = []) throws -> Child {
            let child = try world.start(
                ["sync", "--directory", world.device, "--model", "vision/detector@stable", "--rate", "3MB"]
                    + extra
            )
            let wanted = UInt64(Double(Self.padding) * share)
            _ = try child.waits(30, for: "download") { _ in
                let names = (try? Durable.names(in: world.device + "/incoming")) ?? []
                return names.contains { name in
                    var status = stat()
                    return stat("\(world.device)/incoming/\(name)", &status) == 0 && status.st_size > wanted
                } ? true : nil
            }
            return child
        }

        @Test("a sync that is killed in the middle goes on there, and fetches no block again")
        func killed() throws {
            let world = try published()
            let child = try started(world, until: 0.5)
            child.signal(SIGKILL)
            #expect(try child.finished(within: 10).code == 128 + SIGKILL)
            #expect(try world.activeVersion() == nil)
            let outcome = try world.sync(["--json"]).expecting(0)
            #expect(try fetched(outcome) < Self.padding / 2 + (64 << 10), "\(outcome)")
            #expect(try world.activeVersion() == "1.0.0")
        }

        @Test("a process that sleeps for longer than the server waits goes on where it was")
        func stopped() throws {
            let world = try published()
            let child = try started(world, until: 0.3, ["--stall", "1", "--json"])
            child.signal(SIGSTOP)
            // Longer than either side waits for the other.
            try world.killServer()
            usleep(1_500_000)
            let listen = try #require(world.url.split(separator: "/").last.map(String.init))
            let server = try world.start(["serve", world.registry, "--listen", listen])
            _ = try server.waits(30, for: "address") { $0.hasPrefix("https://") ? true : nil }
            child.signal(SIGCONT)
            let outcome = try child.finished(within: 60).expecting(0)
            #expect(try fetched(outcome) < Self.padding + (1 << 20), "\(outcome)")
            #expect(try world.activeVersion() == "1.0.0")
            server.signal(SIGTERM)
            _ = try server.finished(within: 20)
        }

        @Test("a byte budget stops a download, says until when, and what came is kept")
        func budget() throws {
            let world = try published()
            let small = ["--budget", "2MB/day", "--json"]
            let first = try world.sync(small)
            #expect(first.code == 75 && first.errors.contains("2.0 MB a day"), "\(first)")
            #expect(first.errors.contains("it goes on at"), "\(first)")
            #expect(first.errorLines.count == 1)
            let second = try world.sync(small)
            #expect(try second.code == 75 && fetched(second) == 0, "nothing more in that day: \(second)")
            let third = try world.sync(["--budget", "20MB/day", "--json"]).expecting(0)
            #expect(try fetched(third) < Self.padding - 1_800_000, "\(third)")
            #expect(try world.activeVersion() == "1.0.0")
        }

        @Test("outside its windows a device fetches no model, and says when it will")
        func window() throws {
            let world = try published()
            var now = time(nil)
            var local = tm()
            localtime_r(&now, &local)
            // An hour that begins in two.
            let hour = (Int(local.tm_hour) + 2) % 24
            let text = { (hour: Int) in "\(hour < 10 ? "0" : "")\(hour):00" }
            let outcome = try world.sync(["--window", "\(text(hour))-\(text((hour + 1) % 24))"])
            #expect(outcome.code == 75 && outcome.errors.contains("goes on at \(text(hour))"), "\(outcome)")
            try world.sync(["--window", "00:00-12:00", "--window", "12:00-00:00"]).expecting(0)
        }

        @Test(
            "without room for the model and the reserve nothing is fetched; with room it goes on",
            .enabled(if: Tmpfs.works, "a small file system needs the right to mount one")
        )
        func room() throws {
            let world = try published()
            try Durable.makeDirectory(world.device)
            let disk = try Tmpfs(at: world.device, mebibytes: 5)
            let full = try world.sync(["--json"])
            #expect(full.code == 75 && full.errors.contains("not enough room"), "\(full)")
            #expect(try fetched(full) == 0)
            #expect(try world.activeVersion() == nil)
            try disk.resize(mebibytes: 100)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.0.0")
        }

        @Test(
            "a proxy of the environment carries everything, with the registry's own authority, and is shown"
        )
        func proxy() throws {
            let world = try published()
            let proxy = ConnectProxy()
            let environment = ["HTTPS_PROXY": "http://user:secret@127.0.0.1:\(proxy.port)", "NO_PROXY": ""]
            let shown = try world.sync(["--dry-run"], environment: environment).expecting(0)
            #expect(shown.output.contains("through http://127.0.0.1:\(proxy.port) (HTTPS_PROXY)"), "\(shown)")
            #expect(shown.output.contains("ca.pem") && !"\(shown)".contains("secret"))
            try world.sync(environment: environment).expecting(0)
            #expect(!proxy.requests.isEmpty && proxy.requests.allSatisfy { $0.hasPrefix("CONNECT ") })
            let asked = proxy.requests.count
            try world.sync(environment: environment.merging(["NO_PROXY": "localhost,127.0.0.1"]) { $1 })
                .expecting(0)
            #expect(proxy.requests.count == asked, "NO_PROXY is obeyed")
        }

        @Test("memory does not grow with the model")
        func memory() throws {
            let world = try World()
            try world.created()
            try world.serve()
            let card = #"{"type":"sealift/card@1","variants":{"default":{"format":"opaque"}}}"#
            let file = try world.scratch.write("large/weights.bin", [1])
            #expect(truncate(file, 300_000_000) == 0)
            let cardFile = try world.scratch.write("card.json", Array(card.utf8))
            try world.publish(world.scratch.path("large"), "1.0.0", ["--card", cardFile]).expecting(0)
            let child = try world.start([
                "sync", "--directory", world.device, "--model", "vision/detector@stable",
            ])
            #expect(try child.finished(within: 120).code == 0)
            #expect(child.peakMemory > 1 << 20 && child.peakMemory < 64 << 20, "\(child.peakMemory) bytes")
        }
    }
}

/// A small file system of its own, where the machine allows one.
private final class Tmpfs {
    /// Whether this user may mount.
    static let works: Bool = {
        let scratch = Scratch()
        return (try? Tmpfs(at: scratch.path, mebibytes: 1)) != nil
    }()

    private let path: String

    init(at path: String, mebibytes: Int) throws {
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(mebibytes)m") == 0 else {
            throw Trouble("mount: \(errno)")
        }
        self.path = path
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }

    func resize(mebibytes: Int) throws {
        let flags = UInt(MS_REMOUNT)
        guard mount("tmpfs", path, "tmpfs", flags, "size=\(mebibytes)m") == 0 else {
            throw Trouble("remount: \(errno)")
        }
    }
}
