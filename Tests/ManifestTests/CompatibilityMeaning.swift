import CanonicalJSON
import Manifest

/// Rows about labels.
extension Row {
    private static func indexed(_ labels: String...) -> Side {
        .gives("y: float32[?]").with { $0.labels = labels }
    }

    private static func keyed(_ labels: String...) -> Side {
        .gives("y: map to float32[]").with { $0.labels = labels }
    }

    static let labels: [Row] = [
        Row(23, "the same labels by index", indexed("a", "b"), indexed("a", "b"), .fits, .patch),
        Row(23, "the same labels by name", keyed("a", "b"), keyed("a", "b"), .fits, .patch),
        Row(23, "an app that knows no labels", indexed(), indexed("a", "b"), .fits),
        Row(
            24,
            "labels in another order, by index",
            indexed("a", "b"),
            indexed("b", "a"),
            .refused("labels: the app knows `a` at 0, the model has `b` there; take the labels from"),
            .major
        ),
        Row(
            24,
            "labels in another order, by name",
            keyed("a", "b"),
            keyed("b", "a"),
            .fitsNoting("in another order"),
            .minor
        ),
        Row(
            25,
            "a new label by name, and the app is open",
            keyed("a", "b").with { $0.hasOpenLabels = true },
            keyed("a", "c", "b"),
            .fitsNoting("the model has 3 class labels, and the app is open to new ones"),
            .minor
        ),
        Row(
            25,
            "a new label by name, and the app is not open",
            keyed("a", "b"),
            keyed("a", "b", "c"),
            .refused("labels: the app knows 2 of them, the model has 3; say `open_labels` if"),
            .minor
        ),
        Row(
            25,
            "a new label at the end by index, and the app is open",
            indexed("a", "b").with { $0.hasOpenLabels = true },
            indexed("a", "b", "c"),
            .fitsNoting("open to new ones"),
            .major
        ),
        Row(
            25,
            "a new label at the end by index, and the app is not open",
            indexed("a", "b"),
            indexed("a", "b", "c"),
            .refused("say `open_labels`"),
            .major
        ),
        Row(
            26,
            "a label in the middle by index, whatever the app is open to",
            indexed("a", "b").with { $0.hasOpenLabels = true },
            indexed("a", "c", "b"),
            .refused("labels: the app knows `b` at 1, the model has `c` there; make the app know"),
            .major
        ),
        Row(
            26,
            "a label that is gone, by index",
            indexed("a", "b"),
            indexed("a"),
            .refused(
                "labels: the app knows 2 of them, the model has 1; make the app know the model's labels"
            ),
            .major
        ),
        Row(
            26,
            "a label that was renamed, by name",
            keyed("a", "b").with { $0.hasOpenLabels = true },
            keyed("a", "c", "d"),
            .refused("labels: the app knows `b`, the model has no label of that name"),
            .major
        ),
        Row(
            26,
            "labels that are all gone",
            keyed("a", "b"),
            keyed(),
            .refused("does not say its own"),
            .major
        ),
    ]

    private static func function(_ type: String, _ labels: String..., beside own: [String] = []) -> Side {
        Side().with {
            $0.outputs = ["z: float32[2]"]
            $0.labels = own
            $0.functions = ["f": type]
            $0.defaultFunction = "main"
            if !labels.isEmpty { $0.functionLabels = ["f": labels] }
        }
    }

    /// Of a function that is not the default one.
    static let functionLabels: [Row] = [
        Row(
            23,
            "the same",
            function("float32[2]", "a", "b"),
            function("float32[2]", "a", "b"),
            .fits,
            .patch
        ),
        Row(
            24,
            "another order in a function, by index",
            function("float32[2]", "a", "b"),
            function("float32[2]", "b", "a"),
            .refused("function `f`, labels: the app knows `a` at 0, the model has `b` there"),
            .major
        ),
        Row(
            24,
            "another order in a function, by name",
            function("string[?]", "a", "b"),
            function("string[?]", "b", "a"),
            .fitsNoting("function `f`, the class labels are in another order"),
            .minor
        ),
        Row(
            25,
            "a new label in a function, and the app is open",
            function("string[?]", "a", "b").with { $0.hasOpenLabels = true },
            function("string[?]", "a", "b", "c"),
            .fitsNoting("function `f`, the model has 3 class labels"),
            .minor
        ),
        Row(
            25,
            "a new label in a function, and the app is not open",
            function("string[?]", "a", "b"),
            function("string[?]", "a", "b", "c"),
            .refused("function `f`, labels: the app knows 2 of them, the model has 3; say `open_labels`"),
            .minor
        ),
        Row(
            26,
            "a label of a function is another",
            function("float32[2]", "a", "b"),
            function("float32[2]", "a", "c"),
            .refused("function `f`, labels: the app knows `b` at 1, the model has `c` there"),
            .major
        ),
        Row(
            26,
            "a label of the default function is another beside a function of its own labels",
            function("float32[2]", "p", "q", beside: ["a", "b"]),
            function("float32[2]", "p", "q", beside: ["a", "c"]),
            .refused("labels: the app knows `b` at 1, the model has `c` there"),
            .major
        ),
        Row(
            26,
            "the labels of a function are gone",
            function("float32[2]", "a", "b"),
            function("float32[2]"),
            .refused("function `f`, labels: the app knows 2 class labels, the model does not say its own"),
            .major
        ),
        Row(
            33,
            "a new function that classifies otherwise",
            .gives("z: float32[2]").with {
                $0.labels = ["a", "b"]
                $0.defaultFunction = "main"
            },
            function("float32[2]", "p", "q", beside: ["a", "b"]),
            .fits,
            .minor
        ),
        Row(
            33,
            "other labels of a function that the app does not call",
            .gives("z: float32[2]").with { $0.defaultFunction = "main" },
            function("float32[2]", "p", "q"),
            .fits
        ),
    ]

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

/// Rows about what a machine must have.
extension Row {
    private static let plain = Side.takes("x: float32[1]")

