package import Names

/// What a bearer token allows; it never replaces a signature.
package struct Token: Sendable, Equatable {
    package enum Scope: Sendable, Equatable {
        /// Upload blobs, and commit the roles of one namespace.
        case publish(Namespace)

        /// Upload blobs, and commit every role that people sign.
        case administer
    }

    package let scope: Scope

    /// For people: whose it is.
    package let label: String
    package let expires: UnixTime

    package init(scope: Scope, label: String, expires: UnixTime) {
        self.scope = scope
        self.label = label
        self.expires = expires
    }
}

extension Token.Scope: CustomStringConvertible {
    /// The stored form, `publish:vision` or `administer`.
    package var description: String {
        switch self {
        case .publish(let namespace): "publish:\(namespace)"
        case .administer: "administer"
        }
    }

    package init?(_ text: String) {
        guard text != "administer" else {
            self = .administer
            return
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0] == "publish", let namespace = Namespace(parts[1]) else { return nil }
        self = .publish(namespace)
    }
}
