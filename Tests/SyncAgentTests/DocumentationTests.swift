import Durable
import Names
import Support
import SyncAgent
import Testing

@Suite("SyncAgent in an app")
struct DocumentationTests {
    @Test("the article's Swift compiles: it stands in this file too")
    func article() throws {
        let folder = Durable.parent(of: Durable.parent(of: Durable.parent(of: "\(#filePath)")))
        let article = try text("\(folder)/Sources/SyncAgent/SyncAgent.docc/SyncingInAnApp.md")
        let own = trimmed(try text("\(#filePath)"))
        let blocks = article.components(from: "```swift\n", to: "```\n")
        #expect(blocks.count == 4)
        for block in blocks {
            let lines = block.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.first == "import SyncAgent", "\(block)")
            #expect(own.contains(trimmed(lines.dropFirst().joined(separator: "\n"))), "\(block)")
        }
    }

    @Test("a sync that is followed tells its phases, its decisions, and last its report")
    func updates() async throws {
        let fixture = try SyncFixture()
        try fixture.registry.release("1.0.0")
        var events: [SyncEvent] = []
        var report: SyncReport?
        for try await update in try agent(fixture).updates() {
            #expect(report == nil, "nothing comes after the report")
            switch update {
            case .event(let event): events.append(event)
            case .finished(let last): report = last
            }
        }
        #expect(report?.outcome == .activated && report?.models.map(\.active) == ["1.0.0"])
        #expect(events.first == .phase(.refreshing) && events.contains(.phase(.activating)))
        #expect(try fixture.activeVersion() == "1.0.0")
    }

    @Test("what stops a sync is thrown to whoever follows it")
    func failure() async throws {
        let fixture = try SyncFixture()
        fixture.registry.setOutage(true)
        let error = await #expect(throws: SyncError.self) {
            for try await update in try agent(fixture).updates() {
                guard case .event = update else { continue }
            }
        }
        #expect(error?.kind == .temporary)
    }

    private func agent(_ fixture: SyncFixture) throws -> SyncAgent {
        try SyncAgent(
            configuration: try fixture.configuration(["vision/detector@stable"]),
            peers: Peers(fetcher: fixture.registry, blobs: fixture.registry, exchange: fixture.receiver),
            clock: { [clock = fixture.clock] in clock.now }
        )
    }

    private func text(_ path: String) throws -> String {
        String(decoding: try Durable.readFile(path, maximum: .mebibytes(1)), as: UTF8.self)
    }

    private func trimmed(_ text: String) -> String {
        text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }.joined(
            separator: "\n"
        )
    }

    private func show(_ share: Double) {}

    /// Never called: that it compiles is what matters.
    private func follow() async throws {
        var device = SyncConfiguration(
            directory: "models",
            registries: ["https://models.example.com:8443/", "https://mirror.example.com/"],
            rootFile: "root.json",
            models: [try WantedModel("vision/detector@stable")]
        )
        // For a registry of your own: the private authority that `sealift init` made. Without it the system's count.
        device.caFile = "ca.pem"
        device.rate = try TransferRate("2MB/s")
        let agent = try SyncAgent(configuration: device)
        for try await update in agent.updates() {
            switch update {
            case .event(.progress(let verified, let total)): show(Double(verified) / Double(total))
            case .event: break
            case .finished(let report):
                for model in report.models { print(model.model, model.active ?? "none", model.reason) }
            }
        }
        do {
            _ = try await agent.sync()
        } catch {
            switch error.kind {
            case .temporary: print("later: \(error.message)")
            case .expired: print("what is active runs on: \(error.message)")
            default: print("\(error.code): \(error.message) \(error.remedy)")
            }
        }
        let app = "/app"
        device.checkProgram = "\(app)/sealift"
        device.runtimeLibrary = "\(app)/libonnxruntime.so"
        let status = try SyncedDevice(directory: "models").status()
        for model in status.models { print(model.model, model.version, model.entry) }
    }
}

extension String {
    /// What stands between each pair of marks.
    fileprivate func components(from start: String, to end: String) -> [String] {
        ranges(of: start).compactMap { range in
            let rest = self[range.upperBound...]
            return rest.firstRange(of: end).map { String(rest[..<$0.lowerBound]) }
        }
    }
}
