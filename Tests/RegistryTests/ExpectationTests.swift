import HTTPServer
import Manifest
import Names
import Registry
import RegistryAPI
import Support
import Testing
import Trust

@Suite("Registered expectations")
struct ExpectationTests {
    private static let path = "/api/v1/expectations/vision/detector/camera"
    private let app: AppName

    init() throws { app = try #require(AppName("camera")) }

    /// The fixture's versions have a declared interface, which an app takes only when it says so.
    private static func expectation(allowsUnknown: Bool) -> Manifest.Expectation {
        var expectation = Manifest.Expectation(inputs: [], outputs: [])
        expectation.allowsUnknown = allowsUnknown
        return expectation
    }

    /// Of an app that lives with 1.0.0 and with nothing later.
    private static func expectationOfFirst() throws -> Manifest.Expectation {
        var expectation = expectation(allowsUnknown: true)
        expectation.accepts = VersionRange("<1.1")
        return expectation
    }

    /// A registry with 1.0.0 in use and an app that registered what it needs, and 1.1.0 to be committed.
    private func arranged(
        _ expectation: Manifest.Expectation
    ) async throws -> (test: TestRegistry, next: Posting) {
        let test = try await TestRegistry()
        let first = try await test.publishFirst()
        let next = try await next(test, after: first)
        try await test.registry.register(
            expectation,
            of: app,
            for: TestRegistry.model,
            by: test.token,
            now: TestRegistry.start
        )
        return (test, next)
    }

    /// The same with 1.1.0 committed too, which breaks the app by name.
    private func arrangedBoth() async throws -> (test: TestRegistry, last: Posting) {
        let (test, next) = try await arranged(try Self.expectationOfFirst())
        var both = try next.request
        both.breaks = [app]
        _ = try await test.registry.commit(both, by: .token(test.token), now: TestRegistry.start)
        return (test, next)
    }

    private func next(_ test: TestRegistry, after first: Posting) async throws -> Posting {
        let bytes = Array("weights of 1.1.0".utf8)
        _ = try await test.upload(bytes)
        return try test.nextPosting(after: first, try TestVersion("1.1.0", bytes: bytes))
    }

    /// A posting that changes nothing but where versions go.
    private func changed(
        _ posting: Posting,
        _ change: (LiveDocument) throws -> LiveDocument
    ) throws -> Posting {
        var next = posting
        next.roles[.release(TestRegistry.model)] = nil
        next.roles[.live(TestRegistry.model)]?.version += 1
        let path = LiveDocument.targetPath(model: TestRegistry.model)
        let live = try change(LiveDocument(canonical: posting.contents[path] ?? []))
        next.contents = [:]
        next.list(path, live.canonical, in: .live(TestRegistry.model))
        return next
    }

    @Test("what was registered is listed, replaced and removed")
    func keeping() async throws {
        let service = try await TestService()
        let one = Self.expectation(allowsUnknown: false)
        let other = Self.expectation(allowsUnknown: true)
        #expect(await service.write(.put, Self.path, body: one.canonical).status == 200)
        let answer = await service.write(.put, Self.path, body: other.canonical)
        let list = try ExpectationList(bytes: answer.content)
        #expect(list.expectations.map(\.app) == [app])
        #expect(list.expectations.map(\.document) == [other.json])
        let all = await service.write(.get, "/api/v1/expectations", body: [])
        #expect(try ExpectationList(bytes: all.content) == list)
        #expect(await service.write(.delete, Self.path, body: []).status == 200)
        #expect(await service.write(.delete, Self.path, body: []).status == 404)
        let none = await service.write(.get, "/api/v1/expectations/vision/detector", body: [])
        #expect(try ExpectationList(bytes: none.content).expectations.isEmpty)
    }

    @Test("nothing is kept without a token, outside its scope, or that is no expectation")
    func refused() async throws {
        let service = try await TestService()
        let body = Self.expectation(allowsUnknown: true).canonical
        #expect(await service.ask(.put, Self.path, body: body).status == 401)
        #expect(await service.ask(.get, "/api/v1/expectations").status == 401)
        #expect(await service.ask(.delete, Self.path).status == 401)
        let foreign = "/api/v1/expectations/speech/detector/camera"
        #expect(await service.write(.put, foreign, body: body).status == 403)
        #expect(await service.write(.put, Self.path, body: Array("{}".utf8)).status == 400)
        #expect(await service.write(.put, Self.path + "%20", body: body).status == 400)
        var other = Self.expectation(allowsUnknown: true)
        other.model = ModelName("vision/other")
        #expect(await service.write(.put, Self.path, body: other.canonical).status == 422)
    }

    @Test("a version that breaks an app does not enter a channel, and nothing changes")
    func broken() async throws {
        let (test, next) = try await arranged(try Self.expectationOfFirst())
        let before = try test.state()
        await #expect {
            _ = try await test.commit(next)
        } throws: { error in
            guard case RegistryError.breaksApp(let broken) = error else { return false }
            return broken.app == app && "\(error)".contains("--breaks camera")
        }
        #expect(try test.state() == before)
    }

