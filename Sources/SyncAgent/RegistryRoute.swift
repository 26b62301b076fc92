import Transfer

/// How a registry or mirror is reached, for people: through which proxy, and whose certificates are believed.
public struct RegistryRoute: Sendable, Equatable, CustomStringConvertible {
    /// The address as configured.
    public let registry: String

    /// The proxy without user and password; `nil` when there is none.
    public let proxy: String?

    /// The variable of the environment that names the proxy, or that takes this registry out.
    public let variable: String?

    /// The file with the only authorities believed; `nil` is the system's.
    public let authority: String?

    /// For example `https://models.example:8443/ through http://proxy:3128 (HTTPS_PROXY)`.
    public var description: String {
        guard let proxy, let variable else { return registry }
        return "\(registry) through \(proxy) (\(variable))"
    }
}

extension SyncConfiguration {
    /// The routes to all registries and mirrors, in the order in which they are asked.
    ///
    /// - Parameter environment: The variables of the process that transfers.
    /// - Returns: One for each.
    public func routes(environment: [String: String]) -> [RegistryRoute] {
        registries.map { registry in
            switch ProxyChoice(for: registry, environment: environment) {
            case .direct:
                RegistryRoute(registry: registry, proxy: nil, variable: nil, authority: caFile)
            case .exempt(let variable):
                RegistryRoute(registry: registry, proxy: nil, variable: variable, authority: caFile)
            case .malformed(let variable):
                RegistryRoute(
                    registry: registry,
                    proxy: "a proxy that is not well-formed",
                    variable: variable,
                    authority: caFile
                )
            case .proxy(let proxy, let variable):
                RegistryRoute(registry: registry, proxy: proxy, variable: variable, authority: caFile)
            }
        }
    }
}
