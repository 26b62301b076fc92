/// Rows of the table about shapes and symbols.
extension Row {
    static let shapes: [Row] = [
        Row(
            "12 another rank",
            app: .takes("x: float32[4]"),
            model: .takes("x: float32[1,4]"),
            .incompatible(
                "input `x`: the app sends float32[4], the model takes float32[1, 4]: 1 dimensions, not 2"
            )
        ),
        Row(
            "12 a scalar is not a list of one",
            app: .gives("y: float32[1]"),
            model: .gives("y: float32[]"),
            .incompatible(
                "output `y`: the model gives float32[], the app reads float32[1]: 0 dimensions, not 1"
            )
        ),
        Row(
            "13 an input of any rank",
            app: .takes("x: float32[4]"),
            model: .takes("x: float32[*]"),
            .compatible
        ),
        Row(
            "13 an output of any rank",
            app: .gives("y: float32[4]"),
            model: .gives("y: float32[*]"),
            .incompatible(
                "output `y`: the model gives float32[…], the app reads float32[4]: the rank is not known"
            )
        ),
        Row(
            "13 an output of any rank, read as such",
            app: .gives("y: float32[*]"),
            model: .gives("y: float32[*]"),
            .compatible
        ),
        Row(
            "14 an input that became dynamic",
            app: .takes("x: float32[1,4]"),
            model: .takes("x: float32[n,4]"),
            .compatible
        ),
        Row(
            "14 an input within the range",
            app: .takes("x: float32[4]"),
            model: .takes("x: float32[1..8]"),
            .compatible
        ),
        Row(
            "14 an output that became dynamic",
            app: .gives("y: float32[1,4]"),
            model: .gives("y: float32[n,4]"),
            .incompatible(
                "output `y`: the model gives float32[n, 4], the app reads float32[1, 4]: dimension 0 may be n, and must be 1"
            )
        ),
        Row(
            "14 an output that became dynamic, read as such",
            app: .gives("y: float32[?,4]"),
            model: .gives("y: float32[n,4]"),
            .compatible
        ),
        Row(
            "15 an input that became fixed, sent so",
            app: .takes("x: float32[4]"),
            model: .takes("x: float32[4]"),
            .compatible
        ),
        Row(
            "15 an input that became fixed, sent in any size",
            app: .takes("x: float32[?]"),
            model: .takes("x: float32[4]"),
            .incompatible(
                "input `x`: the app sends float32[?], the model takes float32[4]: dimension 0 may be ?, and must be 4"
            )
        ),
        Row(
            "15 an output that became fixed",
            app: .gives("y: float32[1..8]"),
            model: .gives("y: float32[4]"),
            .compatible
        ),
        Row(
            "15 an output fixed outside",
            app: .gives("y: float32[1..8]"),
            model: .gives("y: float32[9]"),
            .incompatible(
                "output `y`: the model gives float32[9], the app reads float32[1…8]: dimension 0 may be 9, and must be 1…8"
            )
        ),
        Row(
            "16 an input range that widened",
            app: .takes("x: float32[2..8]"),
            model: .takes("x: float32[1..]"),
            .compatible
        ),
        Row(
            "16 an input range that narrowed",
            app: .takes("x: float32[1..8]"),
            model: .takes("x: float32[2..8]"),
            .incompatible(
                "input `x`: the app sends float32[1…8], the model takes float32[2…8]: dimension 0 may be 1…8, and must be 2…8"
            )
        ),
        Row(
            "16 an output range that narrowed",
            app: .gives("y: float32[1..8]"),
            model: .gives("y: float32[2..4]"),
            .compatible
        ),
        Row(
            "16 an output range without end",
            app: .gives("y: float32[1..5000]"),
            model: .gives("y: float32[1..]"),
            .incompatible(
                "output `y`: the model gives float32[1…], the app reads float32[1…5000]: dimension 0 may be 1…, and must be 1…5000"
            )
        ),
        Row(
            "17 enumerated shapes that grew",
            app: .takes("x: int32[1,8 or 1,16]"),
            model: .takes("x: int32[1,8 or 1,16 or 1,32]"),
            .compatible
        ),
        Row(
            "17 enumerated shapes that shrank",
            app: .takes("x: int32[1,8 or 1,16]"),
            model: .takes("x: int32[1,8 or 2,8]"),
            .incompatible(
                "input `x`: the app sends int32[1, 8] or [1, 16], the model takes int32[1, 8] or [2, 8]: the shape [1, 16] is not among them"
            )
        ),
        Row(
            "17 sets of whole tuples, not of dimensions",
            app: .takes("x: int32[1|2,8|16]"),
            model: .takes("x: int32[1,8 or 2,16]"),
            .incompatible(
                "input `x`: the app sends int32[1|2, 8|16], the model takes int32[1, 8] or [2, 16]: the shape [1, 16] is not among them"
            )
        ),
        Row(
            "17 every tuple is there",
            app: .takes("x: int32[1..2,8]"),
            model: .takes("x: int32[1,8 or 2,8]"),
            .compatible
        ),
        Row(
            "17 enumerated outputs that grew",
            app: .gives("y: int32[1,8 or 1,16]"),
            model: .gives("y: int32[1,8 or 1,32]"),
            .incompatible(
                "output `y`: the model gives int32[1, 8] or [1, 32], the app reads int32[1, 8] or [1, 16]: the shape [1, 32] is not among them"
            )
        ),
        Row(
            "18 symbols that were renamed",
            app: Side(inputs: ["x: float32[batch]"], outputs: ["y: float32[batch]"]),
            model: Side(inputs: ["x: float32[N]"], outputs: ["y: float32[N]"]),
            .compatible
        ),
        Row(
            "18 a symbol where the app has none",
            app: .takes("x: float32[?]"),
            model: .takes("x: float32[n]"),
            .compatible
        ),
        Row(
            "19 input symbols that were merged",
            app: .takes("x: float32[a]", "z: float32[b]"),
            model: .takes("x: float32[a]", "z: float32[a]"),
            .incompatible(
                "dimension 0 of input `z` must equal dimension 0 of input `x`, and the app does not promise that"
            )
        ),
        Row(
            "19 merged, and the app promises it",
            app: .takes("x: float32[s]", "z: float32[s]"),
            model: .takes("x: float32[a]", "z: float32[a]"),
            .compatible
        ),
        Row(
            "19 merged, and the app sends one size",
            app: .takes("x: float32[3]", "z: float32[3]"),
            model: .takes("x: float32[a]", "z: float32[a]"),
            .compatible
        ),
        Row(
            "19 merged, and the app sends two sizes",
            app: .takes("x: float32[3]", "z: float32[4]"),
            model: .takes("x: float32[a]", "z: float32[a]"),
            .incompatible(
                "dimension 0 of input `z` must equal dimension 0 of input `x`, and the app does not promise that"
            )
        ),
        Row(
            "19 output symbols that were merged",
            app: .gives("x: float32[a]", "z: float32[b]"),
            model: .gives("x: float32[a]", "z: float32[a]"),
            .compatible
        ),
        Row(
            "19 output symbols that were parted",
            app: .gives("x: float32[a]", "z: float32[a]"),
            model: .gives("x: float32[a]", "z: float32[b]"),
            .incompatible(
                "the app reads dimension 0 of output `z` as equal to dimension 0 of output `x`, and the model does not promise that"
            )
        ),
    ]
}
