import CanonicalJSON
import Manifest
import Names
import Support
import Testing

/// Every document with one thing changed, judged by its schema and by its reader.
@Suite("JSON Schemas and readers")
struct JSONSchemaMutationTests {
    /// Every place of a value, the whole first.
    private static func places(_ value: JSONValue, _ path: [PathStep] = []) -> [[PathStep]] {
        var found = [path]
        for member in value.object?.members ?? [] {
            found += places(member.value, path + [.key(member.key.string)])
        }
        for (index, element) in (value.array ?? []).enumerated() {
            found += places(element, path + [.index(index)])
        }
        return found
    }

    private static func value(_ document: JSONValue, at path: [PathStep]) -> JSONValue {
        path.reduce(document) { value, step in
            switch step {
            case .key(let key): value[key] ?? .null
            case .index(let index): value.array?[index] ?? .null
            }
        }
    }

    /// Other values at a place; `nil` takes it out.
    private static func changes(of value: JSONValue) -> [JSONValue?] {
        var changes: [JSONValue?] = [
            nil, .null, .bool(false), .integer(-1), .integer(1 << 50), .text(""), .text("x"), .text("../x"),
            .array([]), .members([:]), .array([.null]),
        ]
        if var object = value.object {
            object["zzz"] = .integer(1)
            changes.append(.object(object))
        }
        return changes
    }

    private static func text(_ path: [PathStep]) -> String {
        path.map { step in
            switch step {
            case .key(let key): key
            case .index: "#"
            }
        }
        .joined(separator: ".")
    }

    /// The place, with the kind of the value that it belongs to.
    private static func kind(of path: [PathStep], in document: JSONValue) -> String {
        let kinds = path.indices.compactMap { value(document, at: Array(path[..<$0]))["kind"]?.string }
        return path.isEmpty ? "" : text(path) + kinds.joined()
    }

    /// Places whose rule no schema can say: what must agree with what stands elsewhere, and texts with a grammar.
    private static let beyond: Set<String> = [
        "accepts", "created", "variants.#.entry", "variants.#.files.#.path", "variants.#.files.#.blocks",
        "variants.#.folders.#", "variants.#.files.#.blocks.size", "variants.#.files.#.blocks.list.length",
        "variants.#.files.#.length",
        "variants.#.files.#.sha256", "variants.#.files.#", "variants.#.files", "variants.cpu.entry",
        "variants.#.files.#.blocks.list.sha256", "labels.#", "license", "checks.#.inputs.a.base64",
        "checks.#.outputs.a.base64",
    ]

    private static func isBeyond(_ path: String) -> Bool {
        beyond.contains(path) || path.hasSuffix(".entry") || path.hasSuffix("scale")
            || path.contains("enumerated_shapes.#")
    }

    private func refuses(_ name: String, _ value: JSONValue) -> Bool {
        do {
            switch name {
            case "card": _ = try Card(json: value)
            case "expectation": _ = try Manifest.Expectation(json: value)
            default: _ = try ModelManifest(json: value)
            }
            return false
        } catch {
            return true
        }
    }

    @Test(
        "what a schema refuses its reader refuses, and the other way, but for what no schema can say",
        arguments: JSONSchemas.names
    )
    func agree(_ name: String) throws {
        let schema = try JSONSchemaTests.schema(name)
        let document = try JSONSchemaTests.document(name)
        var changed = 0
        var refused = 0
        var seen: Set<String> = [""]
        // One place of each kind is enough; values of another kind stand below their own.
        for path in Self.places(document) where seen.insert(Self.kind(of: path, in: document)).inserted {
            for change in Self.changes(of: Self.value(document, at: path)) {
                let value = document.with(path, change)
                guard value != document else { continue }
                changed += 1
                let (fault, isRefused) = (schema.fault(value), refuses(name, value))
                let place = Self.text(path)
                if isRefused { refused += 1 }
                if fault != nil {
                    #expect(isRefused, "\(place) = \(String(describing: change)): the schema alone refuses")
                } else if isRefused {
                    #expect(
                        Self.isBeyond(place),
                        "\(place) = \(String(describing: change)): the reader alone refuses"
                    )
                }
            }
        }
        #expect(changed > 200 && refused > changed / 2, "\(changed), \(refused)")
    }
}
