import Audit
import Manifest
import Names
import Signing
import Support
import Testing
import Transfer
import Trust

/// A simulated registry that also serves the documents its roles list.
private struct Archive: Fetching {
    let simulator: RegistrySimulator
    let targets: [String: [UInt8]]

    func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchOutcome {
        guard let bytes = targets[request.url] else { return try await simulator.fetch(request) }
        return .bytes(bytes, etag: nil)
    }
}

@Suite("History")
struct HistoryTests {
    private let now = UnixTime(rawValue: 1_796_000_000)
    private let model: ModelName
    private var repository: SimulatedRepository
    private var targets: [String: [UInt8]] = [:]
    private let location = RepositoryLocation(base: "https://registry.test/")

    init() throws {
        model = try #require(ModelName("vision/detector"))
        repository = try SimulatedRepository.sealift(model, now: now)
        // The snapshots so far list documents that are none; reading stops at the first gap.
        repository.files["2.snapshot.json"] = nil
        try list(LiveDocument(model: model))
        try release("1.0.0")
        try release("1.1.0")
    }

    private var release: RoleName { SealiftRole.release(model).roleName }
    private var live: RoleName { SealiftRole.live(model).roleName }

    /// Serves a document at `path` and lists it in `role`.
    private mutating func put(_ content: [UInt8], at path: String, in role: RoleName) {
        repository.roles[role]?.targets[TargetPath(path)] = TargetFile(of: content)
        targets[location.target(path, digest: SHA256.digest(of: content))] = content
    }

    private mutating func list(_ document: LiveDocument) throws {
        put(try document.encoded(), at: document.targetPath, in: live)
        try repository.publish([live])
    }

    /// Releases `version` an hour later and puts it on the stable channel.
    private mutating func release(_ version: String) throws {
        repository.now = repository.now.adding(seconds: 3_600)
        let manifest = Array("manifest of \(version)".utf8)
        put(manifest, at: "\(model)/\(version).json", in: release)
        let current = targets[
            location.target(
                "\(model)/live.json",
                digest: try #require(repository.roles[live]?.targets["\(model)/live.json"]?.sha256)
            )
        ]
        let document = try LiveDocument(canonical: try #require(current)).adding(
            ListedVersion(
                version: try #require(ModelVersion(version)),
                manifest: SHA256.digest(of: manifest)
            ),
            to: try #require(ChannelName("stable"))
        )
        put(try document.encoded(), at: document.targetPath, in: live)
        try repository.publish([release, live])
    }

    private func history() async throws -> ModelHistory {
        let simulator = RegistrySimulator(repository)
        return try await ModelHistory.read(
            of: model,
            through: simulator.updater(MemoryMetadataStore()),
            fetcher: Archive(simulator: simulator, targets: targets),
            location: location
        )
    }