    @Test("an app loses nothing by what enters a channel on which it never lived with a version")
    func otherChannel() async throws {
        let (test, _) = try await arranged(try Self.expectationOfFirst())
        let first = try test.firstPosting(try TestVersion("1.0.0", bytes: Array("weights of 1.0.0".utf8)))
        let bytes = Array("weights of 1.1.0".utf8)
        let second = try TestVersion("1.1.0", bytes: bytes)
        let beta = try test.nextPosting(after: first, second, to: "beta")
        _ = try await test.commit(beta)
        // From there it breaks the app on the channel that has had 1.0.0.
        let name = try #require(ChannelName("stable"))
        let stable = try changed(beta) { try $0.adding(second.listed, to: name) }
        await #expect {
            _ = try await test.commit(stable)
        } throws: { error in
            guard case RegistryError.breaksApp(let broken) = error else { return false }
            return broken.app == app
        }
    }

    @Test("the last version on a channel that serves an app stays, unless the app is named or it is recalled")
    func lastOne() async throws {
        let (test, last) = try await arrangedBoth()
        let stable = try #require(ChannelName("stable"))
        let (first, second) = (version("1.0.0"), version("1.1.0"))
        func state(_ kind: VersionState.Kind) -> VersionState {
            VersionState(kind: kind, reason: "r", time: TestRegistry.start)
        }
        let changes = [
            try changed(last) { try $0.removing([first], from: stable) },
            try changed(last) { $0.flooring(stable, at: second) },
            try changed(last) { $0.withdrawing(first, state(.yanked)) },
        ]
        let before = try test.state()
        for change in changes {
            await #expect {
                _ = try await test.commit(change)
            } throws: { error in
                guard case RegistryError.breaksApp(let broken) = error else { return false }
                return broken.cause == .left(stable) && broken.version == first
                    && "\(error)".contains("--breaks camera")
            }
        }
        #expect(try test.state() == before)
        // Another one going harms nobody, and a recall is never held up.
        let other = try changed(last) { try $0.removing([second], from: stable) }
        _ = try await test.commit(other)
        _ = try await test.commit(changed(other) { $0.withdrawing(first, state(.recalled)) })
    }

    @Test("a yank goes on when the app is named")
    func namedLoss() async throws {
        let (test, last) = try await arrangedBoth()
        let state = VersionState(kind: .yanked, reason: "r", time: TestRegistry.start)
        let first = version("1.0.0")
        var request = try changed(last) { $0.withdrawing(first, state) }.request
        request.breaks = [app]
        _ = try await test.registry.commit(request, by: .token(test.token), now: TestRegistry.start)
    }

    @Test("named, it enters, and that is recorded")
    func named() async throws {
        let (test, next) = try await arranged(try Self.expectationOfFirst())
        var request = try next.request
        request.breaks = [app]
        #expect(try CommitRequest(bytes: request.bytes) == request)
        let answer = try await test.registry.commit(request, by: .token(test.token), now: TestRegistry.start)
        #expect(answer.snapshot == 3)
    }

    @Test("an app that could not live with the version before either stops nobody")
    func neverServed() async throws {
        let (test, next) = try await arranged(Self.expectation(allowsUnknown: false))
        _ = try await test.commit(next)
    }

    @Test("what an app can use enters, and so does what is only released")
    func fitting() async throws {
        let (test, whole) = try await arranged(Self.expectation(allowsUnknown: false))
        var next = whole
        next.roles[.live(TestRegistry.model)] = nil
        next.contents[LiveDocument.targetPath(model: TestRegistry.model)] = nil
        _ = try await test.commit(next)
        try await test.registry.register(
            Self.expectation(allowsUnknown: true),
            of: app,
            for: TestRegistry.model,
            by: test.token,
            now: TestRegistry.start
        )
        let known = try test.registry.expectations(of: TestRegistry.model)
        #expect(known.count == 1)
    }
}
