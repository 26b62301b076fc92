package import Names

/// A targets role of a Sealift repository, by what it is for.
///
/// `~` is outside the alphabet of names, so the names cannot be confused and
/// need no escaping in a URL.
package enum SealiftRole: Hashable, Sendable {
    /// The administrators: settings, and which namespaces there are.
    case targets

    /// A team: which models there are, and whose they are.
    case namespace(Namespace)

    /// Who may release versions of a model.
    case release(ModelName)

    /// Who may put versions of a model into use.
    case live(ModelName)

    /// The registry's brake.
    case hold

    package var name: String {
        switch self {
        case .targets: "targets"
        case .namespace(let namespace): namespace.description
        case .release(let model): "\(model.namespace)~\(model.model)"
        case .live(let model): "\(model.namespace)~\(model.model)~live"
        case .hold: "sealift~hold"
        }
    }

    /// - Returns: `nil` for a name that no role of Sealift has.
    package init?(name: some StringProtocol) {
        let parts = name.split(separator: "~", omittingEmptySubsequences: false)
        if parts.count == 1, parts[0] == "targets" {
            self = .targets
        } else if parts.count == 2, parts[0] == "sealift", parts[1] == "hold" {
            self = .hold
        } else if parts.count == 1, let namespace = Namespace(parts[0]) {
            self = .namespace(namespace)
        } else if (2...3).contains(parts.count), let namespace = Namespace(parts[0]),
            let model = ModelName(namespace: namespace, model: parts[1])
        {
            guard parts.count == 2 || parts[2] == "live" else { return nil }
            self = parts.count == 2 ? .release(model) : .live(model)
        } else {
            return nil
        }
    }

    package init?(_ role: RoleName) { self.init(name: role.description) }

    package var roleName: RoleName { RoleName(name) }

    /// The one role that may delegate to this one; `nil` for `targets`, which the root names.
    package var delegator: SealiftRole? {
        switch self {
        case .targets: nil
        case .namespace, .hold: .targets
        case .release(let model), .live(let model): .namespace(model.namespace)
        }
    }

    /// The pattern by which ``delegator`` delegates to this role.
    package var pattern: String? {
        switch self {
        case .targets: nil
        case .namespace(let namespace): "\(namespace)/*/*"
        case .hold: "sealift/holds/*/*"
        case .release(let model): "\(model)/*"
        case .live(let model): "\(model)/live.json"
        }
    }
}

extension SealiftRole: CustomStringConvertible {
    package var description: String { name }
}
