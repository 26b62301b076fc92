import Names
import Trust

/// Who asks for a commit; what the files say is judged by their signatures all the same.
package enum CommitAuthority: Sendable {
    /// A request with a token.
    case token(Token)

    /// Somebody on the registry's own machine.
    case administrator

    /// For the record.
    package var label: String {
        switch self {
        case .token(let token): token.label
        case .administrator: "administrator"
        }
    }

    func check(_ posted: PostedRoles) throws(RegistryError) {
        guard case .token(let token) = self, case .publish(let namespace) = token.scope else { return }
        for file in posted.files {
            guard file.role.namespace == namespace else {
                throw .forbidden(role: "\(file.role.roleName)", scope: token.scope.description)
            }
        }
    }
}

extension PostableRole {
    /// `nil` for roles above all namespaces.
    fileprivate var namespace: Namespace? {
        switch self {
        case .root, .targets(.targets), .targets(.hold): nil
        case .targets(.namespace(let namespace)): namespace
        case .targets(.release(let model)), .targets(.live(let model)): model.namespace
        }
    }
}
