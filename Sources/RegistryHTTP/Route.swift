import HTTPServer

/// One thing that can be asked for.
struct Route: Sendable {
    let method: HTTPMethod

    /// As in OpenAPI: `/blobs/sha256/{prefix}/{digest}`; a parameter is one whole segment.
    let template: String
    let answer: @Sendable (RegistryService, Call) async throws -> HTTPResponse

    private let pattern: [Substring]

    init(
        _ method: HTTPMethod,
        _ template: String,
        answer: @escaping @Sendable (RegistryService, Call) async throws -> HTTPResponse
    ) {
        self.method = method
        self.template = template
        self.answer = answer
        pattern = template.split(separator: "/")
    }

    /// - Returns: The parameters by name; `nil` when the path is another.
    func parameters(of segments: [String]) -> [String: String]? {
        guard segments.count == pattern.count else { return nil }
        var parameters: [String: String] = [:]
        for (wanted, segment) in zip(pattern, segments) {
            if wanted.first == "{" {
                parameters[String(wanted.dropFirst().dropLast())] = segment
            } else if !wanted.utf8.elementsEqual(segment.utf8) {
                return nil
            }
        }
        return parameters
    }

    /// HEAD is GET without the body; the server leaves the body out.
    func accepts(_ asked: HTTPMethod) -> Bool { asked == method || (asked == .head && method == .get) }
}

/// A request that found its route.
struct Call: Sendable {
    let request: HTTPRequest
    let body: RequestBody
    let parameters: [String: String]

    /// - Precondition: The route's template has this parameter.
    func parameter(_ name: String) -> String {
        guard let value = parameters[name] else { preconditionFailure("no parameter \(name)") }
        return value
    }
}
