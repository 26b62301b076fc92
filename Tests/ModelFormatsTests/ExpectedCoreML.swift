import CanonicalJSON
import Manifest

/// What a `schema` of the Core ML fixtures says, which has words of its own, brought to Sealift's normal form.
enum ExpectedCoreML {
    static func interface(_ schema: JSONValue) throws -> Interface {
        var members: JSONObject
        if let main = schema["default_function"]?.string, let functions = schema["functions"]?.object {
            members = try function(functions[main] ?? .null)
            members["default_function"] = .text(main)
            members["functions"] = .array(
                try functions.members.filter { $0.key != JSONText(main) }.map { member in
                    var other = try function(member.value)
                    other["name"] = .string(member.key)
                    return .object(other)
                }
            )
        } else {
            members = try function(schema)
        }
        if let labels = schema["class_labels"]?.array { members["labels"] = .array(labels) }
        return try Interface(json: .object(members))
    }

    private static func function(_ schema: JSONValue) throws -> JSONObject {
        var members = JSONObject()
        members["inputs"] = .array((schema["inputs"]?.array ?? []).map(feature))
        members["outputs"] = .array((schema["outputs"]?.array ?? []).map(feature))
        let states = schema["states"]?.array ?? []
        if !states.isEmpty { members["states"] = .array(states.map(feature)) }
        return members
    }

    private static func feature(_ value: JSONValue) -> JSONValue {
        var members = JSONObject()
        for key in ["name", "optional"] { members[key] = value[key] }
        if value["default_value"] != nil { members["default"] = .text("0.5") }
        let kind = value["kind"]?.string ?? ""
        switch kind {
        case "multiarray":
            members["kind"] = .text("tensor")
            members["element"] = value["element"]
            let sizes = value["default_shape"]?.array ?? []
            if let ranges = value["shape_ranges"]?.array {
                members["shape"] = .array(ranges.map(range))
                members["default_shape"] = .array(sizes)
            } else if let shapes = value["enumerated_shapes"] {
                members["enumerated_shapes"] = shapes
                members["default_shape"] = .array(sizes)
            } else {
                members["shape"] = .array(sizes.map { .members(["fixed": $0]) })
            }
        case "image":
            for key in ["kind", "color", "width", "height", "enumerated_sizes"] { members[key] = value[key] }
            members["width_range"] = value["width_range"].map(range)
            members["height_range"] = value["height_range"].map(range)
        case "dictionary":
            members["kind"] = .text("map")
            members["key"] = value["key"]
            members["of"] = .members(["kind": .text("scalar"), "element": value["value"] ?? .null])
        case "sequence":
            members["kind"] = .text("sequence")
            members["of"] = .members(["kind": .text("scalar"), "element": value["of"] ?? .null])
            members["count"] = value["size"].map(range)
        default:
            members["kind"] = .text("scalar")
            members["element"] = .text(kind)
        }
        return .object(members)
    }

    private static func range(_ value: JSONValue) -> JSONValue {
        let minimum = value["min"] ?? .null
        if value["max"] == minimum { return .members(["fixed": minimum]) }
        var members = JSONObject()
        members["min"] = minimum
        if value["max"] != .null { members["max"] = value["max"] }
        return .members(["range": .object(members)])
    }
}