    @Test("every release and every listing is told once, in order, with its signer")
    func events() async throws {
        let history = try await history()
        let stable = try #require(ChannelName("stable"))
        let told = history.events.filter { $0.snapshot > 3 }.map {
            "\($0.version?.description ?? "-") \($0.kind)"
        }
        let listed = HistoryEvent.Kind.listed(stable, rollout: Listing.fullRollout)
        #expect(
            told == [
                "1.0.0 \(listed)", "1.1.0 \(HistoryEvent.Kind.released)", "1.1.0 \(listed)",
            ]
        )
        let key = try #require(repository.signers[live]?.first)
        #expect(history.events.last?.signers == [Authoring.keyID(of: key.publicKey)])
        #expect(history.retainedFrom == 3)
    }

    @Test("what was live at a time is what the last snapshot before it lists")
    func states() async throws {
        let history = try await history()
        let stable = try #require(ChannelName("stable"))
        func live(_ seconds: Int64) -> [String] {
            (history.state(at: now.adding(seconds: seconds))?.live.listed(in: stable) ?? []).map {
                "\($0.version)"
            }
        }
        #expect(live(0) == [])
        #expect(live(3_600) == ["1.0.0"])
        #expect(live(7_199) == ["1.0.0"])
        #expect(live(7_200) == ["1.1.0", "1.0.0"])
        #expect(history.state(at: now.adding(seconds: -1)) == nil)
    }

    @Test(
        "a retained file that was changed afterwards is refused by its name",
        arguments: ["4.snapshot.json", "3.vision~detector~live.json"]
    )
    func tampered(name: String) async throws {
        var copy = self
        let bytes = try #require(copy.repository.files[name])
        let text = String(decoding: bytes, as: UTF8.self).replacing(
            "\"expires\":\"2",
            with: "\"expires\":\"3"
        )
        copy.repository.files[name] = Array(text.utf8)
        let spoiled = copy
        let error = await #expect(throws: AuditError.self) { try await spoiled.history() }
        guard case .refused(let file, _) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(file == name)
    }

    @Test("denials and holds are told with whoever said so, and a time shows what was kept back then")
    func keptBack() async throws {
        var copy = self
        let hold = SealiftRole.hold.roleName
        let old = try #require(ModelVersion("1.0.0"))
        let new = try #require(ModelVersion("1.1.0"))
        copy.repository.now = copy.repository.now.adding(seconds: 3_600)
        let begin = copy.repository.now
        let until = begin.adding(seconds: 86_400)
        copy.repository.roles[.targets]?.deny = [
            Denial(model: model, subject: .versions([old]), reason: "key stolen", since: begin)
        ]
        let held = Hold(
            manifest: SHA256.digest(of: Array("manifest of 1.1.0".utf8)),
            reason: "crash reports",
            since: begin,
            until: until
        )
        let path = HoldDocument.targetPath(model: model)
        copy.put(try HoldDocument(model: model, holds: [held]).encoded(), at: path, in: hold)
        try copy.repository.publish([.targets, hold])
        copy.repository.now = begin.adding(seconds: 3_600)
        copy.repository.roles[.targets]?.deny = []
        copy.put(try HoldDocument(model: model).encoded(), at: path, in: hold)
        try copy.repository.publish([.targets, hold])
        let history = try await copy.history()
        let told = history.events.suffix(4)
        #expect(
            told.map(\.kind) == [
                .denied(by: "targets", reason: "key stolen"), .held(until: until, reason: "crash reports"),
                .denialLifted(by: "targets"), .unheld,
            ]
        )
        #expect(told.map(\.version) == [old, new, old, new])
        let online = try #require(copy.repository.signers[hold]?.first)
        #expect(told.last?.signers == [Authoring.keyID(of: online.publicKey)])
        let during = try #require(history.state(at: begin.adding(seconds: 60)))
        #expect(during.denials == [old: ["targets"]] && during.holds == [new: held])
        #expect(during.live.channels.count == 1, "the channels of before still hold")
        let after = try #require(history.state(at: begin.adding(seconds: 3_600)))
        #expect(after.denials.isEmpty && after.holds.isEmpty)
    }

    @Test("a floor is told when it comes and when it goes, and a time shows it")
    func floor() async throws {
        var copy = self
        let stable = try #require(ChannelName("stable"))
        let floor = try #require(ModelVersion("1.1.0"))
        let before = try await copy.history()
        let live = try #require(before.states.last?.live)
        copy.repository.now = copy.repository.now.adding(seconds: 3_600)
        try copy.list(live.flooring(stable, at: floor))
        let during = copy.repository.now
        copy.repository.now = copy.repository.now.adding(seconds: 3_600)
        try copy.list(live)
        let history = try await copy.history()
        let told = history.events.dropFirst(before.events.count)
        #expect(told.map(\.kind) == [.floor(stable), .floorLifted(stable)])
        #expect(told.map(\.version) == [floor, floor])
        #expect(history.state(at: during)?.live.channels[stable]?.floor == floor)
        #expect(history.state(at: copy.repository.now)?.live.channels[stable]?.floor == nil)
    }

    @Test("a key that is revoked, and the one in its place, are told once with whoever said so")
    func keys() async throws {
        var copy = self
        let before = try #require(copy.repository.signers[release]?.first)
        let team = try #require(SealiftRole.release(model).delegator?.roleName)
        let next = try SoftwareKey.generate(.ed25519)
        let (old, new) = (Authoring.keyID(of: before.publicKey), Authoring.keyID(of: next.publicKey))
        #expect(try await history().events.allSatisfy { if case .keys = $0.kind { false } else { true } })
        copy.repository.signers[release] = [next]
        let pattern = try #require(SealiftRole.release(model).pattern)
        copy.repository.roles[team]?.delegations?.roles.removeAll { $0.name == release.description }
        copy.repository.roles[team]?.delegations?.keys[old] = nil
        try copy.repository.delegate(release, by: team, paths: [pattern])
        try copy.repository.publish([team, release, live])
        let told = try await copy.history().events.compactMap { event -> HistoryEvent.KeyChange? in
            if case .keys(let change) = event.kind { change } else { nil }
        }
        let change = try #require(told.first)
        #expect(told.count == 1 && change.role == release.description && change.threshold == 1)
        #expect(change.added == [new] && change.revoked == [old])
    }

    @Test("a channel that sends devices back says which versions they leave")
    func back() async throws {
        var copy = self
        let stable = try #require(ChannelName("stable"))
        let before = try await copy.history()
        let live = try #require(before.states.last?.live)
        let (old, new) = (try #require(ModelVersion("1.0.0")), try #require(ModelVersion("1.1.0")))
        let listed = try #require(live.listed(in: stable).first { $0.version == old }).identity
        try copy.list(live.setting(stable, to: [listed]))
        let told = try await copy.history().events.dropFirst(before.events.count)
        #expect(told.map(\.kind) == [.unlisted(stable), .replacing(stable, [new])])
        #expect(told.map(\.version) == [new, old])
    }

    @Test("a role that goes back between two retained snapshots is a contradiction")
    func goesBack() async throws {
        var copy = self
        copy.repository.snapshot.version = 4
        copy.repository.snapshot.roles[live] = MetaFile(version: 9)
        let signed = try Authoring.envelope(
            signing: copy.repository.snapshot,
            by: copy.repository.signers[.snapshot] ?? []
        )
        copy.repository.files["4.snapshot.json"] = signed
        let lying = copy
        let error = await #expect(throws: AuditError.self) { try await lying.history() }
        guard case .contradiction = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a registry that kept nothing older says from where its memory begins")
    func forgotten() async throws {
        var copy = self
        copy.repository.files["3.snapshot.json"] = nil
        let forgetful = copy
        #expect(try await forgetful.history().retainedFrom == 4)
    }

    @Test("a model that was never published has no history")
    func unknown() async throws {
        let simulator = RegistrySimulator(repository)
        let other = try #require(ModelName("vision/other"))
        let archive = Archive(simulator: simulator, targets: targets)
        await #expect(throws: AuditError.self) {
            try await ModelHistory.read(
                of: other,
                through: simulator.updater(MemoryMetadataStore()),
                fetcher: archive,
                location: location
            )
        }
    }
}
