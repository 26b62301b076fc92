import CanonicalJSON
import Trust

/// Files and recalls that are not for a role to sign.
extension ShapeAttack {
    /// A role lists a file that is not for it.
    private static func listing(_ description: String, _ role: RoleName, _ path: TargetPath) -> ShapeAttack {
        ShapeAttack(description, role, "it may not list \(path)") { $0.targets[path] = TargetFile(of: []) }
    }

    /// Targets where they do not belong.
    static let files = [
        listing("targets lists a manifest", .targets, "vision/detector/1.0.0.json"),
        listing("targets lists another file of its own", .targets, "sealift/other.json"),
        ShapeAttack(
            "targets lists settings without SHA-256",
            .targets,
            "no SHA-256 for sealift/settings.json"
        ) {
            $0.targets["sealift/settings.json"] = TargetFile(length: 1, hashes: ["sha512": [1]])
        },
        listing("a namespace lists a model's manifest", vision, "vision/detector/1.0.0.json"),
        listing("a namespace lists a model's live.json", vision, "vision/detector/live.json"),
        listing("a release role lists live.json", release, "vision/detector/live.json"),
        listing("a release role lists another model's manifest", release, "vision/other/1.0.0.json"),
        listing("a release role lists a build of a version", release, "vision/detector/1.0.0+b.json"),
        listing("a release role lists a version with leading zeros", release, "vision/detector/01.0.0.json"),
        listing("a release role lists a path with a detour", release, "vision/detector/../other/1.0.0.json"),
        listing("a live role lists a manifest", live, "vision/detector/1.0.0.json"),
        listing("a live role lists another model's live.json", live, "vision/other/live.json"),
    ]

    static let denials = [
        ShapeAttack("a namespace denies another's model", vision, "it may not deny audio/x") {
            $0.deny = denial(of: "audio/x")
        },
        ShapeAttack("a release role denies", release, "it may not deny") {
            $0.deny = denial(of: "vision/detector")
        },
        ShapeAttack("a live role denies", live, "it may not deny") {
            $0.deny = denial(of: "vision/detector")
        },
        ShapeAttack(
            "a denial that cannot be read",
            vision,
            "`deny` holds an entry that cannot be read",
            rewrite: { $0["deny"] = .text("all") }
        ),
        ShapeAttack(
            "a denial without its model",
            .targets,
            "`deny` holds an entry that cannot be read",
            rewrite: { $0["deny"] = .array([.members(["versions": .array([.text("1.0.0")])])]) }
        ),
    ]

    /// What only a stolen online key can write.
    package static let ofHold = [
        listing("the hold role lists a file that is no hold", hold, "sealift/holds/vision.json"),
        listing(
            "the hold role lists a model outside the alphabet",
            hold,
            "sealift/holds/vision/De~tector.json"
        ),
        listing("the hold role lists the settings", hold, "sealift/settings.json"),
        ShapeAttack("the hold role names a role", hold, "it may not delegate to vision~detector") {
            $0.delegations = Delegations(
                keys: [],
                roles: [delegation("vision~detector", "vision/detector/*")]
            )
        },
        ShapeAttack("the hold role denies", hold, "it may not deny") {
            $0.deny = denial(of: "vision/detector")
        },
        ShapeAttack("the hold role has no time of signing", hold, "no time in `issued`") { $0.issued = nil },
    ]
}
