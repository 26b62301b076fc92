/// Rows of the table about names, order, elements, kinds and labels.
extension Row {
    static let names: [Row] = [
        Row(
            "1 the same input",
            app: .takes("x: float32[1,4]"),
            model: .takes("x: float32[1,4]"),
            .compatible
        ),
        Row(
            "1 the same output",
            app: .gives("y: float32[1,4]"),
            model: .gives("y: float32[1,4]"),
            .compatible
        ),
        Row(
            "2 an input that is gone",
            app: .takes("x: float32[1]"),
            model: .takes(),
            .incompatible("input `x`: the app sends it, and the model has no input of that name")
        ),
        Row(
            "2 an input that was renamed",
            app: .takes("x: float32[1]"),
            model: .takes("z: float32[1]"),
            .incompatible("input `z`: the model needs it, and the app does not send it")
        ),
        Row(
            "2 an output that is gone and read",
            app: .gives("y: float32[1]"),
            model: .gives(),
            .incompatible("output `y`: the app reads it, and the model has no output of that name")
        ),
        Row(
            "2 an output that is gone and not needed",
            app: .gives("y?: float32[1]"),
            model: .gives(),
            .compatible
        ),
        Row(
            "3 a new required input",
            app: .takes("x: float32[1]"),
            model: .takes("x: float32[1]", "z: int64[1]"),
            .incompatible("input `z`: the model needs it, and the app does not send it")
        ),
        Row(
            "4 a new optional input",
            app: .takes("x: float32[1]"),
            model: .takes("x: float32[1]", "z?: int64[1]"),
            .compatible
        ),
        Row(
            "5 an input that became optional",
            app: .takes("x: float32[1]"),
            model: .takes("x?: float32[1]"),
            .compatible
        ),
        Row(
            "5 an output that became optional",
            app: .gives("y: float32[1]"),
            model: .gives("y?: float32[1]"),
            .incompatible("output `y`: the app always reads it, and the model does not always give it")
        ),
        Row(
            "6 an input that became required, always sent",
            app: .takes("x: float32[1]"),
            model: .takes("x: float32[1]"),
            .compatible
        ),
        Row(
            "6 an input that became required, sometimes sent",
            app: .takes("x?: float32[1]"),
            model: .takes("x: float32[1]"),
            .incompatible("input `x`: the model needs it, and the app does not always send it")
        ),
        Row(
            "7 a new output",
            app: .gives("y: float32[1]"),
            model: .gives("z: float32[1]", "y: float32[1]"),
            .compatible
        ),
        Row(
            "8 another order",
            app: .takes("a: float32[1]", "b: float32[1]"),
            model: .takes("b: float32[1]", "a: float32[1]"),
            .compatible
        ),
        Row(
            "8 another order, found by position",
            app: .gives("a: float32[1]", "b: float32[1]").with { $0.isPositional = true },
            model: .gives("b: float32[1]", "a: float32[1]"),
            .incompatible("output `a`: the app finds values by position, and 0 is another one in the model")
        ),
    ]

