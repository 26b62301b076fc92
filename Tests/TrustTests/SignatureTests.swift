import CanonicalJSON
import Names
import Signing
import Support
import Testing
import Transfer
import Trust

/// Which signatures count, for every place where a quorum is asked for.
@Suite("Signatures")
struct SignatureTests {
    private static let roles: [RoleName] = [.root, .timestamp, .snapshot, .targets, .live]

    @Test(
        "a bad signature by a listed key does no harm beside enough good ones, and stands for none",
        arguments: roles,
        ["", "zz", "00", "of another file"]
    )
    func bad(role: RoleName, text: String) async throws {
        let keys = try World.keys(3)
        let world = try World()
        try world.registry.change { try $0.appoint(keys, threshold: 2, for: role) }
        try await world.synchronise()
        for count in 1...2 {
            try world.registry.change { repository in
                try repository.publish(role, by: keys)
                try repository.rewriteSignatures(of: role) { signatures in
                    #expect(signatures.count == 3)
                    for index in 0..<count {
                        let id = try #require(signatures[index]["keyid"]?.string)
                        let key = try #require(keys.first { Authoring.keyID(of: $0.publicKey) == id })
                        let foreign = Hex.text(try key.signature(of: Array("{}".utf8)))
                        let bad = text == "of another file" ? foreign : text
                        signatures[index] = .members(["keyid": .text(id), "sig": .text(bad)])
                    }
                }
            }
            if count == 1 {
                try await world.synchronise()
                world.expectStored(role)
            } else {
                try await world.expectRefusal(
                    .thresholdNotMet(role: role, valid: 1, needed: 2),
                    advancing: World.before(role),
                    World.loading(role)
                )
            }
        }
    }

    @Test(
        "valid signatures by keys outside the role count for nothing, wherever they stand",
        arguments: roles,
        [[0, 1, 2], [1, 0, 2], [2, 1, 0]]
    )
    func outside(role: RoleName, order: [Int]) async throws {
        let world = try World()
        try await world.synchronise()
        let signers = world.registry.repository.signers
        let own = try #require(signers[role]?.first)
        let ofAnotherRole = try #require(signers[role == .timestamp ? .snapshot : .timestamp]?.first)
        let keys = [own, ofAnotherRole, try SoftwareKey.generate(.ecdsaP256)]
        try world.registry.change { repository in
            try repository.publish(role, by: keys)
            try repository.rewriteSignatures(of: role) { signatures in
                #expect(signatures.count == 3)
                signatures = try order.map { index in
                    let id = Authoring.keyID(of: keys[index].publicKey)
                    return try #require(signatures.first { $0["keyid"]?.string == id })
                }
            }
        }
        try await world.synchronise()
        world.expectStored(role)
        try world.registry.change { try $0.publish(role, by: Array(keys.dropFirst())) }
        try await world.expectRefusal(
            .thresholdNotMet(role: role, valid: 0, needed: 1),
            advancing: World.before(role),
            World.loading(role)
        )
    }

    @Test("each version may be signed by other keys of the role, and by enough of them", arguments: roles)
    func subsets(role: RoleName) async throws {
        let keys = try World.keys(4)
        let world = try World()
        try world.registry.change { try $0.appoint(keys, threshold: 2, for: role) }
        try await world.synchronise()
        for pair in [[0, 1], [2, 3], [1, 2], [3, 0]] {
            try world.registry.change { try $0.publish(role, by: pair.map { keys[$0] }) }
            try await world.synchronise()
            world.expectStored(role)
        }
        try world.registry.change { try $0.publish(role, by: [keys[1]]) }
        try await world.expectRefusal(
            .thresholdNotMet(role: role, valid: 1, needed: 2),
            advancing: World.before(role),
            World.loading(role)
        )
    }
}
