import HTTPServer
import Names
import Registry
import RegistryAPI

/// A request that ends in a problem document.
struct Refusal: Error {
    let problem: Problem

    /// For the log and not for the peer.
    let cause: String?

    init(_ problem: Problem, cause: String? = nil) {
        self.problem = problem
        self.cause = cause
    }

    init(_ code: Problem.Code, _ detail: String) { self.init(Problem(code, detail: detail)) }

    /// What a peer is told about an error, and what only the log is told.
    ///
    /// A refusal is explained in full, since the peer must mend it. An outage
    /// is not: its text may name paths of this machine.
    init(_ error: any Error) {
        switch error {
        case let refusal as Refusal: self = refusal
        case let error as APIError: self.init(.malformed, "\(error)")
        case let error as HTTPBodyError: self.init(error)
        case let error as RegistryError: self.init(error)
        default: self.init(hidden: .internal, cause: "\(error)")
        }
    }

    private init(hidden code: Problem.Code, cause: String) {
        self.init(Problem(code, detail: "Its log says why; trying again does no harm."), cause: cause)
    }

    private init(_ error: HTTPBodyError) {
        switch error {
        case .tooLarge: self.init(.tooLarge, "\(error)")
        case .disconnected, .closed: self.init(.malformed, "\(error)")
        }
    }

    private init(_ error: RegistryError) {
        switch error {
        case .conflict(let role, _, let current):
            let expected = current[role].map { "\(role) version \($0 + 1)" }
            self.init(Problem(.conflict, detail: "\(error)", expected: expected, current: current))
        case .untrusted, .mustSignAgain: self.init(.untrusted, "\(error)")
        case .forbidden: self.init(.forbidden, "\(error)")
        case .tooLarge: self.init(.tooLarge, "\(error)")
        case .digestMismatch(let expected, _):
            self.init(Problem(.digestMismatch, detail: "\(error)", expected: expected.hex))
        case .empty, .unpostableRole, .lifetime, .missingDocument, .unlistedDocument, .badDocument,
            .republished,
            .unreleased, .breaksApp, .missingBlob, .blobLength, .blockList, .wrongOnlineKey:
            self.init(.refused, "\(error)")
        case .clockBehind, .rootExpired, .storage: self.init(hidden: .unavailable, cause: "\(error)")
        case .alreadyCreated, .notCreated, .badCreation, .signing, .damaged:
            self.init(hidden: .internal, cause: "\(error)")
        }
    }

    var response: HTTPResponse {
        var fields: HTTPFields = [
            "Content-Type": "application/problem+json", "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        ]
        switch problem.code {
        case .unauthorized: fields.append("WWW-Authenticate", "Bearer realm=\"sealift\"")
        case .unavailable: fields.append("Retry-After", "5")
        default: break
        }
        return HTTPResponse(status: problem.code.status, fields: fields, body: .bytes(problem.bytes))
    }
}
