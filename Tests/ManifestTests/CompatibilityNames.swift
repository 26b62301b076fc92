import Manifest

/// Rows about names and their order.
extension Row {
    static let names: [Row] = [
        Row(1, "the same input", .takes("x: float32[1,4]"), .takes("x: float32[1,4]"), .fits, .patch),
        Row(1, "the same output", .gives("y: float32[1,4]"), .gives("y: float32[1,4]"), .fits, .patch),
        Row(
            2,
            "an input that is gone",
            .takes("x: float32[1]"),
            .takes(),
            .refused("input `x`: the app sends float32[1], the model has no input of that name"),
            .major
        ),
        Row(
            2,
            "an input that was renamed",
            .takes("x: float32[1]"),
            .takes("z: float32[1]"),
            .refused("its inputs are `z`; send what the model takes"),
            .major
        ),
        Row(
            2,
            "an output that is gone and read",
            .gives("y: float32[1]"),
            .gives(),
            .refused("output `y`: the app reads float32[1], the model has no output of that name"),
            .major
        ),
        Row(
            2,
            "an output that is gone and not needed",
            .gives("y?: float32[1]"),
            .gives(),
            .fitsNoting("output `y` is not given, and the app can do without"),
            .major
        ),
        Row(
            3,
            "a new required input",
            .takes("x: float32[1]"),
            .takes("x: float32[1]", "z: int64[1]"),
            .refused("input `z`: the app does not send it, the model needs int64[1]; send it, or stay"),
            .major
        ),
        Row(
            4,
            "a new optional input",
            .takes("x: float32[1]"),
            .takes("x: float32[1]", "z?: int64[1]"),
            .fitsNoting("input `z` is optional"),
            .minor
        ),
        Row(
            5,
            "an input that became optional",
            .takes("x: float32[1]"),
            .takes("x?: float32[1]"),
            .fits,
            .minor
        ),
        Row(
            5,
            "an output that became optional",
            .gives("y: float32[1]"),
            .gives("y?: float32[1]"),
            .refused("output `y`: the app always reads it, the model does not always give it"),
            .major
        ),
        Row(
            6,
            "an input that is required and always sent",
            .takes("x: float32[1]"),
            .takes("x: float32[1]"),
            .fits
        ),
        Row(
            6,
            "an input that became required, sometimes sent",
            .takes("x?: float32[1]"),
            .takes("x: float32[1]"),
            .refused("input `x`: the app does not always send it, the model needs it; always send it"),
            .major
        ),
        Row(
            6,
            "an output that is always given now",
            .gives("y?: float32[1]"),
            .gives("y: float32[1]"),
            .fits,
            .major
        ),
        Row(
            7,
            "a new output, standing first",
            .gives("y: float32[1]"),
            .gives("z: float32[1]", "y: float32[1]"),
            .fits,
            .minor
        ),
        Row(
            8,
            "inputs in another order",
            .takes("a: float32[1]", "b: float32[1]"),
            .takes("b: float32[1]", "a: float32[1]"),
            .fits,
            .minor
        ),
        Row(
            8,
            "outputs in another order",
            .gives("a: float32[1]", "b: float32[1]"),
            .gives("b: float32[1]", "a: float32[1]"),
            .fits,
            .minor
        ),
        Row(
            8,
            "outputs in another order, found by position",
            .gives("a: float32[1]", "b: float32[1]").with { $0.isPositional = true },
            .gives("b: float32[1]", "a: float32[1]"),
            .refused("output `a`: the app finds it at position 0, the model has `b` there"),
            .minor
        ),
        Row(
            8,
            "inputs in another order, found by position",
            .takes("a: float32[1]", "b: float32[1]").with { $0.isPositional = true },
            .takes("b: float32[1]", "a: float32[1]"),
            .refused("input `b`: the app finds it at position 1, the model has `a` there"),
            .minor
        ),
    ]
}
