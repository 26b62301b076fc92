import CanonicalJSON
import Trust

/// Files and recalls that are not for a role to sign.
extension ShapeAttack {
    private static let file = TargetFile(of: [])

    /// Targets where they do not belong.
    static let files = [
        ShapeAttack("targets lists a manifest", .targets, "it may not list vision/detector/1.0.0.json") {
            $0.targets["vision/detector/1.0.0.json"] = file
        },
        ShapeAttack("targets lists another file of its own", .targets, "it may not list sealift/other.json") {
            $0.targets["sealift/other.json"] = file
        },
        ShapeAttack(
            "targets lists settings without SHA-256",
            .targets,
            "no SHA-256 for sealift/settings.json"
        ) {
            $0.targets["sealift/settings.json"] = TargetFile(length: 1, hashes: ["sha512": [1]])
        },
        ShapeAttack(
            "a namespace lists a model's manifest",
            vision,
            "it may not list vision/detector/1.0.0.json"
        ) {
            $0.targets["vision/detector/1.0.0.json"] = file
        },
        ShapeAttack(
            "a namespace lists a model's live.json",
            vision,
            "it may not list vision/detector/live.json"
        ) {
            $0.targets["vision/detector/live.json"] = file
        },
        ShapeAttack("a release role lists live.json", release, "it may not list vision/detector/live.json") {
            $0.targets["vision/detector/live.json"] = file
        },
        ShapeAttack(
            "a release role lists another model's manifest",
            release,
            "it may not list vision/other/1.0.0.json"
        ) {
            $0.targets["vision/other/1.0.0.json"] = file
        },
        ShapeAttack(
            "a release role lists a build of a version",
            release,
            "it may not list vision/detector/1.0.0+b.json"
        ) {
            $0.targets["vision/detector/1.0.0+b.json"] = file
        },
        ShapeAttack(
            "a release role lists a version with leading zeros",
            release,
            "it may not list vision/detector/01.0.0.json"
        ) {
            $0.targets["vision/detector/01.0.0.json"] = file
        },
        ShapeAttack(
            "a release role lists a path with a detour",
            release,
            "it may not list vision/detector/../other/1.0.0.json"
        ) {
            $0.targets["vision/detector/../other/1.0.0.json"] = file
        },
        ShapeAttack("a live role lists a manifest", live, "it may not list vision/detector/1.0.0.json") {
            $0.targets["vision/detector/1.0.0.json"] = file
        },
        ShapeAttack(
            "a live role lists another model's live.json",
            live,
            "it may not list vision/other/live.json"
        ) {
            $0.targets["vision/other/live.json"] = file
        },
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
        ShapeAttack(
            "the hold role lists a file that is no hold",
            hold,
            "it may not list sealift/holds/vision.json"
        ) {
            $0.targets["sealift/holds/vision.json"] = file
        },
        ShapeAttack(
            "the hold role lists a model outside the alphabet",
            hold,
            "it may not list sealift/holds/vision/De~tector.json"
        ) {
            $0.targets["sealift/holds/vision/De~tector.json"] = file
        },
        ShapeAttack("the hold role lists the settings", hold, "it may not list sealift/settings.json") {
            $0.targets["sealift/settings.json"] = file
        },
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
