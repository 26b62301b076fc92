import Manifest

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
