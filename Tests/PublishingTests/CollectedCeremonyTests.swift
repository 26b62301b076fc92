import Names
import Publishing
import Signing
import Support
import Testing
import Transfer
import Trust

@Suite("Ceremonies with collected signatures")
struct CollectedCeremonyTests {
    /// Answers nobody: collecting signatures posts nothing.
    private struct NoExchange: APIExchanging {
        func send(_ request: APIRequest) async throws(FetchError) -> APIResponse {
            throw .outage(.absent, url: request.url)
        }
    }

    private static let now = UnixTime(rawValue: 1_796_000_000)

    private func view() throws -> VerifiedRegistry {
        let model = try Test.model()
        var repository = try SimulatedRepository.sealift(model, now: Self.now)
        // Its documents are none, and only what targets lists is read here.
        repository.roles[.targets]?.targets["sealift/settings.json"] = nil
        try repository.publish([.targets])
        let registry = RegistrySimulator(repository)
        return VerifiedRegistry(
            updater: registry.updater(MemoryMetadataStore()),
            renewing: registry.updater(MemoryMetadataStore()),
            fetcher: registry,
            location: registry.location
        )
    }

    private func ceremony(_ view: VerifiedRegistry) throws -> Ceremony {
        let keys = try KeyRing([], folder: nil) { _ throws(PublishingError) in nil }
        return Ceremony(
            client: RegistryClient(NoExchange(), at: RepositoryLocation(base: "https://registry.test/")),
            view: view,
            keys: keys,
            now: Self.now,
            notice: { _ in }
        )
    }

    /// The next version of the targets role, made at some time.
    private func proposal(made time: UnixTime) async throws -> Proposal {
        var view = try view()
        try await view.refresh()
        var draft = try RegistryDraft(on: try await view.state(of: .everything), now: time)
        try draft.edit(.targets, "a new life")
        return try draft.proposal()
    }

    @Test("a file for others to sign is refused where devices would refuse what is in it")
    func rehearsed() async throws {
        var ceremony = try ceremony(try view())
        let good = try await ceremony.take(try await proposal(made: Self.now), .collect) { _, _ in }
        #expect(good.proposal != nil && !good.missing.isEmpty)
        let old = try await proposal(made: Self.now.adding(seconds: -10 * 365 * 86_400))
        await #expect {
            _ = try await ceremony.take(old, .collect) { _, _ in }
        } throws: { "\($0)".contains("targets: its signatures would end at") }
    }
}
