import Names
import Signing
import Support
import Testing
import Transfer
import Trust

/// Roots that give the top-level roles other keys.
@Suite("New keys for top-level roles")
struct OnlineRotationTests {
    @Test(
        "two roots, each with new keys for another role, and a refresh between them",
        arguments: [
            (RoleName.timestamp, RoleName.snapshot), (.snapshot, .timestamp), (.snapshot, .targets),
            (.targets, .timestamp),
        ]
    )
    func inTurn(first: RoleName, second: RoleName) async throws {
        let world = try World()
        try await world.synchronise()
        let stolen = world.registry.repository.signers
        for (version, role) in [(Int64(2), first), (3, second)] {
            try world.registry.change { repository in
                try repository.rotate(role)
                try repository.publishRoot()
                try repository.publish([.targets])
            }
            let updater = try await world.synchronise()
            #expect(updater.root?.document.version == version)
            world.expectStored(.root, .timestamp, .snapshot, .targets)
        }
        // Neither old key signs anything any more.
        for role in [first, second] {
            let genuine = world.registry.repository
            try world.registry.change { repository in
                repository.signers[role] = stolen[role]
                try repository.publish([.targets])
            }
            try await world.expectRefusal(
                .thresholdNotMet(role: role, valid: 0, needed: 1),
                advancing: World.before(role)
            )
            world.registry.change { $0.signers = genuine.signers }
        }
        try world.registry.change { try $0.publish([.targets]) }
        try await world.synchronise()
    }

    @Test(
        "without news, new keys of one role cost its file alone",
        arguments: [RoleName.timestamp, .targets]
    )
    func requests(role: RoleName) async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            try repository.rotate(role)
            try repository.publishRoot()
            // The same document, signed by the new keys.
            if role == .timestamp {
                try repository.signTimestamp()
            } else {
                let targets = try #require(repository.roles[.targets])
                repository.files["2.targets.json"] = try repository.envelope(of: targets, .targets)
            }
        }
        var updater = world.updater()
        try await updater.refresh()
        let requests = ["2.root.json", "3.root.json", "timestamp.json"]
        #expect(
            world.registry.takeRequests() == (role == .targets ? requests + ["2.targets.json"] : requests)
        )
        world.expectStored(.root, .timestamp, .snapshot, .targets)
    }

    @Test("plain TUF: a root whose snapshot role asks for more signatures than it lists keys is a root")
    func unmeetable() async throws {
        let world = try World(plain: ())
        try await world.synchronise()
        let before = world.store.contents
        try world.registry.change { repository in
            repository.root.roles[.snapshot]?.threshold = 2
            try repository.publishRoot()
            try repository.publish()
        }
        var updater = world.updater()
        let refusal = TrustError.thresholdNotMet(role: .snapshot, valid: 1, needed: 2)
        await #expect(throws: UpdateError.refused(refusal)) { try await updater.refresh() }
        world.expectStored(.root, .timestamp)
        for name in ["snapshot.json", "targets.json"] {
            #expect(world.store.contents[name] == before[name], "\(name)")
        }
        // The next root repairs it.
        try world.registry.change { repository in
            repository.root.roles[.snapshot]?.threshold = 1
            try repository.publishRoot()
        }
        try await world.synchronise()
        world.expectStored(.root, .timestamp, .snapshot, .targets)
    }
}
