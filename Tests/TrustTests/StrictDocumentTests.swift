package import CanonicalJSON
import Names
import Support
import Testing
import Transfer
import Trust

/// A signed document that is not of its form, and the refusal it must meet.
private struct Flaw: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let role: RoleName
    let error: TrustError
    let rewrite: @Sendable (inout JSONObject) -> Void

    /// - Parameters:
    ///   - role: Whose document it is.
    ///   - reason: What the refusal says.
    ///   - path: Members from the outside in; a number is a place in a list.
    ///   - value: What stands there; `nil` takes it away.
    init(_ role: RoleName, _ reason: String, _ path: [String], _ value: JSONValue?) {
        testDescription = "\(role) \(path.joined(separator: ".")): \(reason)"
        self.role = role
        error = .malformed(role: role, reason: reason)
        rewrite = { signed in
            guard case .object(let object)? = Flaw.replaced(.object(signed), path[...], value) else { return }
            signed = object
        }
    }

    private static func replaced(
        _ whole: JSONValue,
        _ path: ArraySlice<String>,
        _ value: JSONValue?
    ) -> JSONValue? {
        guard let first = path.first else { return value }
        let rest = path.dropFirst()
        if var object = whole.object {
            object[first] = replaced(object[first] ?? .object(JSONObject()), rest, value)
            return .object(object)
        }
        guard var elements = whole.array, let place = Int(first), elements.indices.contains(place) else {
            return whole
        }
        if let element = replaced(elements[place], rest, value) { elements[place] = element }
        return .array(elements)
    }
}

@Suite("Documents that are signed and not of their form")
struct StrictDocumentTests {
    private static let root = [
        Flaw(.root, "`snapshot` is not an object", ["roles", "snapshot"], nil),
        Flaw(.root, "`roles` in `signed` is not the four top-level roles", ["roles", "x"], [:]),
        Flaw(
            .root,
            "`threshold` in `root` is not an integer of at least 1",
            ["roles", "root", "threshold"],
            0
        ),
        Flaw(.root, "`keyids` in `root` is not a list", ["roles", "root", "keyids"], "x"),
        Flaw(.root, "`consistent_snapshot` in `signed` is not true or false", ["consistent_snapshot"], 1),
        Flaw(.root, "`keys` is not an object", ["keys"], nil),
        Flaw(.root, "`keytype` in `keys` is not text", ["keys", "00"], ["scheme": "x", "keyval": [:]]),
    ]

    private static let snapshot = [
        Flaw(.snapshot, "`meta` in `signed` is not a list with targets.json", ["meta", "targets.json"], nil),
        Flaw(
            .snapshot,
            "`meta` in `signed` is not a list of ROLE.json: team",
            ["meta", "team"],
            ["version": 1]
        ),
        Flaw(
            .snapshot,
            "`meta` in `signed` is not a list of ROLE.json: .json",
            ["meta", ".json"],
            ["version": 1]
        ),
        Flaw(
            .snapshot,
            "`version` in `meta` is not an integer of at least 1",
            ["meta", "targets.json", "version"],
            0
        ),
        Flaw(
            .snapshot,
            "`hashes` in `meta` is not digests in lower-case hex",
            ["meta", "targets.json", "hashes"],
            ["sha256": "AB"]
        ),
    ]

    private static let targets = [
        Flaw(.targets, "`targets` is not an object", ["targets"], nil),
        Flaw(
            .targets,
            "`length` in `targets` is not an integer of at least 0",
            ["targets", "a", "length"],
            -1
        ),
        Flaw(
            .targets,
            "`length` in `targets` is not an integer of at least 0",
            ["targets", "a", "length"],
            nil
        ),
        Flaw(.targets, "`hashes` in `targets` is not at least one digest", ["targets", "a", "hashes"], [:]),
        Flaw(
            .targets,
            "`hashes` in `targets` is not digests in lower-case hex",
            ["targets", "a", "hashes", "sha256"],
            "0"
        ),
        Flaw(
            .targets,
            "`hashes` in `targets` is not digests in lower-case hex",
            ["targets", "a", "hashes", "sha512"],
            ""
        ),
        Flaw(.targets, "`targets` is not an object", ["targets", "a"], "x"),
    ]

