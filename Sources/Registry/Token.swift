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

/// A token as its operator sees it: all but the secret, of which only a digest is kept.
package struct IssuedToken: Sendable, Equatable {
    /// Counted from 1 in the order of issue.
    package let number: Int64
    package let token: Token
    package let created: UnixTime

    /// `nil` while it has not been taken back.
    package let revoked: UnixTime?

    package init(number: Int64, token: Token, created: UnixTime, revoked: UnixTime?) {
        self.number = number
        self.token = token
        self.created = created
        self.revoked = revoked
    }
}

/// Which tokens are meant.
package enum TokenChoice: Sendable, Equatable {
    case number(Int64)

    /// Every one with this label.
    case label(String)
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
