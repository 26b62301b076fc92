import Durable
import Names
import Support
import SyncAgent
import Testing
import Transfer

extension EndToEnd {
    @Suite("A hostile mirror", .serialized)
    struct HostileMirrorTests {
        private static let rounds = UInt64(Soak.rounds(300, whole: 2_000))
        private static let memory = 64 << 20

        /// A device on 1.0.0 as it was, and a registry with 1.1.0.
        private struct Stage {
            let world: World
            let versions: [String: [UInt8]]
            let template: String

            init() throws {
                world = try World()
                try world.created()
                try world.serve()
                var versions: [String: [UInt8]] = [:]
                for (version, seed) in [("1.0.0", UInt8(0)), ("1.1.0", 1)] {
                    versions[version] = TestModel.bytes(label: version, padding: 700_000, seed: seed)
                }
                self.versions = versions
                template = world.scratch.path("template")
            }

            func publish(_ version: String) throws {
                let file = try world.scratch.write("\(version).onnx", try #require(versions[version]))
                try world.publish(file, version).expecting(0)
            }

            func sync(from mirrors: [HostileMirror]) throws -> (Outcome, memory: Int) {
                var words = ["sync", "--directory", world.device, "--model", "vision/detector@stable"]
                words += ["--allow-plain-loopback", "--retries", "2", "--stall", "1"]
                for mirror in mirrors { words += ["--registry", mirror.base] }
                let child = try world.start(words)
                let outcome = try child.finished(within: 90)
                return (outcome, child.peakMemory)
            }

            /// The active version, every byte of it compared with what was published.
            func active() throws -> String? {
                let device = try SyncedDevice(directory: world.device)
                _ = try device.verify()
                guard let model = try device.status().models.first else { return nil }
                let bytes = try Durable.readFile(model.entry, maximum: .mebibytes(4))
                return bytes == versions[model.version] ? model.version : "other bytes"
            }

            /// Puts the device back to 1.0.0, with nothing under way.
            func restore() throws {
                try Durable.removeTree(world.device)
                let copy = try Child(
                    "/bin/cp",
                    ["-a", template, world.device],
                    environment: [:],
                    folder: world.scratch.path
                )
                guard try copy.finished(within: 30).code == 0 else { throw Trouble("cp failed") }
            }
        }

        @Test(
            "whatever a mirror does, no wrong byte is activated, and the next honest answer completes the sync"
        )
        func rounds() throws {
            let stage = try Stage()
            var configuration = TransferConfiguration()
            configuration.certificateAuthority = stage.world.scratch.path("config/ca.pem")
            let fetcher = CurlFetcher(configuration: configuration)
            let mirrors = (0..<2).map { _ in
                HostileMirror(of: RepositoryLocation(base: stage.world.url), fetcher: fetcher)
            }
            for mirror in mirrors { mirror.beHonest() }
            try stage.publish("1.0.0")
            _ = try stage.sync(from: [mirrors[0]]).0.expecting(0)
            _ = try stage.sync(from: [mirrors[1]]).0.expecting(0)
            try Durable.removeTree(stage.template)
            try Durable.rename(stage.world.device, to: stage.template)
            try stage.publish("1.1.0")
            for mirror in mirrors { mirror.grow() }
            try stage.restore()

            var codes: [Int32: Int] = [:]
            var completed = 0
            var seed: UInt64 = 0
            while seed < Self.rounds {
                seed += 1
                let used = seed % 3 == 0 ? mirrors : [mirrors[0]]
                for (index, mirror) in used.enumerated() { mirror.begin(seed: seed << 1 | UInt64(index)) }
                let (outcome, memory) = try stage.sync(from: used)
                codes[outcome.code, default: 0] += 1
                #expect([0, 1, 75].contains(outcome.code), "seed \(seed): \(outcome)")
                #expect(memory < Self.memory, "seed \(seed): \(memory) bytes of memory")
                let active = try stage.active()
                if active == "1.1.0" { completed += 1 }
                // Behind the others, and rightly signed, a mirror may keep a device where it is.
                #expect(
                    active == "1.0.0" || active == "1.1.0" && outcome.code == 0,
                    "seed \(seed): \(outcome)"
                )
                if seed % 10 == 0 && outcome.code != 0 {
                    mirrors[0].beHonest()
                    _ = try stage.sync(from: [mirrors[0]]).0.expecting(0)
                    #expect(try stage.active() == "1.1.0")
                }
                if try stage.active() == "1.1.0" { try stage.restore() }
            }
            // A test in which everything fails, or nothing, tests nothing.
            let few = Int(Self.rounds / 20)
            #expect(completed > few && codes[75, default: 0] + codes[1, default: 0] > few, "\(codes)")
            let played = mirrors.reduce(into: Set<HostileMirror.Fault>()) { $0.formUnion($1.faults.keys) }
            #expect(played.count == HostileMirror.Fault.allCases.count, "\(played)")
        }
    }
}
