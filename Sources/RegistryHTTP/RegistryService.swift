package import HTTPServer
package import Names
package import Registry
import RegistryAPI

/// A registry over HTTP: finds the route, answers it, and turns errors into problem documents (RFC 9457).
///
/// Reads of metadata run where they are asked: from a warm cache they take
/// microseconds. What takes longer goes through the registry, which sends it
/// to threads that may block.
package struct RegistryService: HTTPService {
    let registry: Registry
    let now: @Sendable () -> UnixTime
    let metrics = Metrics()
    private let log: @Sendable (String) -> Void

    /// Creates the service of one registry.
    ///
    /// - Parameters:
    ///   - registry: What is served.
    ///   - now: The clock by which tokens and signatures are judged.
    ///   - log: Takes one line for each error whose cause the peer is not told; no secrets are in it.
    package init(
        registry: Registry,
        now: @escaping @Sendable () -> UnixTime,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.registry = registry
        self.now = now
        self.log = log
    }

    package func respond(to request: HTTPRequest, body: RequestBody) async -> HTTPResponse {
        let matches = Self.routes.compactMap { route in
            route.parameters(of: request.target.segments).map { (route: route, parameters: $0) }
        }
        guard let match = matches.first(where: { $0.route.accepts(request.method) }) else {
            let response = unanswered(request, allowed: matches.map(\.route))
            metrics.count(route: "none", status: response.status)
            return response
        }
        let call = Call(request: request, body: body, parameters: match.parameters)
        let response: HTTPResponse
        do {
            response = try await match.route.answer(self, call)
        } catch {
            let refusal = Refusal(error)
            if let cause = refusal.cause {
                log("\(match.route.method.rawValue) \(match.route.template): \(cause)")
            }
            response = refusal.response
        }
        metrics.count(route: match.route.template, status: response.status)
        return response
    }

    private func unanswered(_ request: HTTPRequest, allowed: [Route]) -> HTTPResponse {
        guard !allowed.isEmpty else {
            return Refusal(.notFound, "This registry serves nothing at \(request.target.path).").response
        }
        var methods = allowed.map(\.method.rawValue)
        if methods.contains("GET") { methods.append("HEAD") }
        let list = methods.joined(separator: ", ")
        var response = Refusal(.methodNotAllowed, "Expected \(list), found \(request.method.rawValue).")
            .response
        response.fields.append("Allow", list)
        return response
    }

    /// Who asks; writing needs a token, reading does not.
    func token(of request: HTTPRequest) throws -> Token {
        // The name of the scheme is not case-sensitive (RFC 9110, 11.1).
        let scheme = "bearer "
        guard let field = request.fields.text("authorization"),
            field.prefix(scheme.count).lowercased() == scheme,
            let token = try registry.token(String(field.dropFirst(scheme.count)), now: now())
        else {
            throw Refusal(
                .unauthorized,
                "Send `Authorization: Bearer TOKEN` with a token of this registry that has not expired."
            )
        }
        return token
    }
}
