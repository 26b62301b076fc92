import Manifest

/// Rows about elements and kinds.
extension Row {
    static let types: [Row] = [
        Row(9, "the same element sent", .takes("x: uint8[1]"), .takes("x: uint8[1]"), .fits, .patch),
        Row(9, "the same element read", .gives("x: uint8[1]"), .gives("x: uint8[1]"), .fits, .patch),
        Row(
            10,
            "a widened input, cast",
            .takes("x: int8[1]").with { $0.adaptations = [.cast] },
            .takes("x: int32[1]"),
            .adapted("input `x`: cast from int8 to int32"),
            .minor
        ),
        Row(
            10,
            "a half-precision input, cast",
            .takes("x: float16[1]").with { $0.adaptations = [.cast] },
            .takes("x: float32[1]"),
            .adapted("cast from float16 to float32"),
            .minor
        ),
        Row(
            10,
            "a narrower output, cast",
            .gives("y: float32[1]").with { $0.adaptations = [.cast] },
            .gives("y: float16[1]"),
            .adapted("output `y`: cast from float16 to float32"),
            .minor
        ),
        Row(
            10,
            "a widened input, not cast",
            .takes("x: int8[1]"),
            .takes("x: int32[1]"),
            .refused(
                "the app sends int8, the model takes int32: the app does not declare that it casts; cast in"
            ),
            .minor
        ),
        Row(
            10,
            "a narrower output, not cast",
            .gives("y: float32[1]"),
            .gives("y: float16[1]"),
            .refused(
                "the app reads float32, the model gives float16: the app does not declare that it casts"
            ),
            .minor
        ),
        Row(
            11,
            "a narrowed input",
            .takes("x: int32[1]").with { $0.adaptations = [.cast] },
            .takes("x: int8[1]"),
            .refused("input `x`: the app sends int32, the model takes int8: another element type"),
            .major
        ),
        Row(
            11,
            "a widened output",
            .gives("y: float16[1]").with { $0.adaptations = [.cast] },
            .gives("y: float32[1]"),
            .refused("output `y`: the app reads float16, the model gives float32: another element type"),
            .major
        ),
        Row(
            11,
            "an input with integers for floats",
            .takes("x: int32[1]").with { $0.adaptations = [.cast] },
            .takes("x: float64[1]"),
            .refused("the app sends int32, the model takes float64"),
            .major
        ),
        Row(
            11,
            "an output with floats for integers",
            .gives("x: int32[1]").with { $0.adaptations = [.cast] },
            .gives("x: float32[1]"),
            .refused("the app reads int32, the model gives float32"),
            .major
        ),
        Row(
            11,
            "another sign",
            .takes("x: uint8[1]").with { $0.adaptations = [.cast] },
            .takes("x: int32[1]"),
            .refused("the app sends uint8, the model takes int32"),
            .major
        ),
        Row(
            11,
            "bytes of an image for floats",
            .takes("x: uint8[1]").with { $0.adaptations = [.cast] },
            .takes("x: float32[1]"),
            .refused("the app sends uint8, the model takes float32"),
            .major
        ),
        Row(
            11,
            "bfloat16 is not float16",
            .takes("x: float16[1]").with { $0.adaptations = [.cast] },
            .takes("x: bfloat16[1]"),
            .refused("the app sends float16, the model takes bfloat16"),
            .major
        ),
        Row(
            21,
            "another image size",
            .takes("x: image RGB 224x224"),
            .takes("x: image RGB 256x256"),
            .refused("the app sends RGB image 224×224, the model takes RGB image 256×256: another size"),
            .major
        ),
        Row(
            21,
            "another image size, resized",
            .takes("x: image RGB 224x224").with { $0.adaptations = [.resize] },
            .takes("x: image RGB 256x256"),
            .adapted("input `x`: resized, from RGB image 224×224 to RGB image 256×256"),
            .major
        ),
        Row(
            21,
            "an image size of the set",
            .takes("x: image RGB 224x224"),
            .takes("x: image RGB 256x256 224x224"),
            .fits,
            .minor
        ),
        Row(
            21,
            "an output size beyond the app's",
            .gives("x: image RGB 224x224").with { $0.adaptations = [.resize] },
            .gives("x: image RGB 224x224 256x256"),
            .refused(
                "the app reads RGB image 224×224, the model gives RGB image 224×224 or 256×256: another size"
            ),
            .major
        ),
        Row(
            21,
            "another colour layout sent",
            .takes("x: image RGB 8x8").with { $0.adaptations = [.resize, .cast, .transpose] },
            .takes("x: image BGR 8x8"),
            .refused("the app sends RGB image 8×8, the model takes BGR image 8×8: another colour layout"),
            .major
        ),
        Row(
            21,
            "another colour layout read",
            .gives("x: image GRAYSCALE 8x8"),
            .gives("x: image GRAYSCALE_FLOAT16 8x8"),
            .refused("another colour layout"),
            .major
        ),
        Row(
            21,
            "channels first for channels last",
            .takes("x: float32[1,224,224,3]"),
            .takes("x: float32[1,3,224,224]"),
            .refused("the channels stand in another place"),
            .major
        ),
        Row(
            21,
            "channels first for channels last, moved by the app",
            .takes("x: float32[1,224,224,3]").with { $0.adaptations = [.transpose] },
            .takes("x: float32[1,3,224,224]"),
            .adapted("channels moved"),
            .major
        ),
        Row(
            21,
            "channels last given, channels first read",
            .gives("x: float32[1,3,224,224]"),
            .gives("x: float32[1,224,224,3]"),
            .refused("the channels stand in another place"),
            .major
        ),
        Row(
            22,
            "an image for a tensor",
            .takes("x: uint8[8,8,3]"),
            .takes("x: image RGB 8x8"),
            .refused(
                "the app sends uint8[8, 8, 3], the model takes RGB image 8×8: a different kind of value"
            ),
            .major
        ),
        Row(
            22,
            "a map for a tensor",
            .gives("y: float32[3]"),
            .gives("y: map to float32[]"),
            .refused(
                "the app reads float32[3], the model gives map of string to float32[]: a different kind"
            ),
            .major
        ),
        Row(
            22,
            "the same list of maps",
            .gives("y: list of map to float32[]"),
            .gives("y: list of map to float32[]"),
            .fits,
            .patch
        ),
    ]
}