    private static func here(_ runtime: Machine.Runtime?, _ system: String = "linux") -> Side {
        plain.with {
            $0.machine = Machine(
                operatingSystem: system,
                architecture: "x86-64",
                runtimes: runtime.map { [$0] } ?? []
            )
            $0.machine?.operatingSystemVersion = "13.2"
            $0.machine?.memory = 100
            $0.machine?.compute = [.cpu]
        }
    }

    private static func model(_ change: (inout Side) -> Void) -> Side { plain.with(change) }

    private static let onnx = Machine.Runtime(
        name: "onnxruntime",
        version: "1.24.3",
        formats: [.onnx],
        irVersion: 11,
        opsets: ["ai.onnx": 23]
    )

    static let machines: [Row] = [
        Row(34, "another format that runs here", here(onnx), plain, .fits),
        Row(
            34,
            "another format, for which nothing is here",
            here(onnx),
            model { $0.format = .tflite },
            .notRunnable(
                "the app runs where no runtime loads tflite, the model is tflite; install a runtime"
            ),
            .minor
        ),
        Row(
            34,
            "a format that never runs on this system",
            plain.with { $0.machine = Machine(operatingSystem: "linux", architecture: "arm64") },
            model { $0.format = .coreMLPackage },
            .notRunnable("the model is coreml-package"),
            .minor
        ),
        Row(35, "all that is required is here", here(onnx), model { $0.requires.irVersion = 11 }, .fits),
        Row(
            35,
            "a newer intermediate representation",
            here(onnx),
            model { $0.requires.irVersion = 12 },
            .notRunnable(
                "IR version: the app runs on onnxruntime 1.24.3, which reads 11, the model needs 12"
            ),
            .minor
        ),
        Row(
            35,
            "newer operators",
            here(onnx),
            model { $0.requires.opsets = ["ai.onnx": 24] },
            .notRunnable("operators of ai.onnx"),
            .minor
        ),
        Row(
            35,
            "a newer runtime",
            here(onnx),
            model { $0.requires.runtime = Requirements.Minimum(name: "onnxruntime", minimum: "1.25") },
            .notRunnable("runtime: the app runs on onnxruntime 1.24.3, the model needs onnxruntime 1.25"),
            .minor
        ),
        Row(
            35,
            "an older runtime would do",
            here(onnx),
            model { $0.requires.runtime = Requirements.Minimum(name: "onnxruntime", minimum: "1.9") },
            .fits
        ),
        Row(
            35,
            "another system",
            here(onnx),
            model { $0.requires.operatingSystem = Requirements.Minimum(name: "macOS", minimum: nil) },
            .notRunnable("operating system: the app runs on linux 13.2, the model needs macOS"),
            .minor
        ),
        Row(
            35,
            "a newer system",
            here(onnx, "macos"),
            model { $0.requires.operatingSystem = Requirements.Minimum(name: "macOS", minimum: "14") },
            .notRunnable(
                "the app runs on macos 13.2, the model needs macOS 14; keep the version that runs here"
            ),
            .minor
        ),
        Row(
            35,
            "another architecture",
            here(onnx),
            model { $0.requires.architecture = "arm64" },
            .notRunnable("architecture"),
            .minor
        ),
        Row(
            36,
            "an interface that a person declared",
            plain,
            plain.with { $0.isDeclared = true },
            .unknown,
            .major
        ),
        Row(
            36,
            "a declared interface that the app allows",
            plain.with { $0.allowsUnknown = true },
            plain.with { $0.isDeclared = true },
            .fits
        ),
        Row(
            36,
            "declared outputs that the app allows are still compared",
            Side.gives("y: float32[1]").with { $0.allowsUnknown = true },
            Side.gives("y: float32[1]").with { $0.isDeclared = true },
            .fits
        ),
    ]
}
