import Names
import Signing
import Support
import Testing
import Transfer
import Trust

/// What a thief can do with the keys of one role, and that new keys end it.
@Suite("Attack: key compromise")
struct KeyCompromiseTests {
    private static let thief = Array("of the thief".utf8)

    @Test("a stolen timestamp key can name no snapshot that the snapshot key did not sign")
    func timestamp() async throws {
        let world = try World()
        try await world.synchronise()
        try world.registry.change { repository in
            let genuine = repository.signers[.snapshot]
            repository.signers[.snapshot] = [try SoftwareKey.generate(.ed25519)]
            repository.snapshot.roles[.live] = MetaFile(version: 9)
            try repository.publishSnapshot()
            repository.signers[.snapshot] = genuine
        }
        try await world.expectRefusal(
            .thresholdNotMet(role: .snapshot, valid: 0, needed: 1),
            advancing: [.timestamp]
        )
    }

    @Test("a stolen timestamp key can freeze no longer than the root allows")
    func freeze() async throws {
        let world = try World()
        try await world.synchronise()
        let year: Int64 = 365 * 86_400
        try world.registry.change { repository in
            repository.timestamp.version += 1
            repository.timestamp.expires = World.start.adding(seconds: year)
            try repository.signTimestamp()
        }
        try await world.expectRefusal(
            .lifetimeTooLong(role: .timestamp, seconds: year, maximum: 3 * 86_400)
        )
    }

    @Test(
        "both online keys stolen can make no release and hide none that was seen",
        arguments: [true, false]
    )
    func online(isForged: Bool) async throws {
        let world = try World()
        try world.registry.change { try $0.publish([.live]) }
        try await world.synchronise()
        try world.registry.change { repository in
            if isForged {
                repository.signers[.live] = repository.signers[.snapshot]
                repository.roles[.live]?.targets["vision/detector/live.json"] = TargetFile(of: Self.thief)
                try repository.publish([.live])
            } else {
                repository.snapshot.roles[.live] = MetaFile(version: 1)
                try repository.publishSnapshot()
            }
        }
        if isForged {
            try await world.expectRefusal(
                .thresholdNotMet(role: .live, valid: 0, needed: 1),
                advancing: [.timestamp, .snapshot],
                World.loading(.live)
            )
        } else {
            try await world.expectRefusal(
                .rollback(role: .live, trusted: 2, found: 1),
                advancing: [.timestamp]
            )
        }
    }

    @Test("one stolen key of a threshold of two is not enough", arguments: [RoleName.root, .targets])
    func threshold(role: RoleName) async throws {
        let world = try World()
        try world.registry.change { repository in
            try repository.rotate(role, to: .ecdsaP256, count: 3, threshold: 2)
            try repository.publishRoot()
            try repository.publish()
        }
        try await world.synchronise()
        try world.registry.change { repository in
            let stolen = Array(repository.signers[role]?.prefix(1) ?? [])
            repository.signers[role] = stolen
            if role == .root {
                repository.root.roles[.targets] = RoleKeys(
                    keyIDs: stolen.map { Authoring.keyID(of: $0.publicKey) },
                    threshold: 1
                )
                try repository.publishRoot()
            } else {
                try repository.publish([.targets])
            }
        }
        try await world.expectRefusal(
            .thresholdNotMet(role: role, valid: 1, needed: 2),
            advancing: role == .root ? [] : [.timestamp, .snapshot]
        )
    }

