/// JSON Schemas (draft 2020-12) of what people and other programs write and read.
///
/// They say what can be said about shape; the readers here are stricter, and
/// decide. Kept beside the readers, so that one change touches both.
package enum JSONSchemas {
    /// Names as the command line takes them.
    package static let names = ["card", "expectation", "manifest"]

    /// The text of a schema.
    ///
    /// - Returns: `nil` for a name that is none of `names`.
    package static func text(_ name: String) -> String? {
        switch name {
        case "card": document(name, card)
        case "expectation": document(name, expectation)
        case "manifest": document(name, manifest)
        default: nil
        }
    }

    private static func document(_ name: String, _ body: String) -> String {
        """
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "sealift/\(name)@1",
          "type": "object",
          "additionalProperties": false,
        \(body),
          "$defs": {
        \(definitions)
          }
        }
        """
    }

    private static let texts = """
            "summary": {"type": "string"},
            "license": {"type": "string", "description": "an SPDX identifier or expression"},
            "license_url": {"type": "string"},
            "intended_use": {"type": "string"},
            "limitations": {"type": "string"},
            "notes": {"type": "string"},
            "provenance": {"type": "object", "description": "source revision, data sets, metrics"},
        """

    private static let card = """
          "required": ["type"],
          "properties": {
            "type": {"const": "sealift/card@1"},
        \(texts)
            "labels": {"$ref": "#/$defs/labels"},
            "function_labels": {
              "type": "object",
              "additionalProperties": {"$ref": "#/$defs/labels"},
              "description": "of functions other than the default one, by name"
            },
            "tokenizers": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/tokenizer"}},
            "preprocessing": {"type": "object", "description": "a member that is an object is about one input"},
            "postprocessing": {"type": "object"},
            "checks": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/check"}},
            "variants": {
              "type": "object",
              "propertyNames": {"$ref": "#/$defs/variant"},
              "additionalProperties": {
                "type": "object",
                "additionalProperties": false,
                "properties": {
                  "compute": {"$ref": "#/$defs/compute"},
                  "memory": {"$ref": "#/$defs/memory"},
                  "format": {"$ref": "#/$defs/format"},
                  "entry": {"$ref": "#/$defs/path"}
                }
              }
            }
          }
        """

    private static let expectation = """
          "required": ["type", "inputs", "outputs"],
          "properties": {
            "type": {"const": "sealift/expectation@1"},
            "model": {"$ref": "#/$defs/model"},
            "accepts": {"type": "string", "description": "such as >=2.1 <3"},
            "inputs": {"$ref": "#/$defs/features"},
            "outputs": {"$ref": "#/$defs/features"},
            "labels": {"$ref": "#/$defs/labels"},
            "open_labels": {"const": true},
            "tokenizers": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/tokenizer"}},
            "network": {"$ref": "#/$defs/network"},
            "tensors": {"$ref": "#/$defs/tensors"},
            "bundled_tokenizers": {"const": true},
            "preprocessing": {"type": "object"},
            "postprocessing": {"type": "object"},
            "states": {"$ref": "#/$defs/features", "minItems": 1},
            "state_agnostic": {"const": true},
            "functions": {"type": "array", "minItems": 1, "maxItems": 256, "items": {"$ref": "#/$defs/function"}},
            "default_function": {"$ref": "#/$defs/name"},
            "adaptations": {
              "type": "array",
              "minItems": 1,
              "uniqueItems": true,
              "items": {"enum": ["cast", "transpose", "resize"]}
            },
            "formats": {
              "type": "array", "minItems": 1, "uniqueItems": true, "items": {"$ref": "#/$defs/format"},
              "description": "those that the app's runtimes load; left out for any"
            },
            "positional": {"const": true},
            "allow_unknown": {"const": true}
          }
        """

    private static let manifest = """
          "required": ["type", "model", "version", "created", "interface", "variants", "checks", "attestations"],
          "properties": {
            "type": {"const": "sealift/manifest@1"},
            "model": {"$ref": "#/$defs/model"},
            "version": {"type": "string", "pattern": "^[0-9]+[.][0-9]+[.][0-9]+(-[0-9A-Za-z.-]+)?$"},
            "created": {"$ref": "#/$defs/time"},
        \(texts)
            "interface": {"$ref": "#/$defs/interface"},
            "variants": {
              "type": "array",
              "minItems": 1,
              "maxItems": 256,
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["name", "format", "entry", "compute", "requires", "files"],
                "properties": {
                  "name": {"$ref": "#/$defs/variant"},
                  "format": {"$ref": "#/$defs/format"},
                  "entry": {"$ref": "#/$defs/path"},
                  "compute": {"$ref": "#/$defs/compute"},
                  "requires": {"$ref": "#/$defs/requires"},
                  "memory": {"$ref": "#/$defs/memory"},
                  "base": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["model", "manifest"],
                    "properties": {"model": {"$ref": "#/$defs/model"}, "manifest": {"$ref": "#/$defs/digest"}}
                  },
                  "files": {"type": "array", "minItems": 1, "maxItems": 4096, "items": {"$ref": "#/$defs/file"}},
                  "folders": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 4095,
                    "items": {"$ref": "#/$defs/path"},
                    "description": "folders without files that the model's reader asks for"
                  },
                  "interface": {"$ref": "#/$defs/interface"}
                }
              }
            },
            "checks": {
              "type": "array",
              "items": {"type": "object"},
              "description": "golden vectors, each as in a card; large tensors are files of each variant"
            },
            "attestations": {
              "type": "array",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["type", "sha256", "length"],
                "properties": {
                  "type": {"type": "string"},
                  "sha256": {"$ref": "#/$defs/digest"},
                  "length": {"$ref": "#/$defs/count"}
                }
              }
            }
          }
        """

    private static let definitions = """
            "digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "format": {
              "enum": [
                "onnx", "tflite", "gguf", "safetensors", "opaque", "coreml-package", "coreml-model",
                "coreml-compiled"
              ]
            },
            "model": {"type": "string", "pattern": "^[a-z0-9][a-z0-9._-]*/[a-z0-9][a-z0-9._-]*$"},
            "variant": {"type": "string", "pattern": "^[a-z0-9]([a-z0-9._-]{0,30}[a-z0-9])?$"},
            "path": {"type": "string", "pattern": "^[^/].*$", "description": "relative, without . and .."},
            "requires": {
              "type": "object",
              "additionalProperties": false,
              "properties": {
                "ir_version": {"$ref": "#/$defs/number"},
                "opsets": {
                  "type": "object",
                  "minProperties": 1,
                  "additionalProperties": {"$ref": "#/$defs/number"}
                },
                "specification_version": {"$ref": "#/$defs/number"},
                "operating_system": {"$ref": "#/$defs/minimum"},
                "architecture": {"type": "string"},
                "runtime": {"$ref": "#/$defs/minimum"}
              }
            },
            "number": {"type": "integer", "minimum": 0, "maximum": \(Int32.max)},
            "minimum": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name"],
              "properties": {"name": {"type": "string"}, "minimum": {"type": "string"}}
            },
            "time": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"},
            "count": {"type": "integer", "minimum": 0, "maximum": 1099511627776},
            "labels": {
              "type": "array",
              "minItems": 1,
              "anyOf": [{"items": {"type": "string"}}, {"items": {"type": "integer"}}]
            },
            "compute": {
              "type": "array",
              "minItems": 1,
              "uniqueItems": true,
              "items": {"enum": ["cpu", "gpu", "npu"]}
            },
            "memory": {
              "type": "object",
              "additionalProperties": false,
              "required": ["resident", "peak", "measured"],
              "properties": {
                "resident": {"$ref": "#/$defs/count"},
                "peak": {"$ref": "#/$defs/count"},
                "measured": {"type": "string"}
              }
            },
            "tokenizer": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name", "sha256"],
              "properties": {"name": {"$ref": "#/$defs/name"}, "sha256": {"$ref": "#/$defs/digest"}}
            },
            "file": {
              "type": "object",
              "additionalProperties": false,
              "required": ["path", "length", "sha256"],
              "properties": {
                "path": {"$ref": "#/$defs/path"},
                "length": {"$ref": "#/$defs/count"},
                "sha256": {"$ref": "#/$defs/digest"},
                "blocks": {
                  "type": "object",
                  "additionalProperties": false,
                  "required": ["size", "list"],
                  "properties": {
                    "size": {"$ref": "#/$defs/count"},
                    "list": {
                      "type": "object",
                      "additionalProperties": false,
                      "required": ["sha256", "length"],
                      "properties": {"sha256": {"$ref": "#/$defs/digest"}, "length": {"$ref": "#/$defs/count"}}
                    }
                  }
                }
              }
            },
            "interface": {
              "type": "object",
              "additionalProperties": false,
              "required": ["inputs", "outputs"],
              "properties": {
                "inputs": {"$ref": "#/$defs/features"},
                "outputs": {"$ref": "#/$defs/features"},
                "states": {"$ref": "#/$defs/features", "minItems": 1},
                "functions": {"type": "array", "minItems": 1, "maxItems": 256, "items": {"$ref": "#/$defs/function"}},
                "default_function": {"$ref": "#/$defs/name"},
                "labels": {"$ref": "#/$defs/labels"},
                "tokenizers": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/tokenizer"}},
                "tensors": {"$ref": "#/$defs/tensors"},
                "network": {"$ref": "#/$defs/network"},
                "preprocessing": {"type": "object"},
                "postprocessing": {"type": "object"},
                "declared": {"const": true}
              }
            },
        \(JSONSchemaParts.definitions)
            "function": {
              "type": "object",
              "additionalProperties": false,
              "required": ["name", "inputs", "outputs"],
              "properties": {
                "name": {"$ref": "#/$defs/name"},
                "inputs": {"$ref": "#/$defs/features"},
                "outputs": {"$ref": "#/$defs/features"},
                "states": {"$ref": "#/$defs/features", "minItems": 1},
                "labels": {"$ref": "#/$defs/labels"}
              }
            },
        \(JSONSchemaFeatures.definitions)
        """
}
