import CanonicalJSON
import HTTPServer
import Names
import RegistryAPI
import Signing

/// The OpenAPI 3.1 description of every route, kept by hand; a test compares it with the router.
enum OpenAPI {
    static let document: JSONValue = .members([
        "openapi": .text("3.1.0"),
        "info": .members([
            "title": .text("Sealift registry"),
            "version": .text("1"),
            "description": .text(
                "Paths under /metadata, /targets and /blobs are static files and a TUF repository: what they say "
                    + "counts by its signatures alone. Paths under /api take a bearer token; a token never replaces "
                    + "a signature. Every answer that is not a success is a problem document (RFC 9457)."
            ),
        ]),
        "paths": paths,
        "components": .members(["schemas": schemas, "securitySchemes": securitySchemes]),
    ])

    static func response(to request: HTTPRequest) -> HTTPResponse {
        let bytes = document.compactJSON
        return Representation(
            body: .bytes(bytes),
            entityTag: EntityTag("sha256-\(SHA256.digest(of: bytes).hex)"),
            contentType: "application/json",
            cacheControl: "no-cache"
        ).response(to: request)
    }

    private static let securitySchemes: JSONValue = .members([
        "token": .members(["type": .text("http"), "scheme": .text("bearer")])
    ])

    private static let paths: JSONValue = .members([
        "/metadata/{file}": .members([
            "get": operation(
                "A role file: timestamp.json, or VERSION.ROLE.json",
                parameters: ["file"],
                answers: [
                    "200": "The file", "304": "timestamp.json has the named entity tag",
                    "404": "Not published",
                ]
            )
        ]),
        "/targets/sealift/{document}": .members([
            "get": operation(
                "A document of the registry as a whole: SHA256.settings.json",
                parameters: ["document"],
                answers: ["200": "The document", "404": "Not published"]
            )
        ]),
        "/targets/sealift/holds/{namespace}/{document}": .members([
            "get": operation(
                "What the registry holds back of a model: SHA256.MODEL.json",
                parameters: ["namespace", "document"],
                answers: ["200": "The document", "404": "Not published"]
            )
        ]),
        "/targets/{namespace}/{model}/{document}": .members([
            "get": operation(
                "A document of a model: SHA256.VERSION.json or SHA256.live.json",
                parameters: ["namespace", "model", "document"],
                answers: ["200": "The document", "404": "Not published"]
            )
        ]),
        "/blobs/sha256/{prefix}/{digest}": .members([
            "get": operation(
                "Model bytes, a list of blocks or an attestation, by SHA-256; prefix is its first two digits",
                parameters: ["prefix", "digest"],
                answers: [
                    "200": "The bytes", "206": "The range asked for", "304": "Not modified",
                    "404": "Not stored",
                    "416": "The range lies outside",
                ]
            )
        ]),
        "/api/v1/blobs/have": .members([
            "post": operation(
                "Which blobs are still to be uploaded; the others are kept for a day",
                body: "HaveRequest",
                result: "HaveResponse",
                answers: ["400": "Malformed", "401": "No valid token", "413": "Too many digests"]
            )
        ]),
        "/api/v1/blobs/sha256/{digest}": .members([
            "put": operation(
                "Stores a blob, verified while it is received; Content-Length is needed",
                parameters: ["digest"],
                body: "bytes",
                result: "BlobResponse",
                answers: [
                    "201": "Stored", "401": "No valid token", "413": "Too large",
                    "422": "Not the bytes of the digest",
                ]
            )
        ]),
        "/api/v1/commit": .members([
            "post": operation(
                "Publishes signed role files and the documents that they list, all or nothing",
                body: "CommitRequest",
                result: "CommitResponse",
                answers: [
                    "400": "Malformed", "401": "No valid token", "403": "Outside the token's scope",
                    "409": "A role has moved on; `current` names the versions", "413": "Too large",
                    "422": "Refused: signatures, shapes, documents or blobs", "503": "Try again",
                ]
            )
        ]),
        "/api/v1/owners": .members([
            "get": operation(
                "Whose each role is, in words for people; outside signatures and the log",
                result: "OwnerList",
                needsToken: true,
                answers: ["401": "No valid token"]
            )
        ]),
        "/api/v1/expectations": .members([
            "get": operation(
                "What apps registered that they need of models",
                result: "ExpectationList",
                needsToken: true,
                answers: ["401": "No valid token"]
            )
        ]),
        "/api/v1/expectations/{namespace}/{model}": .members([
            "get": operation(
                "What apps registered that they need of one model",
                parameters: ["namespace", "model"],
                result: "ExpectationList",
                needsToken: true,
                answers: ["401": "No valid token"]
            )
        ]),
        "/api/v1/expectations/{namespace}/{model}/{app}": .members([
            "put": operation(
                "Registers what an app needs of a model, sealift/expectation@1: advice, without a signature",
                parameters: ["namespace", "model", "app"],
                body: "Expectation",
                result: "ExpectationList",
                answers: [
                    "400": "No expectation", "401": "No valid token", "403": "Outside the token's scope",
                    "422": "For another model",
                ]
            ),
            "delete": operation(
                "Forgets what an app needs",
                parameters: ["namespace", "model", "app"],
                result: "ExpectationList",
                needsToken: true,
                answers: [
                    "401": "No valid token", "403": "Outside the token's scope", "404": "Not registered",
                ]
            ),
        ]),
        "/api/v1/openapi.json": .members([
            "get": operation("This description", answers: ["200": "OpenAPI 3.1"])
        ]),
        "/healthz": .members(["get": operation("Whether the process answers", answers: ["200": "It does"])]),
        "/readyz": .members([
            "get": operation(
                "Whether devices and publishers can be served: database and blob store are read",
                answers: ["200": "They can", "503": "They cannot"]
            )
        ]),
        "/metrics": .members([
            "get": operation("Counters for Prometheus", answers: ["200": "Text format 0.0.4"])
        ]),
        "/": .members([
            "get": operation("Models and versions for people: the operator's view", answers: ["200": "HTML"])
        ]),
    ])

