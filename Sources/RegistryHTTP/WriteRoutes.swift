import HTTPServer
import Names
import Registry
import RegistryAPI

/// What publishers post.
extension RegistryService {
    /// Digests of 64 digits with quotes and comma, and the object around them.
    private static let haveLimit = ByteCount(HaveRequest.mostDigests * 67 + 64)

    func have(_ call: Call) async throws -> HTTPResponse {
        _ = try token(of: call.request)
        let request = try HaveRequest(bytes: try await call.body.collect(upTo: Self.haveLimit))
        let missing = try await registry.missing(of: request.digests, now: now())
        return answer(HaveResponse(missing: missing), status: 200)
    }

    /// Takes a blob as it comes: verified while received, recorded when whole.
    ///
    /// Idempotent: a blob that is here already is read to its end and answered
    /// with 200, since many clients listen only once they have sent all.
    func upload(_ call: Call) async throws -> HTTPResponse {
        _ = try token(of: call.request)
        guard let digest = Digest(hex: call.parameter("digest")) else {
            throw Refusal(.malformed, "Expected 64 lower-case hexadecimal digits after /sha256/.")
        }
        let length = call.request.declaredLength
        guard let reception = try await registry.receive(digest, length: length, now: now()) else {
            while try await call.body.next() != nil {}
            return answer(BlobResponse(digest: digest, length: length), status: 200)
        }
        do {
            while let bytes = try await call.body.next() {
                try await reception.write(bytes)
                metrics.countReceived(bytes.count)
            }
            try await reception.finish(now: now())
        } catch {
            reception.abandon()
            throw error
        }
        return answer(BlobResponse(digest: digest, length: length), status: 201)
    }

    func commit(_ call: Call) async throws -> HTTPResponse {
        let token = try token(of: call.request)
        let request = try CommitRequest(bytes: try await call.body.collect(upTo: Limits.apiBody))
        let response = try await registry.commit(request, by: .token(token), now: now())
        return answer(response, status: 200)
    }

    /// Whose each role is, for those who write here; devices have no use for it.
    func owners(_ call: Call) throws -> HTTPResponse {
        _ = try token(of: call.request)
        return answer(OwnerList(owners: try registry.store.owners()), status: 200)
    }

    func answer(_ document: some APIDocument, status: Int) -> HTTPResponse {
        HTTPResponse(
            status: status,
            fields: [
                "Content-Type": "application/json", "Cache-Control": "no-store",
                "X-Content-Type-Options": "nosniff",
            ],
            body: .bytes(document.bytes)
        )
    }
}
