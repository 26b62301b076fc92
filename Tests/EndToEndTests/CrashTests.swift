import Support
import Testing

extension EndToEnd {
    /// kill -9 at named points of the real processes.
    @Suite("Crashes", .serialized)
    struct CrashTests {
        @Test(
            "a sync that is killed leaves the old generation or the new one, and the next sync finishes",
            arguments: [
                "stage.files", "stage.version", "generation.written", "activate.before-rename",
                "activate.after-rename",
            ]
        )
        func killedSync(point: String) throws {
            let world = try World()
            try world.created()
            try world.serve()
            try world.publish(
                try world.scratch.write("m1.onnx", TestModel.bytes(label: "1", padding: 200_000)),
                "1.0.0"
            ).expecting(0)
            try world.sync().expecting(0)
            try world.publish(
                try world.scratch.write("m2.onnx", TestModel.bytes(label: "2", padding: 200_000)),
                "1.1.0"
            ).expecting(0)
            let killed = try world.sync(environment: ["SEALIFT_CRASH_AT": point])
            #expect(killed.code == 128 + 9, "the point was reached: \(killed)")
            let isSwitched = point == "activate.after-rename"
            #expect(try world.activeVersion() == (isSwitched ? "1.1.0" : "1.0.0"))
            try world.run(["verify", "--directory", world.device]).expecting(0)
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0")
            try world.run(["verify", "--directory", world.device]).expecting(0)
        }

        @Test(
            "a sync that is killed while it stores metadata keeps what is active, and the next one goes on",
            arguments: ["write.synchronized", "write.renamed"]
        )
        func killedRefresh(point: String) throws {
            let world = try World()
            try world.created()
            try world.serve()
            let model = try world.scratch.write("m.onnx", TestModel.bytes(label: "1"))
            try world.publish(model, "1.0.0").expecting(0)
            try world.sync().expecting(0)
            var active = "1.0.0"
            let files = [
                "trust/timestamp.json", "trust/snapshot.json", "trust/vision~detector~live.json",
                "trust/vision~detector.json", "trust/poll-state",
            ]
            for (index, file) in files.enumerated() {
                let next = "1.\(index + 1).0"
                try world.publish(model, next).expecting(0)
                let killed = try world.sync(environment: ["SEALIFT_CRASH_AT": "\(point):\(file)"])
                #expect(killed.code == 128 + 9, "\(file) was reached: \(killed)")
                #expect(try world.activeVersion() == active, "\(file)")
                try world.run(["verify", "--directory", world.device]).expecting(0)
                try world.sync().expecting(0)
                #expect(try world.activeVersion() == next, "\(file)")
                active = next
            }
        }

        @Test(
            "a registry that is killed in mid-commit has the whole commit or none of it",
            arguments: ["commit.before", "commit.after-transaction", "publish.before", "publish.after"]
        )
        func killedCommit(point: String) throws {
            let world = try World()
            try world.created()
            try world.serve()
            let first = try world.scratch.write("m1.onnx", TestModel.bytes(label: "1"))
            let second = try world.scratch.write("m2.onnx", TestModel.bytes(label: "2"))
            try world.publish(first, "1.0.0").expecting(0)
            try world.sync().expecting(0)
            try world.stopServing()
            try world.serve(environment: ["SEALIFT_CRASH_AT": point])
            let outcome = try world.publish(second, "1.1.0")
            #expect(outcome.code == 75, "\(outcome)")
            try world.killServer()
            try world.serve()
            let isCommitted = point != "commit.before"
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == (isCommitted ? "1.1.0" : "1.0.0"))
            // Saying it again does no harm, and finishes what was not there.
            let again = try world.publish(second, "1.1.0")
            #expect(again.code == 0, "\(again)")
            try world.sync().expecting(0)
            #expect(try world.activeVersion() == "1.1.0")
            try world.run(["history", "vision/detector"]).expecting(0)
        }
    }
}