    @Test("a stolen hold key can only hold: it lists nothing else, delegates nothing, denies nothing")
    func hold() async throws {
        let model = try #require(World.detector)
        let lies: [(String, (inout TargetsDocument) -> Void)] = [
            (
                "it may not list vision/detector/live.json",
                {
                    $0.targets["vision/detector/live.json"] = TargetFile(of: Self.thief)
                }
            ),
            (
                "it may not delegate to vision~detector",
                {
                    $0.delegations = Delegations(
                        keys: [],
                        roles: [
                            Delegation(
                                name: "vision~detector",
                                keyIDs: [],
                                threshold: 1,
                                paths: ["vision/detector/*"],
                                terminating: true
                            )
                        ]
                    )
                }
            ),
            (
                "it may not deny",
                {
                    $0.deny = [
                        Denial(
                            model: model,
                            subject: .manifest(SHA256.digest(of: [])),
                            reason: "",
                            since: World.start
                        )
                    ]
                }
            ),
        ]
        for (reason, lie) in lies {
            let world = try World()
            try await world.synchronise()
            try world.registry.change { repository in
                var document = try #require(repository.roles[.hold])
                lie(&document)
                repository.roles[.hold] = document
                try repository.publish([.hold])
            }
            try await world.expectRefusal(
                .shape(role: .hold, reason: reason),
                advancing: [.timestamp, .snapshot],
                World.loading(.hold)
            )
        }
    }

    @Test("a stolen release key puts nothing into use, and a stolen live key releases nothing")
    func publisher() async throws {
        for (stolen, forged) in [(RoleName.release, RoleName.live), (.live, .release)] {
            let world = try World()
            try await world.synchronise()
            try world.registry.change { repository in
                repository.signers[forged] = repository.signers[stolen]
                try repository.publish([forged])
            }
            try await world.expectRefusal(
                .thresholdNotMet(role: forged, valid: 0, needed: 1),
                advancing: [.timestamp, .snapshot],
                World.loading(forged)
            )
        }
    }

    @Test(
        "after a role's keys are replaced the stolen ones sign nothing, and clients go on without a visit",
        arguments: [RoleName.timestamp, .snapshot, .targets]
    )
    func replacedInRoot(role: RoleName) async throws {
        let world = try World()
        try await world.synchronise()
        let stolen = world.registry.repository.signers[role]
        try world.registry.change { repository in
            try repository.rotate(role)
            try repository.publishRoot()
            try repository.publish()
        }
        try await world.synchronise()
        let recovered = world.registry.repository
        try world.registry.change { repository in
            repository.signers[role] = stolen
            try repository.publish()
        }
        let kept: [RoleName: Set<RoleName>] = [.snapshot: [.timestamp], .targets: [.timestamp, .snapshot]]
        try await world.expectRefusal(
            .thresholdNotMet(role: role, valid: 0, needed: 1),
            advancing: kept[role] ?? []
        )
        try world.registry.change { repository in
            repository.signers[role] = recovered.signers[role]
            try repository.publish()
        }
        try await world.synchronise()
    }

    @Test(
        "after a delegator names another key, the stolen one signs nothing below it",
        arguments: [RoleName.vision, .live, .release, .hold]
    )
    func replacedByDelegator(role: RoleName) async throws {
        let world = try World()
        try await world.synchronise()
        let stolen = try #require(world.registry.repository.signers[role])
        try world.registry.change { repository in
            let parent = try #require(SealiftRole(role)?.delegator?.roleName)
            let key = try SoftwareKey.generate(.ecdsaP256)
            let id = Authoring.keyID(of: key.publicKey)
            var delegations = try #require(repository.roles[parent]?.delegations)
            let place = try #require(delegations.roles.firstIndex { $0.role == role })
            delegations.keys[id] = KeyObject(key.publicKey)
            delegations.roles[place].roleKeys = RoleKeys(keyIDs: [id], threshold: 1)
            repository.roles[parent]?.delegations = delegations
            repository.signers[role] = [key]
            try repository.publish()
        }
        try await world.synchronise()
        try world.registry.change { repository in
            repository.signers[role] = stolen
            try repository.publish([role])
        }
        try await world.expectRefusal(
            .thresholdNotMet(role: role, valid: 0, needed: 1),
            advancing: [.timestamp, .snapshot],
            World.loading(role)
        )
    }
}
