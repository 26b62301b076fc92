import Names
import Signing
import Support
import Testing
import Transfer
import Trust

/// The order of the search through delegations: each role before what is below it, siblings in their order
/// (TUF 1.0.34, 5.6.7).
@Suite("Order of a search")
struct SearchOrderTests {
    /// Delegations in the order in which they are listed; `!` behind a role's name makes it terminating.
    struct Tree: Sendable, CustomTestStringConvertible {
        let edges: [(parent: RoleName, child: String)]
        let visited: [String]
        var testDescription: String { visited.joined(separator: " ") }
    }

    static let trees: [Tree] = [
        Tree(
            edges: [
                (.targets, "A"), (.targets, "B"), (.targets, "C"), ("A", "A1"), ("A", "A2"), ("B", "B1"),
            ],
            visited: ["A", "A1", "A2", "B", "B1", "C"]
        ),
        Tree(
            edges: [
                (.targets, "A"), (.targets, "B"), (.targets, "C"), ("A", "A1"), ("A", "A2"), ("A1", "A1a"),
                ("A1", "A1b"), ("A2", "A2a"), ("B", "B1"), ("B1", "B1a"),
            ],
            visited: ["A", "A1", "A1a", "A1b", "A2", "A2a", "B", "B1", "B1a", "C"]
        ),
        // Names do not order the search, and a role that was visited is not visited again.
        Tree(
            edges: [
                (.targets, "Z"), (.targets, "M"), (.targets, "B"), ("Z", "Y"), ("Z", "M"), ("Y", "Z"),
                ("M", "B"), ("B", "A"),
            ],
            visited: ["Z", "Y", "M", "B", "A"]
        ),
        // The first terminating match ends the search below it, for its siblings and those of its parents.
        Tree(
            edges: [(.targets, "A"), (.targets, "B"), ("A", "A1"), ("A", "A2!"), ("A", "A3"), ("A2", "A2a")],
            visited: ["A", "A1", "A2", "A2a"]
        ),
    ]

    private func world(_ tree: Tree) throws -> World {
        let world = try World(plain: ())
        try world.registry.change { repository in
            for (parent, child) in tree.edges {
                let isTerminating = child.hasSuffix("!")
                let role = RoleName(isTerminating ? String(child.dropLast()) : child)
                try repository.delegate(role, by: parent, paths: ["*"], terminating: isTerminating)
            }
            try repository.publish()
        }
        return world
    }

    @Test("a search for what nobody lists visits every role once, in order", arguments: trees)
    func everything(tree: Tree) async throws {
        let world = try world(tree)
        var updater = try await world.synchronise()
        #expect(try await updater.target("x") == nil)
        #expect(world.registry.takeRequests() == tree.visited.map { "1.\($0).json" })
        // Once visited, a role is asked for no more: in this update, and in the next.
        #expect(try await updater.target("y") == nil)
        updater = world.updater()
        try await updater.refresh()
        #expect(try await updater.target("z") == nil)
        #expect(world.registry.takeRequests() == ["2.root.json", "timestamp.json"])
    }

    @Test("a search ends at the first role that lists the target, whoever else lists it", arguments: trees)
    func found(tree: Tree) async throws {
        for (index, role) in tree.visited.enumerated() {
            let world = try world(tree)
            try world.registry.change { repository in
                for (place, later) in tree.visited.enumerated().dropFirst(index) {
                    repository.roles[RoleName(later)]?.targets["x"] = TargetFile(of: [UInt8(place)])
                }
                // The simulated version stays 1: what was published is published once more.
                repository.snapshot.roles = repository.snapshot.roles.filter { $0.key == .targets }
                try repository.publish()
            }
            var updater = try await world.synchronise()
            #expect(try await updater.target("x") == TargetFile(of: [UInt8(index)]), "\(role)")
            #expect(world.registry.takeRequests() == tree.visited[...index].map { "1.\($0).json" }, "\(role)")
        }
    }

    @Test(
        "a role that two parents name is found through the one whose path matches, with that one's keys",
        arguments: ["the same key", "other keys"]
    )
    func secondParent(keys: String) async throws {
        let world = try World(plain: ())
        try world.registry.change { repository in
            try repository.delegate("A", by: .targets, paths: ["*/*"], terminating: false)
            try repository.delegate("B", by: .targets, paths: ["*/*"], terminating: false)
            try repository.delegate("shared", by: "A", paths: ["y/*"], terminating: false)
            if keys == "other keys" { repository.signers["shared"] = nil }
            try repository.delegate("shared", by: "B", paths: ["x/*"], terminating: false)
            repository.roles["shared"]?.targets = [
                "x/file": TargetFile(of: [1]), "y/file": TargetFile(of: [2]),
            ]
            try repository.publish()
        }
        var updater = try await world.synchronise()
        #expect(try await updater.target("x/file") == TargetFile(of: [1]))
        #expect(world.registry.takeRequests() == ["1.A.json", "1.B.json", "1.shared.json"])
        if keys == "other keys" {
            // Through the first parent it is nobody's, and does not come from the store either.
            let refusal = TrustError.thresholdNotMet(role: "shared", valid: 0, needed: 1)
            await #expect(throws: UpdateError.refused(refusal)) { try await updater.target("y/file") }
        } else {
            #expect(try await updater.target("y/file") == TargetFile(of: [2]))
        }
    }
}
