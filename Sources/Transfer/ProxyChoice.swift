import Glibc

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

    /// A variable does not name a proxy; what it says is shown to nobody, since a password may be anywhere in it.
    case malformed(variable: String)

    /// What libcurl looks at, a proxy's variables first.
    private static let proxies = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    private static let exemptions = ["no_proxy", "NO_PROXY"]
    private static let variables = proxies + exemptions

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
        } else if Self.isWellFormed(proxy) {
            self = .proxy(Self.withoutUser(proxy), variable: variable)
        } else {
            self = .malformed(variable: variable)
        }
    }

    /// What holds for `url` in this process.
    init(for url: String) {
        self.init(for: url, environment: Self.environment)
    }

    private static var environment: [String: String] {
        let found = variables.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }
        return Dictionary(found) { first, _ in first }
    }

    /// Words of libcurl without the users and passwords of this process's proxies.
    static func masked(_ words: String) -> String {
        var words = words
        for name in proxies {
            guard let value = environment[name], !value.isEmpty, value.contains("@") else { continue }
            words = words.replacing(value, with: withoutUser(value))
        }
        return words
    }

    /// Whether this is `[SCHEME://][USER[:PASSWORD]@]HOST[:PORT][/]`, with everything else percent-encoded.
    ///
    /// Stricter than libcurl: where it took a piece of a password for the host,
    /// it would look that up and print it.
    private static func isWellFormed(_ proxy: String) -> Bool {
        var rest = proxy[...]
        if let slashes = rest.firstRange(of: "://") {
            guard schemes.contains(rest[..<slashes.lowerBound].lowercased()) else { return false }
            rest = rest[slashes.upperBound...]
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard rest.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !rest.contains(where: { "/?#\\\"<>^`{|}".contains($0) })
        else { return false }
        let halves = rest.split(separator: "@", omittingEmptySubsequences: false)
        guard halves.count <= 2, let place = halves.last else { return false }
        return isPlace(place)
    }

    private static let schemes: Set<String> = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]

    /// Whether this is a host by name or address, and a port.
    private static func isPlace(_ place: Substring) -> Bool {
        var host = place
        let afterBracket = place.lastIndex(of: "]") ?? place.startIndex
        if let colon = place[afterBracket...].lastIndex(of: ":") {
            let port = place[place.index(after: colon)...]
            guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), UInt16(port) ?? 0 > 0 else {
                return false
            }
            host = place[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            let address = host.dropFirst().dropLast()
            return !address.isEmpty && address.allSatisfy { $0.isHexDigit || ":.%".contains($0) }
        }
        return !host.isEmpty
            && host.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
                }
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
