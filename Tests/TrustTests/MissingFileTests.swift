import Names
import Support
import Testing
import Transfer
import Trust

/// What an update keeps when the repository lacks a file that its own metadata name.
@Suite("Missing files")
struct MissingFileTests {
    @Test(
        "what came before a missing file is kept beside what was there, and the next update goes on",
        arguments: [RoleName.snapshot, .targets, .vision, .live]
    )
    func missing(role: RoleName) async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { try $0.publish() }
        let name = world.registry.repository.newestFile(of: role)
        let bytes = try #require(world.registry.repository.files[name])
        let advancing = World.before(role).union(
            role == .vision ? [.targets] : role == .live ? [.targets, .vision] : []
        )
        world.registry.change { $0.files[name] = nil }
        for _ in 0..<2 {
            try await world.expectFailure(
                .absent(url: "https://registry.test/metadata/\(name)"),
                advancing: advancing,
                World.loading(role)
            )
            for role in advancing { world.expectStored(role) }
        }
        // The second time, nothing that is stored was asked for again.
        #expect(world.registry.takeRequests().suffix(3) == ["2.root.json", "timestamp.json", name])
        world.registry.change { $0.files[name] = bytes }
        try await world.synchronise()
        world.expectStored(.timestamp, .snapshot, .targets, .vision, .live)
    }
}
