import Durable
import Glibc
import Names
import Support
import Testing
import Transfer
import Trust

@Suite("Folder store")
struct FolderStoreTests {
    private func updater(
        _ registry: RegistrySimulator,
        _ scratch: Scratch,
        _ policy: TrustPolicy = .sealift
    ) -> MetadataUpdater {
        MetadataUpdater(
            anchor: registry.repository.files["1.root.json"] ?? [],
            store: FolderMetadataStore(directory: scratch.path("trust")),
            fetcher: registry,
            mirrors: Mirrors([registry.location]),
            now: World.start,
            policy: policy
        )
    }

    @Test("a refresh leaves the trusted files, and no other file that ends in .json")
    func files() async throws {
        let world = try World()
        try world.registry.change { repository in
            try repository.rotate(.root)
            try repository.publishRoot()
        }
        let scratch = Scratch()
        var updater = updater(world.registry, scratch)
        try await updater.refresh()
        _ = try await updater.role(.live(try #require(World.detector)))
        #expect(
            try Durable.names(in: scratch.path("trust")) == [
                "poll-state", "root.json", "root_history", "snapshot.json", "targets.json", "timestamp.json",
                "vision.json", "vision~detector~live.json",
            ]
        )
        #expect(try Durable.names(in: scratch.path("trust/root_history")) == ["2.root.json"])
        #expect(try scratch.read("trust/root.json") == world.registry.repository.files["2.root.json"])
        var stored = self.updater(world.registry, scratch)
        try stored.openStored()
        #expect(stored.root?.document.version == 2)
    }

    @Test(
        "a role is stored while a disk can name its file, and refused with the limit when it cannot",
        arguments: [
            (String(repeating: "a", count: 250), 255), (String(repeating: "a", count: 251), 256),
            (String(repeating: "a", count: 50_000), 50_005),
            (String(repeating: "ü", count: 42), 257),
        ]
    )
    func names(name: String, length: Int) async throws {
        let world = try World(plain: ())
        try world.registry.change { repository in
            try repository.delegate(RoleName(name), by: .targets, paths: ["x"])
            try repository.publish()
        }
        let scratch = Scratch()
        var updater = updater(world.registry, scratch, .plainTUF)
        try await updater.refresh()
        _ = world.registry.takeRequests()
        let role = RoleName(name)
        guard length > 255 else {
            #expect(try await updater.target("x") == nil)
            #expect(try Durable.names(in: scratch.path("trust")).contains(role.fileName))
            return
        }
        await #expect(throws: UpdateError.refused(.nameTooLong(role: role, found: length, limit: 255))) {
            try await updater.target("x")
        }
        #expect(world.registry.takeRequests() == [], "nothing is fetched for it")
    }

    @Test("a stored file that is longer than any role may be is as good as absent")
    func tooLong() async throws {
        let world = try World()
        let scratch = Scratch()
        var updater = updater(world.registry, scratch)
        try await updater.refresh()
        try scratch.write("trust/targets.json", [UInt8](repeating: 0x20, count: 5_000_001))
        updater = self.updater(world.registry, scratch)
        try await updater.refresh()
        #expect(try scratch.read("trust/targets.json") == world.registry.repository.files["2.targets.json"])
    }

    @Test("something that is no file in the place of one is replaced")
    func noFile() async throws {
        let world = try World()
        let scratch = Scratch()
        try Durable.makeDirectory(scratch.path("trust/timestamp.json"))
        var updater = updater(world.registry, scratch)
        try await updater.refresh()
        #expect(
            try scratch.read("trust/timestamp.json") == world.registry.repository.files["timestamp.json"]
        )
    }

    @Test("a link in the place of a stored file is neither read nor written through")
    func link() async throws {
        let world = try World()
        let scratch = Scratch()
        let outside = try scratch.write("outside", [1, 2, 3])
        try Durable.makeDirectory(scratch.path("trust/root_history"))
        for name in ["root.json", "timestamp.json", "snapshot.json", "targets.json", "poll-state"] {
            #expect(symlink(outside, scratch.path("trust/\(name)")) == 0)
        }
        var updater = updater(world.registry, scratch)
        try await updater.refresh()
        #expect(try scratch.read("outside") == [1, 2, 3])
        #expect(
            try scratch.read("trust/timestamp.json") == world.registry.repository.files["timestamp.json"]
        )
        var stored = self.updater(world.registry, scratch)
        try stored.openStored()
    }

    @Test("names of roles and targets that lead elsewhere stay in their folder, and are no address")
    func traversal() async throws {
        let world = try World(plain: ())
        let names = ["../evil", "..", "/etc/passwd", "a/../../b", "..\\x", "\u{0}", "%2e%2e%2fx"]
        try world.registry.change { repository in
            for name in names {
                try repository.delegate(RoleName(name), by: .targets, paths: ["*"], terminating: false)
            }
            for path in ["../escape", "/escape", "a/../../escape", "a//b"] {
                repository.roles[.targets]?.targets[TargetPath(path)] = TargetFile(of: [])
            }
            try repository.publish()
        }
        let scratch = Scratch()
        var updater = updater(world.registry, scratch, .plainTUF)
        try await updater.refresh()
        let top = try Durable.names(in: scratch.path("trust"))
        _ = world.registry.takeRequests()
        for path in ["../escape", "/escape", "a/../../escape", "a//b"] {
            let file = try #require(try await updater.target(TargetPath(path)))
            #expect(updater.location(of: TargetPath(path), file) == nil)
        }
        // Every role that matches is visited, and each is one file of the folder.
        _ = try? await updater.target("nowhere")
        #expect(try Durable.names(in: scratch.path) == ["trust"])
        let stored = Set(try Durable.names(in: scratch.path("trust"))).subtracting(top)
        #expect(stored.isSubset(of: names.map { RoleName($0).fileName }), "\(stored)")
    }

    @Test("a disk that fails is reported, and not taken for an empty store")
    func failing() async throws {
        let world = try World()
        let scratch = Scratch()
        try scratch.write("trust", [1])
        var updater = updater(world.registry, scratch)
        let error = await #expect(throws: UpdateError.self) { try await updater.refresh() }
        guard case .storage(.system(_, _, ENOTDIR)) = try #require(error) else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
