/// The JSON Schema (draft 2020-12) of `agent.json`.
///
/// It takes and refuses what ``AgentFile`` and the check of a whole configuration do, key by key. Only they see that a
/// model is asked for twice, that a key is missing which no option gives, or a file that is named; that plain http is
/// for loopback; and versions with a number of more than 9e18, which nobody has, are refused here alone.
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
              "items": {
                "type": "string",
                "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://(?:\\\\[[!-Z^-~]+\\\\]|[A-Za-z0-9_.~-]+)(?::0*(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?(?:/[!$->@-~]*)?$"
              },
              "description": "https://HOST:PORT/ of the registry, then of its mirrors"
            },
            "root": {"$ref": "#/$defs/path", "description": "the pinned trust root"},
            "ca": {"$ref": "#/$defs/path", "description": "certificates that may vouch for the registries, PEM"},
            "token_file": {"$ref": "#/$defs/path", "description": "a read token, readable by its owner alone"},
            "models": {"type": "array", "items": {"$ref": "#/$defs/model"}},
            "rate": {
              "type": "string",
              "pattern": "^0*(?:(?:409[6-9]|4[1-9][0-9]{2}|[5-9][0-9]{3}|[1-9][0-9]{4,18})B?|(?:[5-9]|[1-9][0-9]{1,15})kB|(?:[4-9]|[1-9][0-9]{1,15})KiB|[1-9][0-9]{0,12}(?:MB|MiB)|[1-9][0-9]{0,9}(?:GB|GiB)|[1-9][0-9]{0,6}(?:TB|TiB))(?:/s)?$",
              "description": "bytes a second, all connections together: 2MB"
            },
            "budget": {
              "type": "string",
              "pattern": "^0*(?:[1-9][0-9]{0,18}B?|[1-9][0-9]{0,15}(?:kB|KiB)|[1-9][0-9]{0,12}(?:MB|MiB)|[1-9][0-9]{0,9}(?:GB|GiB)|[1-9][0-9]{0,6}(?:TB|TiB))/(?:hour|day|week|month)$",
              "description": "bytes of model files in each period: 500MB/day"
            },
            "window": {
              "type": "array",
              "items": {
                "type": "string",
                "pattern": "^(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00)-(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]|24:00)$",
                "not": {"pattern": "^(?:([0-9:]{5})-\\\\1|00:00-24:00|24:00-00:00)$"}
              },
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
            "stall": {"type": "string", "pattern": "^0*(?:(?:[1-9][0-9]{0,2}|[12][0-9]{3}|3[0-5][0-9]{2}|3600)s?|(?:[1-9]|[1-5][0-9]|60)m|1h)$", "description": "without progress for so long, another connection is made"},
            "retries": {
              "type": "integer",
              "minimum": 1,
              "maximum": 1000,
              "description": "attempts without progress before a download gives up"
            },
            "retain": {"$ref": "#/$defs/time", "description": "how long a version that was left stays for its readers"},
            "reserve": {
              "type": "string",
              "pattern": "^0*(?:[1-9][0-9]{0,18}B?|[1-9][0-9]{0,15}(?:kB|KiB)|[1-9][0-9]{0,12}(?:MB|MiB)|[1-9][0-9]{0,9}(?:GB|GiB)|[1-9][0-9]{0,6}(?:TB|TiB))$",
              "description": "bytes of disk that stay free: 64MiB"
            },
            "receipts": {
              "type": "boolean",
              "description": "whether an enrolled device tells its registry what became of each version; nothing is sent yet, as no registry takes receipts and no command enrols a device"
            },
            "tags": {
              "type": "object",
              "maxProperties": 16,
              "propertyNames": {"pattern": "^[a-z0-9._-]{1,32}$"},
              "additionalProperties": {"type": "string", "pattern": "^[ -~]{1,64}$"},
              "description": "what receipts say of this device besides, by name"
            }
          },
          "$defs": {
            "text": {"type": "string", "pattern": "^[^\\\\u0000]+$"},
            "path": {"type": "string", "pattern": "^[^\\\\u0000]+$"},
            "time": {"type": "string", "pattern": "^0*(?:[1-9][0-9]{0,4}|100000)[dhms]$"},
            "version": {
              "type": "string",
              "maxLength": 64,
              "pattern": "^(?:0|[1-9][0-9]{0,17}|[1-8][0-9]{18})\\\\.(?:0|[1-9][0-9]{0,17}|[1-8][0-9]{18})\\\\.(?:0|[1-9][0-9]{0,17}|[1-8][0-9]{18})(?:-(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(?:\\\\.(?:0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*)?$"
            },
            "model": {
              "type": "object",
              "additionalProperties": false,
              "required": ["model"],
              "not": {"required": ["channel", "version"]},
              "properties": {
                "model": {
                  "type": "string",
                  "pattern": "^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?/[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$",
                  "not": {"pattern": "\\\\.\\\\.|^(?:sealift|root|targets|snapshot|timestamp|mirrors|state|poll-state|root_history|generation\\\\.json)/"}
                },
                "channel": {"type": "string", "pattern": "^[a-z][a-z0-9-]{0,31}$", "description": "stable unless given"},
                "version": {"$ref": "#/$defs/version", "description": "exactly this version, in the place of a channel"},
                "expectation": {"$ref": "#/$defs/path", "description": "what the app sends and reads"},
                "variant": {
                  "type": "string",
                  "pattern": "^[a-z0-9](?:[a-z0-9._-]{0,30}[a-z0-9])?$",
                  "not": {"pattern": "\\\\.\\\\."},
                  "description": "the first that runs here unless given"
                },
                "floor": {"$ref": "#/$defs/version", "description": "the lowest version that this device ever activates"},
                "group": {"$ref": "#/$defs/text", "description": "models of one group move together or not at all"},
                "confirm": {
                  "type": "string",
                  "pattern": "^0*(?:[1-9][0-9]{0,2}|1000)/0*(?:(?:[1-9][0-9]{0,4}|100000)[ms]|(?:[1-9][0-9]{0,3}|[1-7][0-9]{4}|8[0-6][0-9]{3}|87[0-5][0-9]{2}|87600)h|(?:[1-9][0-9]{0,2}|[12][0-9]{3}|3[0-5][0-9]{2}|36[0-4][0-9]|3650)d)$",
                  "description": "fall back unless the app confirms within so many starts and such a time: 3/24h"
                }
              }
            }
          }
        }
        """
}
