/// The part of the schemas that says what a value is, one closed object for each kind.
enum JSONSchemaFeatures {
    /// What stands beside `kind`: members that must be there, and others that may.
    private struct Form {
        let kind: String
        let required: [String: String]
        var optional: [String: String] = [:]
    }

    private static let element = reference("element")
    private static let size = #"{"type": "integer", "minimum": 0, "maximum": \#(ShapeLimits.dimension)}"#
    private static let sizes = #"{"type": "array", "maxItems": \#(ShapeLimits.rank), "items": \#(size)}"#
    private static let side = #"{"type": "integer", "minimum": 1, "maximum": \#(ShapeLimits.dimension)}"#

    private static func reference(_ name: String) -> String { "{\"$ref\": \"#/$defs/\(name)\"}" }

    private static func list(of items: String) -> String {
        #"{"type": "array", "minItems": 1, "maxItems": \#(ShapeLimits.enumeratedShapes), "items": \#(items)}"#
    }

    private static let shape =
        #"{"type": ["array", "null"], "maxItems": \#(ShapeLimits.rank), "items": \#(reference("dimension"))}"#

    private static var forms: [Form] {
        let about = ["default_shape": sizes, "quantization": reference("quantization")]
        let image = ["color": reference("color"), "width": side, "height": side]
        let ranges = ["width_range": reference("dimension"), "height_range": reference("dimension")]
        let tensors = ["tensor", "sparse_tensor"].flatMap { kind in
            [
                Form(kind: kind, required: ["element": element, "shape": shape], optional: about),
                Form(
                    kind: kind,
                    required: ["element": element, "enumerated_shapes": list(of: sizes)],
                    optional: about
                ),
            ]
        }
        let pairs = list(of: #"{"type": "array", "minItems": 2, "maxItems": 2, "items": \#(size)}"#)
        return tensors + [
            Form(kind: "image", required: image, optional: ["enumerated_sizes": pairs]),
            Form(kind: "image", required: image.merging(ranges) { $1 }),
            Form(kind: "scalar", required: ["element": element]),
            Form(kind: "map", required: ["key": element, "of": reference("value")]),
            Form(
                kind: "sequence",
                required: ["of": reference("value")],
                optional: ["count": reference("dimension")]
            ),
            Form(kind: "maybe", required: ["of": reference("value")]),
            Form(
                kind: "opaque",
                required: ["domain": #"{"type": "string"}"#, "type_name": #"{"type": "string"}"#]
            ),
        ]
    }

    private static func object(_ form: Form, named: Bool) -> String {
        var required = form.required
        var optional = form.optional
        required["kind"] = "{\"const\": \"\(form.kind)\"}"
        if named {
            required["name"] = reference("name")
            required["optional"] = #"{"type": "boolean"}"#
            optional["default"] = #"{"type": "string"}"#
        }
        let members = required.merging(optional) { $1 }.sorted { $0.key < $1.key }
        let properties = members.map { "\"\($0.key)\": \($0.value)" }.joined(separator: ", ")
        let names = required.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
        return #"{"type": "object", "additionalProperties": false, "required": [\#(names)], "#
            + "\"properties\": {\(properties)}}"
    }

    private static func choice(named: Bool) -> String {
        forms.map { "        " + object($0, named: named) }.joined(separator: ",\n")
    }

    /// Members of `$defs`.
    static var definitions: String {
        """
            "name": {"type": "string", "minLength": 1, "maxLength": 1024},
            "features": {"type": "array", "maxItems": \(ShapeLimits.features), "items": \(reference("feature"))},
            "feature": {
              "anyOf": [
        \(choice(named: true))
              ]
            },
            "value": {
              "anyOf": [
        \(choice(named: false))
              ]
            },
            "quantization": {
              "type": "object",
              "additionalProperties": false,
              "required": ["scale", "zero"],
              "properties": {"scale": {"type": "string"}, "zero": {"type": "integer"}}
            },
            "color": {
              "enum": [\(ImageType.Color.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))]
            },
            "element": {
              "enum": [
                \(ElementType.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", "))
              ]
            },
            "dimension": {
              "type": "object",
              "minProperties": 1,
              "maxProperties": 1,
              "additionalProperties": false,
              "properties": {
                "fixed": \(size),
                "symbol": \(reference("name")),
                "any": {"const": true},
                "range": {
                  "type": "object",
                  "additionalProperties": false,
                  "required": ["min"],
                  "properties": {"min": \(size), "max": \(size)}
                },
                "one_of": {
                  "type": "array",
                  "minItems": 1,
                  "maxItems": \(ShapeLimits.rank),
                  "uniqueItems": true,
                  "items": \(size)
                }
              }
            }
        """
    }
}