    static let types: [Row] = [
        Row("9 the same element", app: .takes("x: uint8[1]"), model: .takes("x: uint8[1]"), .compatible),
        Row(
            "10 a widened input, cast",
            app: .takes("x: int8[1]").with { $0.casts = true },
            model: .takes("x: int32[1]"),
            .adapted
        ),
        Row(
            "10 a narrower output, cast",
            app: .gives("y: float32[1]").with { $0.casts = true },
            model: .gives("y: float16[1]"),
            .adapted
        ),
        Row(
            "10 a widened input, not cast",
            app: .takes("x: int8[1]"),
            model: .takes("x: int32[1]"),
            .incompatible(
                "input `x`: the app sends int8, the model takes int32: the app does not declare that it casts"
            )
        ),
        Row(
            "11 a narrowed input",
            app: .takes("x: int32[1]").with { $0.casts = true },
            model: .takes("x: int8[1]"),
            .incompatible("input `x`: the app sends int32, the model takes int8: another element type")
        ),
        Row(
            "11 a widened output",
            app: .gives("y: float16[1]").with { $0.casts = true },
            model: .gives("y: float32[1]"),
            .incompatible("output `y`: the model gives float32, the app reads float16: another element type")
        ),
        Row(
            "11 integer for float",
            app: .takes("x: int32[1]").with { $0.casts = true },
            model: .takes("x: float64[1]"),
            .incompatible("input `x`: the app sends int32, the model takes float64: another element type")
        ),
        Row(
            "11 another sign",
            app: .takes("x: uint8[1]").with { $0.casts = true },
            model: .takes("x: int32[1]"),
            .incompatible("input `x`: the app sends uint8, the model takes int32: another element type")
        ),
        Row(
            "11 bfloat16 is not float16",
            app: .takes("x: float16[1]").with { $0.casts = true },
            model: .takes("x: bfloat16[1]"),
            .incompatible("input `x`: the app sends float16, the model takes bfloat16: another element type")
        ),
        Row(
            "21 another image size",
            app: .takes("x: image RGB 224x224"),
            model: .takes("x: image RGB 256x256"),
            .incompatible(
                "input `x`: the app sends RGB image 224×224, the model takes RGB image 256×256: another size"
            )
        ),
        Row(
            "21 an image size of the set",
            app: .takes("x: image RGB 224x224"),
            model: .takes("x: image RGB 256x256 224x224"),
            .compatible
        ),
        Row(
            "21 an output size beyond the app's",
            app: .gives("x: image RGB 224x224"),
            model: .gives("x: image RGB 224x224 256x256"),
            .incompatible(
                "output `x`: the model gives RGB image 224×224 or 256×256, the app reads RGB image 224×224: another size"
            )
        ),
        Row(
            "21 another colour layout",
            app: .takes("x: image RGB 8x8"),
            model: .takes("x: image BGR 8x8"),
            .incompatible(
                "input `x`: the app sends RGB image 8×8, the model takes BGR image 8×8: another colour layout"
            )
        ),
        Row(
            "22 an image for a tensor",
            app: .takes("x: uint8[8,8,3]"),
            model: .takes("x: image RGB 8x8"),
            .incompatible(
                "input `x`: the app sends uint8[8, 8, 3], the model takes RGB image 8×8: a different kind of value"
            )
        ),
        Row(
            "22 a map for a tensor",
            app: .gives("y: float32[3]"),
            model: .gives("y: map to float32[]"),
            .incompatible(
                "output `y`: the model gives map of string to float32[], the app reads float32[3]: a different kind of value"
            )
        ),
        Row(
            "22 the same list of maps",
            app: .gives("y: list of map to float32[]"),
            model: .gives("y: list of map to float32[]"),
            .compatible
        ),
    ]

    static let labels: [Row] = [
        Row(
            "23 the same labels",
            app: .gives("y: float32[2]").with { $0.labels = ["a", "b"] },
            model: .gives("y: float32[2]").with { $0.labels = ["a", "b"] },
            .compatible
        ),
        Row(
            "23 an app that knows no labels",
            app: .gives("y: float32[2]"),
            model: .gives("y: float32[2]").with { $0.labels = ["a", "b"] },
            .compatible
        ),
        Row(
            "24 labels in another order, by index",
            app: .gives("y: float32[2]").with { $0.labels = ["a", "b"] },
            model: .gives("y: float32[2]").with { $0.labels = ["b", "a"] },
            .incompatible("the class labels differ: 0 is `a` for the app and `b` for the model")
        ),
        Row(
            "24 labels in another order, by name",
            app: .gives("y: map to float32[]").with { $0.labels = ["a", "b"] },
            model: .gives("y: map to float32[]").with { $0.labels = ["b", "a"] },
            .compatible
        ),
        Row(
            "26 a label that is gone",
            app: .gives("y: float32[2]").with { $0.labels = ["a", "b"] },
            model: .gives("y: float32[2]").with { $0.labels = ["a"] },
            .incompatible("the class labels differ: the app knows 2, the model has 1")
        ),
    ]
}
