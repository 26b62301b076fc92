import Blocking
import Durable
import Glibc
import Support
import SyncAgent
import Testing

extension EndToEnd {
    /// Readers that know nothing of each other, while real syncs switch back and forth.
    @Suite("Reads during switches", .serialized)
    struct ReadsTests {
        private let world: World
        private let versions = ["1.0.0", "1.1.0"]

        init() throws {
            world = try World()
            try world.created()
            try world.serve()
            for version in versions {
                let folder = world.scratch.path("model-\(version)")
                try Durable.makeDirectory(folder)
                try Durable.writeAtomically(
                    "\(folder)/model.onnx",
                    TestModel.bytes(label: "label-\(version)")
                )
                try Durable.writeAtomically("\(folder)/labels.txt", Array("label-\(version)\n".utf8))
                try world.publish(folder, version).expecting(0)
                try sync(to: version).expecting(0)
            }
        }

        /// An exact version: this device ran both, so it may go back.
        private func sync(to version: String) throws -> Outcome {
            try world.run(["sync", "--directory", world.device, "--model", "vision/detector@\(version)"])
        }

        /// Starts what switches until it is told to end.
        private func switcher() throws -> Child {
            let script = """
                n=0
                while [ ! -e stop ]; do
                  for v in \(versions.joined(separator: " ")); do
                    '\(world.program)' sync --directory '\(world.device)' --model vision/detector@$v >/dev/null || exit 1
                    n=$((n + 1))
                  done
                done
                echo $n
                """
            return try world.shell(script)
        }

        private func ended(_ switcher: Child) throws {
            try Durable.writeAtomically(world.scratch.path("stop"), [])
            let outcome = try switcher.finished(within: 60).expecting(0)
            try Durable.removeFile(world.scratch.path("stop"))
            let switches = outcome.output.split(separator: "\n").first.flatMap { Int($0) } ?? 0
            #expect(switches >= 2, "\(outcome)")
            print("soak: \(switches) switches meanwhile")
            #expect(try SyncedDevice(directory: world.device).verify() > 0)
        }

        @Test("‘sealift run’ gives a program the files of one version, never a mixture")
        func run() throws {
            let reads = Soak.rounds(60, whole: 10_000)
            let check = """
                grep -q "label-$SEALIFT_MODEL_VERSION" "$SEALIFT_MODEL_ENTRY" &&
                grep -qx "label-$SEALIFT_MODEL_VERSION" "$SEALIFT_MODEL_DIR/labels.txt"
                """
            let script = """
                for i in $(seq \(reads)); do
                  '\(world.program)' run vision/detector --directory '\(world.device)' -- sh -c '\(check)' || exit 1
                done
                """
            let switcher = try switcher()
            let reader = try world.shell(script)
            let outcome = try reader.finished(within: 3_000)
            #expect(outcome.code == 0, "\(outcome)")
            try ended(switcher)
        }

        @Test(
            "sealift.py gives a program the files of one version, never a mixture",
            .enabled(if: Peers.python != nil, Peers.noPython)
        )
        func python() throws {
            let reads = Soak.rounds(400, whole: 10_000)
            let script = """
                import os, sealift
                seen = set()
                for _ in range(\(reads)):
                    with sealift.lease('vision/detector') as model:
                        label = b'label-' + model.version.encode()
                        assert label in open(model.entry, 'rb').read(), model
                        assert open(os.path.join(model.directory, 'labels.txt'), 'rb').read() == label + b'\\n', model
                        seen.add(model.version)
                print(sorted(seen))
                """
            let file = try world.scratch.write("reads.py", Array(script.utf8))
            let switcher = try switcher()
            let reader = try world.shell("exec '\(Peers.python ?? "")' '\(file)'")
            let outcome = try reader.finished(within: 3_000)
            #expect(outcome.code == 0, "\(outcome)")
            try ended(switcher)
        }

        @Test("what a program ends with is what ‘sealift run’ ends with, and it holds a lease until then")
        func exitCode() throws {
            let run = ["run", "vision/detector", "--directory", world.device, "--"]
            #expect(try world.run(run + ["sh", "-c", "exit 42"]).code == 42)
            #expect(try world.run(run + ["sh", "-c", "kill -TERM $$"]).code == 128 + 15)
            #expect(try world.run(run + ["no-such-program"]).code == 2)
            let device = try SyncedDevice(directory: world.device)
            let folder = try #require(try device.status().models.first?.directory)
            let holder = try world.start(run + ["sleep", "60"])
            let end = MonotonicTime.now.adding(seconds: 20)
            while try world.shell("flock -n -x '\(folder)' true").finished(within: 20).code == 0 {
                guard MonotonicTime.now < end else { throw Trouble("nobody holds \(folder)") }
                usleep(10_000)
            }
            holder.signal(SIGTERM)
            _ = try holder.finished(within: 20)
            #expect(try world.shell("flock -n -x '\(folder)' true").finished(within: 20).code == 0)
        }
    }
}
