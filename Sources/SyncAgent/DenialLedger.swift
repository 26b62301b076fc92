import CanonicalJSON
import Generations
import Names
import Trust

/// `denials.json` (`sealift/denials@1`): every denial this device knows, by the role that signed it and its version.
///
/// A denial only takes away. So it is added from any file that the role's
/// current delegator vouches for and that is not older than the one known, even
/// when that file has expired; and it is lifted only by a version that was
/// accepted through the whole chain.
struct DenialLedger: DeviceNote {
    static let type = "sealift/denials@1"
    static let fileName = "denials.json"

    struct Role: Equatable, Sendable {
        var version: Int64
        var denials: [Denial]
    }

    private(set) var roles: [String: Role] = [:]

    init() {}

    /// How a role's file came to be believed.
    enum Way: Sendable {
        /// Through every role above it, all of them current.
        case chain

        /// Signed by whom its delegator names, and no more.
        case signatures
    }

    /// Takes what a file says.
    mutating func accept(_ denials: [Denial], of role: RoleName, version: Int64, by way: Way) {
        let known = roles[role.description] ?? Role(version: 0, denials: [])
        guard version >= known.version else { return }
        let listed = Set(denials)
        let added = way == .chain ? [] : known.denials.filter { !listed.contains($0) }
        let all = denials + added
        // Nothing is worth a note that says nothing.
        roles[role.description] = all.isEmpty ? nil : Role(version: version, denials: all)
    }

    /// All that concern a model; a team speaks for its own models alone.
    func denials(of model: ModelName) -> [Denial] {
        roles.sorted { $0.key < $1.key }.flatMap(\.value.denials).filter { $0.model == model }
    }

    func denial(of identity: VersionIdentity) -> Denial? {
        denials(of: identity.model).first {
            $0.denies(identity.model, version: identity.version, manifest: identity.manifest)
        }
    }
}

extension DenialLedger {
    /// Notes it on the device; where it is longer than a note may be, what concerns the versions on this device.
    ///
    /// Those are what can run without asking the chain, which lists the others again.
    func save(on device: DeviceDirectory) throws(GenerationError) {
        var noted = self
        if !device.holds(self) {
            let known = try device.versionsKnown().map(\.identity)
            for (name, role) in roles {
                noted.roles[name]?.denials = role.denials.filter { denial in
                    known.contains { denial.denies($0.model, version: $0.version, manifest: $0.manifest) }
                }
            }
        }
        try device.save(noted)
    }

    var members: JSONObject {
        let listed = roles.sorted { $0.key < $1.key }.map { name, role in
            JSONValue.members([
                "deny": .array(role.denials.map(\.json)), "role": .text(name),
                "version": .integer(role.version),
            ])
        }
        return .list("roles", listed)
    }

    init?(_ value: JSONValue) {
        guard let listed = value["roles"]?.array else { return nil }
        for role in listed {
            guard let name = role["role"]?.string, let version = role["version"]?.integer,
                let denials = role["deny"]?.array?.compactMap({ Denial($0) })
            else { return nil }
            roles[name] = Role(version: version, denials: denials)
        }
    }
}
