/// The JSON Schema (draft 2020-12) of `agent.json`.
///
/// It says what can be said about shape; ``AgentFile`` is stricter, and decides.
package enum AgentSchema {
    package static let text = """
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "title": "sealift/agent@1",
          "description": "What one device syncs. Relative paths are below the folder of the file.",
          "type": "object",
          "additionalProperties": false,
          "required": ["type"],
          "properties": {
            "type": {"const": "sealift/agent@1"},
            "directory": {"$ref": "#/$defs/path", "description": "where the models lie"},
            "registries": {
              "type": "array",
              "items": {"$ref": "#/$defs/text"},
              "description": "https://HOST:PORT/ of the registry, then of its mirrors"
            },
            "root": {"$ref": "#/$defs/path", "description": "the pinned trust root"},
            "ca": {"$ref": "#/$defs/path", "description": "certificates that may vouch for the registries, PEM"},
            "token_file": {"$ref": "#/$defs/path", "description": "a read token, readable by its owner alone"},
            "models": {"type": "array", "items": {"$ref": "#/$defs/model"}},
            "rate": {
              "type": "string",
              "pattern": "^0*[1-9][0-9]*([kMGT]?B|[KMGT]iB)?(/s)?$",
              "description": "bytes a second, all connections together: 2MB"
            },
            "budget": {
              "type": "string",
              "pattern": "^0*[1-9][0-9]*([kMGT]?B|[KMGT]iB)?/(hour|day|week|month)$",
              "description": "bytes of model files in each period: 500MB/day"
            },
            "window": {
              "type": "array",
              "items": {"type": "string", "pattern": "^[0-9]{2}:[0-9]{2}-[0-9]{2}:[0-9]{2}$"},
              "description": "when model files may be fetched, by the local clock: 22:00-06:00"
            },
            "metered_file": {
              "$ref": "#/$defs/path",
              "description": "while it exists the link is metered, and model files come within the budget or not at all"
            },
            "runtime_library": {
              "$ref": "#/$defs/path",
              "description": "libonnxruntime.so, with which golden vectors are run before a version is activated"
            },
            "stall": {"type": "string", "pattern": "^0*[1-9][0-9]*[dhms]?$", "description": "without progress for so long, another connection is made"},
            "retries": {
              "type": "integer",
              "minimum": 1,
              "maximum": 1000,
              "description": "attempts without progress before a download gives up"
            },
            "retain": {"$ref": "#/$defs/time", "description": "how long a version that was left stays for its readers"},
            "reserve": {
              "type": "string",
              "pattern": "^0*[1-9][0-9]*([kMGT]?B|[KMGT]iB)?$",
              "description": "bytes of disk that stay free: 64MiB"
            },
            "receipts": {
              "type": "boolean",
              "description": "whether an enrolled device tells its registry what became of each version; nothing is sent yet, as no registry takes receipts and no command enrols a device"
            },
            "tags": {
              "type": "object",
              "maxProperties": 16,
              "additionalProperties": {"type": "string", "minLength": 1, "maxLength": 64},
              "description": "what receipts say of this device besides, by name"
            }
          },
          "$defs": {
            "text": {"type": "string", "pattern": "^[^\\\\u0000]+$"},
            "path": {"type": "string", "pattern": "^[^\\\\u0000]+$"},
            "time": {"type": "string", "pattern": "^0*[1-9][0-9]*[dhms]$"},
            "model": {
              "type": "object",
              "additionalProperties": false,
              "required": ["model"],
              "not": {"required": ["channel", "version"]},
              "properties": {
                "model": {"type": "string", "pattern": "^[^/]+/[^/]+$"},
                "channel": {"type": "string", "pattern": "^[a-z][a-z0-9-]*$", "description": "stable unless given"},
                "version": {"type": "string", "description": "exactly this version, in the place of a channel"},
                "expectation": {"$ref": "#/$defs/path", "description": "what the app sends and reads"},
                "variant": {"$ref": "#/$defs/text", "description": "the first that runs here unless given"},
                "floor": {"type": "string", "description": "the lowest version that this device ever activates"},
                "group": {"$ref": "#/$defs/text", "description": "models of one group move together or not at all"},
                "confirm": {
                  "type": "string",
                  "pattern": "^0*[1-9][0-9]*/0*[1-9][0-9]*[dhms]$",
                  "description": "fall back unless the app confirms within so many starts and such a time: 3/24h"
                }
              }
            }
          }
        }
        """
}
