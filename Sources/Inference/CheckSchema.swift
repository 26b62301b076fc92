/// The JSON Schema (draft 2020-12) of the golden vectors that `publish --checks` takes.
///
/// It says what can be said about shape; ``CheckDocument`` is stricter, and decides.
package enum CheckSchema {
    package static let text = """
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "sealift/checks@1",
          "description": "Inputs of a model, and what must come out of them.",
          "type": "object",
          "additionalProperties": false,
          "required": ["type", "checks"],
          "properties": {
            "type": {"const": "sealift/checks@1"},
            "checks": {"type": "array", "minItems": 1, "maxItems": 64, "items": {"$ref": "#/$defs/check"}}
          },
          "$defs": {
            "check": {
              "type": "object",
              "additionalProperties": false,
              "required": ["inputs"],
              "properties": {
                "name": {"type": "string", "description": "for messages"},
                "inputs": {"$ref": "#/$defs/tensors"},
                "outputs": {"$ref": "#/$defs/tensors", "description": "recorded from the model where left out"},
                "relative": {"$ref": "#/$defs/tolerance", "description": "of the expected magnitude; 0.001 for floats"},
                "absolute": {"$ref": "#/$defs/tolerance", "description": "added to it; 0.00001 for floats"},
                "argmax": {"type": "boolean", "description": "only the place of the greatest of each row counts"}
              }
            },
            "tolerance": {
              "anyOf": [
                {"type": "number", "minimum": 0}, {"type": "string", "pattern": "^[0-9]+([.][0-9]+)?$"}
              ]
            },
            "tensors": {
              "type": "object",
              "minProperties": 1,
              "description": "by name of the port: nested lists, or an object with data and, if wanted, type and shape",
              "additionalProperties": true
            }
          }
        }
        """
}
