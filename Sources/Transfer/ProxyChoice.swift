/// Which proxy libcurl takes from the environment, for people to see.
///
/// libcurl itself reads the variables at each transfer; this repeats its rules
/// (`https_proxy`, `HTTPS_PROXY`, `all_proxy`, `ALL_PROXY`, `no_proxy`,
/// `NO_PROXY`; curl 7.88, address ranges in `no_proxy` left out). Plain http
/// goes to this machine only and never through a proxy.
package enum ProxyChoice: Sendable, Equatable {
    case direct

    /// The proxy's URL without user and password, and the variable that names it.
    case proxy(String, variable: String)

    /// A variable names a proxy, and `no_proxy` takes this host out.
    case exempt(variable: String)

    /// What libcurl looks at, a proxy's variables first.
    private static let proxies = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    private static let exemptions = ["no_proxy", "NO_PROXY"]
    static let variables = proxies + exemptions

    /// What holds for `url`.
    ///
    /// - Parameters:
    ///   - url: An https URL; anything else is direct.
    ///   - environment: The process's variables.
    package init(for url: String, environment: [String: String]) {
        guard let address = try? WebAddress(url, allowsPlainLoopback: true), !address.isPlain,
            let (variable, proxy) = Self.first(Self.proxies, environment)
        else {
            self = .direct
            return
        }
        if let (variable, list) = Self.first(Self.exemptions, environment),
            Self.names(list, address.host)
        {
            self = .exempt(variable: variable)
        } else {
            self = .proxy(Self.withoutUser(proxy), variable: variable)
        }
    }

    private static func first(_ names: [String], _ environment: [String: String]) -> (String, String)? {
        for name in names {
            if let value = environment[name], !value.isEmpty { return (name, value) }
        }
        return nil
    }

    private static func names(_ list: String, _ host: String) -> Bool {
        if list == "*" { return true }
        for entry in list.lowercased().split(whereSeparator: { $0 == "," || $0 == " " }) {
            let name = entry.drop { $0 == "." }
            if name.isEmpty { continue }
            if host == name || host == "[\(name)]" || host.hasSuffix(".\(name)") { return true }
        }
        return false
    }

    private static func withoutUser(_ proxy: String) -> String {
        guard let at = proxy.lastIndex(of: "@") else { return proxy }
        let rest = proxy[proxy.index(after: at)...]
        guard let slashes = proxy.firstRange(of: "://") else { return String(rest) }
        return String(proxy[..<slashes.upperBound]) + String(rest)
    }
}
