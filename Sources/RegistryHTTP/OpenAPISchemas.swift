import CanonicalJSON
import RegistryAPI

extension OpenAPI {
    static let schemas: JSONValue = .members([
        "HaveRequest": object(["digests": list(of: digest)]),
        "HaveResponse": object(["missing": list(of: digest)]),
        "BlobResponse": object(["digest": digest, "length": integer]),
        "CommitRequest": object(
            [
                "roles": list(of: object(["role": text, "metadata": base64])),
                "targets": list(of: object(["path": text, "content": base64])),
            ],
            optional: ["breaks": list(of: text), "owners": texts]
        ),
        "OwnerList": object(["owners": texts]),
        "Expectation": .members(["type": .text("object")]),
        "ExpectationList": object([
            "expectations": list(
                of: object([
                    "app": text, "model": text, "document": .members(["type": .text("object")]),
                    "registered_by": text, "registered_at": text,
                ])
            )
        ]),
        "CommitResponse": object([
            "snapshot": integer, "timestamp": integer,
            "state": .members(["type": .text("string"), "enum": .array([.text("published")])]),
        ]),
        "Problem": object(
            [
                "type": .members([
                    "type": .text("string"),
                    "enum": .array(Problem.Code.allCases.map { .text(Problem.typePrefix + $0.rawValue) }),
                ]),
                "title": text, "status": integer, "detail": text,
            ],
            optional: [
                "expected": text,
                "current": .members(["type": .text("object"), "additionalProperties": integer]),
            ]
        ),
    ])

    private static let text: JSONValue = .members(["type": .text("string")])
    private static let texts: JSONValue = .members([
        "type": .text("object"), "additionalProperties": text,
    ])
    private static let integer: JSONValue = .members(["type": .text("integer")])
    private static let digest: JSONValue = .members([
        "type": .text("string"), "pattern": .text("^[0-9a-f]{64}$"),
    ])
    private static let base64: JSONValue = .members([
        "type": .text("string"), "contentEncoding": .text("base64"),
    ])

    private static func list(of element: JSONValue) -> JSONValue {
        .members(["type": .text("array"), "items": element])
    }

    private static func object(
        _ members: KeyValuePairs<String, JSONValue>,
        optional: KeyValuePairs<String, JSONValue> = [:]
    ) -> JSONValue {
        var properties = JSONObject()
        for (name, schema) in members { properties[name] = schema }
        for (name, schema) in optional { properties[name] = schema }
        return .members([
            "type": .text("object"), "properties": .object(properties),
            "required": .array(members.map { .text($0.key) }),
        ])
    }
}
