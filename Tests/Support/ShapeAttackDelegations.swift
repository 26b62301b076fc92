import CanonicalJSON
import Trust

/// Delegations that TUF allows and Sealift does not.
extension ShapeAttack {
    /// A role delegates to one that is not below it.
    private static func naming(
        _ description: String,
        _ role: RoleName,
        _ name: String,
        _ path: String
    ) -> ShapeAttack {
        ShapeAttack(description, role, "it may not delegate to \(name)") {
            $0.delegations?.roles.append(delegation(name, path))
        }
    }

    /// Role names that are not for the delegator to give.
    static let names = [
        naming("targets names a release role, a diamond", .targets, "vision~detector", "vision/detector/*"),
        naming("targets names a live role", .targets, "vision~detector~live", "vision/detector/live.json"),
        naming("targets names a namespace outside the alphabet", .targets, "Vision", "Vision/*/*"),
        naming("targets names a namespace that leads elsewhere", .targets, "../vision", "../vision/*/*"),
        naming("targets names the reserved namespace sealift", .targets, "sealift", "sealift/*/*"),
        naming("targets names the reserved namespace mirrors", .targets, "mirrors", "mirrors/*/*"),
        naming(
            "targets names a namespace whose file is the device's own state",
            .targets,
            "state",
            "state/*/*"
        ),
        naming("targets names a role beside the hold role", .targets, "sealift~other", "sealift/other/*"),
        ShapeAttack("a namespace names another's model", vision, "it may not delegate to audio~x~live") {
            $0.delegations?.roles.append(delegation("audio~x~live", "audio/x/live.json"))
            $0.delegations?.roles.append(delegation("audio~x", "audio/x/*"))
        },
        naming("a namespace names a namespace", vision, "audio", "audio/*/*"),
        naming("a namespace names the hold role", vision, "sealift~hold", "sealift/holds/*/*"),
        naming(
            "a namespace names a role of four parts",
            vision,
            "vision~detector~live~x",
            "vision/detector/live.json"
        ),
        ShapeAttack("a release role names a role", release, "it may not delegate to vision~other") {
            $0.delegations = Delegations(keys: [], roles: [delegation("vision~other", "vision/other/*")])
        },
        ShapeAttack("a live role names a role", live, "it may not delegate to x") {
            $0.delegations = Delegations(keys: [], roles: [delegation("x", "x")])
        },
    ]

    /// Other patterns than the one that belongs to a name.
    static let patterns = [
        ShapeAttack(
            "a namespace gets everything",
            .targets,
            "delegates to vision by other paths than vision/*/*"
        ) { $0.patterns(of: vision, ["*/*/*"]) },
        ShapeAttack(
            "a namespace gets a second pattern",
            .targets,
            "delegates to vision by other paths than vision/*/*"
        ) {
            $0.patterns(of: vision, ["vision/*/*", "audio/*/*"])
        },
        ShapeAttack(
            "a namespace gets another's pattern",
            .targets,
            "delegates to vision by other paths than vision/*/*"
        ) {
            $0.patterns(of: vision, ["audio/*/*"])
        },
        ShapeAttack(
            "a namespace gets no pattern",
            .targets,
            "delegates to vision by other paths than vision/*/*"
        ) { $0.patterns(of: vision, []) },
        ShapeAttack(
            "the hold role gets the settings",
            .targets,
            "delegates to sealift~hold by other paths than sealift/holds/*/*"
        ) { $0.patterns(of: hold, ["sealift/*"]) },
        ShapeAttack(
            "a live role gets a whole model",
            vision,
            "delegates to vision~detector~live by other paths than vision/detector/live.json"
        ) { $0.patterns(of: live, ["vision/detector/*"]) },
        ShapeAttack(
            "a release role gets another model",
            vision,
            "delegates to vision~detector by other paths than vision/detector/*"
        ) {
            $0.patterns(of: release, ["vision/other/*"])
        },
        ShapeAttack(
            "a release role gets a model of another team",
            vision,
            "delegates to vision~detector by other paths than vision/detector/*"
        ) {
            $0.patterns(of: release, ["audio/x/*"])
        },
        ShapeAttack(
            "prefixes of digests in the place of a pattern",
            vision,
            "delegates to vision~detector by other paths than vision/detector/*",
            rewrite: { signed in
                signed.delegation(of: release) { delegation in
                    delegation["paths"] = nil
                    delegation["path_hash_prefixes"] = .array([.text("")])
                }
            }
        ),
        ShapeAttack(
            "hashed bins in the place of roles",
            vision,
            "succinct hashed bins",
            rewrite: { signed in
                guard var delegations = signed["delegations"]?.object else { return }
                delegations["roles"] = nil
                delegations["succinct_roles"] = .members([
                    "keyids": .array([]), "threshold": .integer(1), "bit_length": .integer(1),
                    "name_prefix": .text("vision"),
                ])
                signed["delegations"] = .object(delegations)
            }
        ),
    ]

    /// How a search would go on, and whose word comes first.
    static let order = [
        ShapeAttack("a namespace is not terminating", .targets, "the delegation to vision is not terminating")
        {
            $0.delegation(to: vision) { $0.terminating = false }
        },
        ShapeAttack(
            "a live role is not terminating",
            vision,
            "the delegation to vision~detector~live is not terminating"
        ) {
            $0.delegation(to: live) { $0.terminating = false }
        },
        ShapeAttack("the hold role needs two signatures", .targets, "the threshold of sealift~hold is not 1")
        {
            $0.delegation(to: hold) { $0.roleKeys.threshold = 2 }
        },
        ShapeAttack(
            "a release role stands before its live role",
            vision,
            "vision~detector stands before vision~detector~live"
        ) {
            $0.delegations?.roles.reverse()
        },
        ShapeAttack(
            "a release role without its live role",
            vision,
            "vision~detector stands before vision~detector~live"
        ) {
            $0.delegations?.roles.removeAll { $0.role == live }
        },
        ShapeAttack(
            "a live role without its release role",
            vision,
            "vision~detector~live without its release role"
        ) {
            $0.delegations?.roles.removeAll { $0.role == release }
        },
    ]
}
