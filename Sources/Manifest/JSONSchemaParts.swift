/// Parts of the JSON Schemas that stand in more than one of them: golden vectors, tensor tables, network facts.
enum JSONSchemaParts {
    static let definitions = """
        "check": {
          "type": "object",
          "additionalProperties": false,
          "required": ["inputs", "outputs"],
          "properties": {
            "inputs": {"$ref": "#/$defs/vectors"}, "outputs": {"$ref": "#/$defs/vectors"},
            "relative": {"type": "string", "pattern": "^[0-9]+([.][0-9]+)?$"},
            "absolute": {"type": "string", "pattern": "^[0-9]+([.][0-9]+)?$"}, "argmax": {"const": true}
          }
        },
        "vectors": {
          "type": "object",
          "minProperties": 1,
          "additionalProperties": {
            "type": "object", "minProperties": 1, "maxProperties": 1, "additionalProperties": false,
            "description": "the elements, little-endian and row-major, of the type that the interface says",
            "properties": {
              "base64": {"type": "string", "description": "their bytes"},
              "file": {"type": "string", "description": "a file of the variant with their bytes and nothing else"}
            }
          }
        },
        "tensors": {
          "type": "object",
          "additionalProperties": false,
          "required": ["count", "sha256"],
          "properties": {"count": {"$ref": "#/$defs/count"}, "sha256": {"$ref": "#/$defs/digest"}}
        },
        "network": {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "architecture": {"type": "string", "minLength": 1},
            "context_length": {"$ref": "#/$defs/count"},
            "embedding_length": {"$ref": "#/$defs/count"},
            "vocabulary_size": {"$ref": "#/$defs/count"},
            "begin_token": {"$ref": "#/$defs/count"},
            "end_token": {"$ref": "#/$defs/count"}
          }
        },
        """
}