    private static let delegations = [
        Flaw(.targets, "`roles` in `delegations` is not there, or not alone", ["delegations", "roles"], nil),
        Flaw(
            .targets,
            "`roles` in `delegations` is not there, or not alone",
            ["delegations", "succinct_roles"],
            ["keyids": [], "threshold": 1, "bit_length": 4, "name_prefix": "bin"]
        ),
        Flaw(
            .targets,
            "`terminating` in `delegations.roles` is not true or false",
            ["delegations", "roles", "0", "terminating"],
            nil
        ),
        Flaw(
            .targets,
            "`paths` in `delegations.roles` is not there, or not alone",
            ["delegations", "roles", "0", "paths"],
            nil
        ),
        Flaw(
            .targets,
            "`paths` in `delegations.roles` is not there, or not alone",
            ["delegations", "roles", "0", "path_hash_prefixes"],
            ["00"]
        ),
        Flaw(
            .targets,
            "`paths` in `delegations.roles` is not a list of text",
            ["delegations", "roles", "0", "paths"],
            [1]
        ),
        Flaw(
            .targets,
            "`name` in `delegations.roles` is not the name of a delegated role",
            ["delegations", "roles", "0", "name"],
            "snapshot"
        ),
        Flaw(
            .targets,
            "`bit_length` in `succinct_roles` is not 1 to 32",
            ["delegations"],
            [
                "keys": [:],
                "succinct_roles": ["keyids": [], "threshold": 1, "bit_length": 33, "name_prefix": "bin"],
            ]
        ),
        Flaw(
            .targets,
            "`name_prefix` in `succinct_roles` is not a name",
            ["delegations"],
            [
                "keys": [:],
                "succinct_roles": ["keyids": [], "threshold": 1, "bit_length": 1, "name_prefix": ""],
            ]
        ),
    ]

    @Test(
        "the exact flaw is named, and what was trusted stays",
        arguments: root + snapshot + targets + delegations
    )
    fileprivate func refused(flaw: Flaw) async throws {
        let world = try World(plain: ())
        try world.registry.change { repository in
            repository.roles[.targets]?.targets["a"] = TargetFile(of: [])
            try repository.delegate("team", by: .targets, paths: ["team/*"])
            try repository.publish()
        }
        try await world.synchronise()
        try world.registry.change { repository in
            repository.rewriting[flaw.role] = flaw.rewrite
            if flaw.role == .root { try repository.publishRoot() } else { try repository.publish() }
        }
        let before: [RoleName: Set<RoleName>] = [.snapshot: [.timestamp], .targets: [.timestamp, .snapshot]]
        try await world.expectRefusal(flaw.error, advancing: before[flaw.role] ?? [])
    }

    @Test("a specification of two numbers, and members that nobody knows, are taken")
    func lenient() async throws {
        let world = try World(plain: ())
        try world.registry.change { repository in
            for role in [RoleName.root, .timestamp, .snapshot, .targets] {
                repository.rewriting[role] = { signed in
                    signed["spec_version"] = "1.0"
                    signed["x-unknown"] = ["a": [1]]
                }
            }
            try repository.publishRoot()
            try repository.publish()
        }
        let updater = try await world.synchronise()
        #expect(updater.root?.document.version == 2)
        #expect(updater.targets?.document.version == 2)
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    package init(stringLiteral text: String) { self = .text(text) }
    package init(integerLiteral number: Int64) { self = .integer(number) }
    package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    package init(dictionaryLiteral members: (String, JSONValue)...) {
        var object = JSONObject()
        for (key, value) in members { object[key] = value }
        self = .object(object)
    }
}
