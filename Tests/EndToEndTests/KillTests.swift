import Blocking
import Durable
import Glibc
import Support
import SyncAgent
import Testing

extension EndToEnd {
    /// kill -9 of the real process, at moments that nobody chose.
    @Suite("Killed at random", .serialized)
    struct KillTests {
        @Test("a sync killed at any moment leaves one whole generation, and the next sync finishes")
        func killed() throws {
            let world = try World()
            try world.created()
            try world.serve()
            for (index, version) in ["1.0.0", "1.1.0"].enumerated() {
                let bytes = TestModel.bytes(label: "\(index)", padding: 600_000)
                try world.publish(try world.scratch.write("m\(index).onnx", bytes), version).expecting(0)
                if index == 0 { try world.sync().expecting(0) }
            }
            let template = world.scratch.path("template")
            try copy(world.device, to: template)
            // The shortest of a few, so that most kills come before the end on a machine that others use, too.
            var whole = Int.max
            for _ in 0..<3 {
                try Durable.removeTree(world.device)
                try copy(template, to: world.device)
                let start = MonotonicTime.now
                try world.sync().expecting(0)
                whole = min(whole, Int(MonotonicTime.now.seconds(since: start) * 1e6))
            }
            var numbers = SeededRandom(seed: Soak.seed)
            var killed = 0
            let rounds = Soak.rounds(50, whole: 1_000)
            var round = 0
            // What counts is a kill: a sync that ended before it is done again, up to a bound.
            while killed < rounds, round < 4 * rounds {
                defer { round += 1 }
                // Half of the rounds start afresh; the others go on with what the kill before left.
                if round % 2 == 0 {
                    try Durable.removeTree(world.device)
                    try copy(template, to: world.device)
                }
                let child = try world.start([
                    "sync", "--directory", world.device, "--model", "vision/detector@stable",
                ])
                usleep(UInt32.random(in: 0...UInt32(whole), using: &numbers))
                child.signal(SIGKILL)
                if try child.finished(within: 60).code == 128 + 9 { killed += 1 }
                let version = try checked(world, "round \(round), seed \(Soak.seed)")
                #expect(["1.0.0", "1.1.0"].contains(version))
                if round % 2 == 1 {
                    try world.sync().expecting(0)
                    #expect(try checked(world, "after round \(round), seed \(Soak.seed)") == "1.1.0")
                }
            }
            try world.sync().expecting(0)
            #expect(try checked(world, "after \(round) rounds, seed \(Soak.seed)") == "1.1.0")
            print("soak: \(killed) of \(round) syncs killed before their end, seed \(Soak.seed)")
            #expect(killed == rounds, "\(killed) of \(round) syncs were killed before their end")
        }

        /// Reads every byte of what is active.
        private func checked(_ world: World, _ round: Comment) throws -> String? {
            let device = try SyncedDevice(directory: world.device)
            #expect(try device.verify() > 0, round)
            return try device.status().models.first?.version
        }

        private func copy(_ from: String, to destination: String) throws {
            let result = try ChildProcess("/bin/cp", ["-a", from, destination]).result()
            #expect(result.ending == .exited(0), "\(result.errorText)")
        }
    }
}