    private static func operation(
        _ summary: String,
        parameters: [String] = [],
        body: String? = nil,
        result: String? = nil,
        needsToken: Bool = false,
        answers: KeyValuePairs<String, String>
    ) -> JSONValue {
        var operation = JSONObject()
        operation["summary"] = .text(summary)
        if !parameters.isEmpty {
            operation["parameters"] = .array(
                parameters.map { name in
                    .members([
                        "name": .text(name), "in": .text("path"), "required": .bool(true),
                        "schema": .members(["type": .text("string")]),
                    ])
                }
            )
        }
        if let body {
            operation["requestBody"] = .members(["required": .bool(true), "content": content(body)])
        }
        if body != nil || needsToken {
            operation["security"] = .array([.members(["token": .array([])])])
        }
        var responses = JSONObject()
        if let result {
            responses["200"] = .members(["description": .text("Done"), "content": content(result)])
        }
        for (status, description) in answers {
            var answer = JSONObject()
            answer["description"] = .text(description)
            if status.utf8.first ?? 0 >= UInt8(ascii: "4") && status != "416" {
                answer["content"] = .members([
                    "application/problem+json": .members(["schema": reference("Problem")])
                ])
            }
            responses[status] = .object(answer)
        }
        operation["responses"] = .object(responses)
        return .object(operation)
    }

    private static func content(_ name: String) -> JSONValue {
        guard name != "bytes" else { return .members(["application/octet-stream": .members([:])]) }
        return .members(["application/json": .members(["schema": reference(name)])])
    }

    private static func reference(_ name: String) -> JSONValue {
        .members(["$ref": .text("#/components/schemas/\(name)")])
    }
}
