import Durable
import Glibc
package import Names
package import RegistryAPI
package import Transfer

/// The write side of a registry, as a publisher uses it.
package struct RegistryClient: Sendable {
    private let exchange: any APIExchanging
    private let location: RepositoryLocation

    /// For messages.
    private let tokenFile: String?

    /// - Parameters:
    ///   - exchange: Shows the token, if there is one.
    ///   - location: Where the registry is.
    ///   - tokenFile: Where the token was read.
    package init(
        _ exchange: any APIExchanging,
        at location: RepositoryLocation,
        tokenFile: String? = nil
    ) {
        self.exchange = exchange
        self.location = location
        self.tokenFile = tokenFile
    }

    /// Which of `digests` the registry does not have; what it has it keeps for a while.
    package func missing(among digests: [Digest]) async throws(PublishingError) -> Set<Digest> {
        var missing: Set<Digest> = []
        for start in stride(from: 0, to: digests.count, by: HaveRequest.mostDigests) {
            let end = min(digests.count, start + HaveRequest.mostDigests)
            let answer: HaveResponse = try await post(
                "blobs/have",
                HaveRequest(digests: Array(digests[start..<end]))
            )
            missing.formUnion(answer.missing)
        }
        return missing
    }

    /// Sends a blob that lies in a file; the registry digests it while it arrives.
    package func upload(_ digest: Digest, file: String, length: UInt64) async throws(PublishingError) {
        let source: FileSource
        do { source = try FileSource(file) } catch { throw .file(error) }
        guard source.length == length else {
            throw .unpublishable("\(file) changed since it was read; publish when it is finished")
        }
        try await put(digest, .file(source, offset: 0, length: length))
    }

    /// Sends a small blob that is in memory.
    package func upload(_ digest: Digest, bytes: [UInt8]) async throws(PublishingError) {
        try await put(digest, .bytes(bytes, contentType: "application/octet-stream"))
    }

    /// Posts signed role files and their documents, all or nothing.
    package func commit(_ request: CommitRequest) async throws(PublishingError) -> CommitResponse {
        try await post("commit", request)
    }

    /// Whose each role is, by role.
    package func owners() async throws(PublishingError) -> [String: OwnerName] {
        let list: OwnerList = try await answer(to: .get, "owners")
        return list.owners
    }

    /// What apps registered that they need of a model, or of all with `nil`.
    package func expectations(of model: ModelName?) async throws(PublishingError) -> [ExpectationEntry] {
        let route = model.map { "expectations/\($0)" } ?? "expectations"
        let list: ExpectationList = try await answer(to: .get, route)
        return list.expectations
    }

    /// Registers what an app needs of a model, in place of what it said before.
    package func register(
        _ expectation: [UInt8],
        of app: AppName,
        for model: ModelName
    ) async throws(PublishingError) {
        let body = APIRequest.Body.bytes(expectation, contentType: "application/json")
        let _: ExpectationList = try await answer(to: .put, "expectations/\(model)/\(app)", body)
    }

    /// Forgets what an app needs.
    package func removeExpectation(of app: AppName, for model: ModelName) async throws(PublishingError) {
        let _: ExpectationList = try await answer(to: .delete, "expectations/\(model)/\(app)")
    }

    private func put(_ digest: Digest, _ body: APIRequest.Body) async throws(PublishingError) {
        let url = location.api("blobs/sha256/\(digest)")
        let response: APIResponse
        do { response = try await exchange.send(APIRequest(.put, url, body: body)) } catch {
            throw .transfer(error)
        }
        guard (200...299).contains(response.status) else { throw problem(in: response, url) }
    }

    private func post<Answer: APIDocument>(
        _ route: String,
        _ document: some APIDocument
    ) async throws(PublishingError) -> Answer {
        try await answer(to: .post, route, .bytes(document.bytes, contentType: "application/json"))
    }

    private func answer<Answer: APIDocument>(
        to method: APIRequest.Method,
        _ route: String,
        _ body: APIRequest.Body = .none
    ) async throws(PublishingError) -> Answer {
        let url = location.api(route)
        let response: APIResponse
        do { response = try await exchange.send(APIRequest(method, url, body: body)) } catch {
            throw .transfer(error)
        }
        guard (200...299).contains(response.status) else { throw problem(in: response, url) }
        do { return try Answer(bytes: response.body) } catch {
            throw .transfer(.refused(.malformedAnswer(detail: "\(error)"), url: url))
        }
    }

    /// What the registry said; an answer without a readable problem is told by its status alone.
    private func problem(in response: APIResponse, _ url: String) -> PublishingError {
        if let problem = try? Problem(bytes: response.body) {
            if problem.code == .unauthorized { return .token(problem, file: tokenFile) }
            return .problem(problem, status: response.status)
        }
        return response.status >= 500
            ? .transfer(.outage(.status(response.status, retryAfter: response.retryAfter), url: url))
            : .transfer(.refused(.status(response.status), url: url))
    }
}
