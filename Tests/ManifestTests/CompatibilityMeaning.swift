import CanonicalJSON
import Manifest

/// Rows about what is done before and after a model, about states and functions.
extension Row {
    private static func texts(_ vocabulary: UInt8?) -> Side {
        Side(inputs: ["x: int64[?]"], outputs: ["y: float32[?]"]).with { $0.vocabulary = vocabulary }
    }

    private static func pre(_ members: KeyValuePairs<String, JSONValue>) -> Side {
        .takes("x: float32[1]").with { $0.preprocessing = members }
    }

    private static func post(_ members: KeyValuePairs<String, JSONValue>) -> Side {
        .gives("y: float32[1]").with { $0.postprocessing = members }
    }

    static let processing: [Row] = [
        Row(27, "the same tokenizer", texts(1), texts(1), .fits, .patch),
        Row(
            27,
            "another tokenizer",
            texts(1),
            texts(5),
            .refused(
                "tokenizer `vocab`: the app has built in 010101010101…, the model was trained with 0505"
            ),
            .major
        ),
        Row(
            27,
            "another tokenizer, which ships along and is used",
            texts(nil).with { $0.usesBundledTokenizers = true },
            texts(5).with { $0.shipsVocabulary = true },
            .fits
        ),
        Row(
            27,
            "another tokenizer, which does not ship along",
            texts(nil).with { $0.usesBundledTokenizers = true },
            texts(5),
            .refused("the app uses the one that ships with the model, the model does not ship 050505050505…")
        ),
        Row(
            27,
            "a tokenizer that the app does not name",
            texts(nil),
            texts(5),
            .refused("names none"),
            .major
        ),
        Row(
            27,
            "a tokenizer that the model no longer says",
            texts(1),
            texts(nil),
            .refused("says none"),
            .major
        ),
        Row(
            28,
            "the same pre-processing",
            pre(["mean": .text("0.5")]),
            pre(["mean": .text("0.5")]),
            .fits,
            .patch
        ),
        Row(
            28,
            "another mean",
            pre(["mean": .text("0.5"), "scale": .integer(1)]),
            pre(["mean": .text("0.4"), "scale": .integer(1)]),
            .refused("pre-processing `mean`: the app does \"0.5\", the model asks for \"0.4\""),
            .major
        ),
        Row(
            28,
            "pre-processing that the app does not do",
            pre([:]),
            pre(["sample_rate": .integer(16_000)]),
            .refused("pre-processing `sample_rate`: the app does not say it, the model asks for 16000"),
            .major
        ),
        Row(
            28,
            "pre-processing that moved into the model",
            pre(["mean": .text("0.5")]),
            pre([:]),
            .refused("the app does \"0.5\", the model does not ask for it"),
            .major
        ),
        Row(
            29,
            "the same post-processing",
            post(["nms": .bool(true)]),
            post(["nms": .bool(true)]),
            .fits,
            .patch
        ),
        Row(
            29,
            "another activation",
            post(["activation": .text("softmax")]),
            post(["activation": .text("none")]),
            .refused("post-processing `activation`: the app does \"softmax\", the model asks for \"none\""),
            .major
        ),
        Row(
            29,
            "another threshold",
            post(["threshold": .text("0.5")]),
            post(["threshold": .text("0.6")]),
            .fitsNoting("post-processing `threshold`: \"0.6\", the app knows \"0.5\""),
            .minor
        ),
        Row(
            30,
            "another scale of what is sent",
            .takes("x: int8[1]").with { $0.scale = "0.5" },
            .takes("x: int8[1]").with { $0.scale = "0.25" },
            .refused("input `x`: the app knows scale 0.5 and zero 0, the model has scale 0.25 and zero 0"),
            .major
        ),
        Row(
            30,
            "another scale of what is read",
            .gives("y: int8[1]").with { $0.scale = "0.5" },
            .gives("y: int8[1]"),
            .refused(
                "output `y`: the app knows scale 0.5 and zero 0, the model is not quantized; read scale"
            ),
            .major
        ),
        Row(
            30,
            "a scale that the app reads when it runs",
            .takes("x: int8[1]"),
            .takes("x: int8[1]").with { $0.scale = "0.25" },
            .fits
        ),
        Row(
            30,
            "an output's scale that the app reads when it runs",
            .gives("y: int8[1]"),
            .gives("y: int8[1]").with { $0.scale = "0.25" },
            .fits
        ),
        Row(
            31,
            "weights in half precision, inputs alike",
            .takes("x: float32[1]"),
            .takes("x: float32[1]"),
            .fits
        ),
        Row(
            31,
            "weights in half precision, outputs alike",
            .gives("y: float32[1]"),
            .gives("y: float32[1]"),
            .fits
        ),
    ]

    private static func keeping(_ states: String...) -> Side {
        .takes("x: float32[1]").with { $0.states = states }
    }

    private static func calling(_ functions: KeyValuePairs<String, String>, _ name: String? = nil) -> Side {
        .takes("x: float32[1]").with {
            $0.functions = functions
            $0.defaultFunction = name
        }
    }

    static let states: [Row] = [
        Row(32, "the same states", keeping("k: float16[8]"), keeping("k: float16[8]"), .fits, .patch),
        Row(
            32,
            "a state that is new",
            keeping(),
            keeping("k: float16[8]"),
            .refused("state `k`: the app does not keep it, the model needs float16[8] between calls"),
            .major
        ),
        Row(
            32,
            "a state that is gone",
            keeping("k: float16[8]"),
            keeping(),
            .refused("state `k`: the app keeps float16[8], the model has no state of that name"),
            .major
        ),
        Row(
            32,
            "a state of another shape",
            keeping("k: float16[8]"),
            keeping("k: float16[16]"),
            .refused("state `k`: the app keeps float16[8], the model needs float16[16]"),
            .major
        ),
        Row(
            32,
            "states that the runtime makes",
            keeping("k: float16[8]").with { $0.isStateAgnostic = true },
            keeping("k: float16[16]", "v: float16[16]"),
            .fits,
            .major
        ),
        Row(33, "a function that is new", calling([:]), calling(["f": "float32[1]"]), .fits, .minor),
        Row(
            33,
            "a function that is used and gone",
            calling(["f": "float32[1]"]),
            calling(["g": "float32[1]"]),
            .refused(
                "function `f`: the app calls it, the model has no function of that name: its functions are `g`"
            ),
            .major
        ),
        Row(33, "a function that is gone and not used", calling([:]), calling([:]), .fits),
        Row(
            33,
            "another default function",
            calling([:], "main"),
            calling([:], "other"),
            .refused("default function: the app calls `main`, the model has `other`"),
            .major
        ),
        Row(
            33,
            "a function of the same inputs and outputs",
            calling(["f": "int8[1]"]),
            calling(["f": "int8[1]"]),
            .fits
        ),
    ]
}
