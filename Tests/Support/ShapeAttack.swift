package import CanonicalJSON
import Names
import Signing
package import Trust

/// A document of the model `vision/detector` outside the shapes of Sealift, which its own role's keys have signed.
///
/// TUF allows each of them. A delegated signer may be the attacker, so registry
/// and device must refuse the same ones, for the same reason.
package struct ShapeAttack: Sendable, CustomStringConvertible {
    package let description: String
    package let role: RoleName

    /// What the refusal says.
    package let reason: String
    private let rewrite: @Sendable (inout JSONObject) -> Void

    init(
        _ description: String,
        _ role: RoleName,
        _ reason: String,
        rewrite: @escaping @Sendable (inout JSONObject) -> Void
    ) {
        self.description = description
        self.role = role
        self.reason = reason
        self.rewrite = rewrite
    }

    init(
        _ description: String,
        _ role: RoleName,
        _ reason: String,
        _ change: @escaping @Sendable (inout TargetsDocument) -> Void
    ) {
        self.init(description, role, reason) { signed in
            guard var document = try? TargetsDocument(signed: .object(signed), role: role) else { return }
            change(&document)
            signed = document.signed.object ?? signed
        }
    }

    /// Spoils the `signed` part of a sound file of the role.
    package func spoil(_ signed: inout JSONObject) { rewrite(&signed) }
}

extension ShapeAttack {
    static let hold = SealiftRole.hold.roleName
    static let vision = RoleName("vision")
    static let release = RoleName("vision~detector")
    static let live = RoleName("vision~detector~live")

    static func delegation(_ name: String, _ paths: String...) -> Delegation {
        Delegation(name: name, keyIDs: [], threshold: 1, paths: paths, terminating: true)
    }

    static func denial(of model: String) -> [Denial] {
        guard let model = ModelName(model) else { return [] }
        let subject = Denial.Subject.manifest(SHA256.digest(of: []))
        return [Denial(model: model, subject: subject, reason: "", since: UnixTime(rawValue: 0))]
    }

    /// Every row that holds for files of people; those of the hold role, which a registry signs itself, are apart.
    package static let all = names + patterns + order + files + denials
}

extension TargetsDocument {
    mutating func delegation(to role: RoleName, _ change: (inout Delegation) -> Void) {
        guard let place = delegations?.roles.firstIndex(where: { $0.role == role }) else { return }
        if var delegation = delegations?.roles[place] {
            change(&delegation)
            delegations?.roles[place] = delegation
        }
    }

    mutating func patterns(of role: RoleName, _ patterns: [String]) {
        delegation(to: role) { $0.paths = patterns }
    }
}

extension JSONObject {
    mutating func delegation(of role: RoleName, _ change: (inout JSONObject) -> Void) {
        guard var delegations = self["delegations"]?.object, let roles = delegations["roles"]?.array else {
            return
        }
        delegations["roles"] = .array(
            roles.map { entry in
                guard var object = entry.object, object["name"]?.string == role.description else {
                    return entry
                }
                change(&object)
                return .object(object)
            }
        )
        self["delegations"] = .object(delegations)
    }
}
