import Manifest

/// Rows about shapes and symbols.
extension Row {
    static let shapes: [Row] = [
        Row(
            12,
            "another rank sent",
            .takes("x: float32[4]"),
            .takes("x: float32[1,4]"),
            .refused(
                "the app sends float32[4], the model takes float32[1, 4]: 1 dimensions, not 2; send what"
            ),
            .major
        ),
        Row(
            12,
            "a scalar is not a list of one",
            .gives("y: float32[1]"),
            .gives("y: float32[]"),
            .refused(
                "the app reads float32[1], the model gives float32[]: 0 dimensions, not 1; make the app"
            ),
            .major
        ),
        Row(
            13,
            "an input of any rank",
            .takes("x: float32[4]"),
            .takes("x: float32[*]"),
            .fitsNoting("can only be checked when it runs"),
            .minor
        ),
        Row(
            13,
            "an output of any rank",
            .gives("y: float32[4]"),
            .gives("y: float32[*]"),
            .refused("the app reads float32[4], the model gives float32[…]: the rank is not known"),
            .major
        ),
        Row(
            13,
            "an output of any rank, read as such",
            .gives("y: float32[*]"),
            .gives("y: float32[*]"),
            .fits
        ),
        Row(
            14,
            "an input that became dynamic",
            .takes("x: float32[1,4]"),
            .takes("x: float32[n,4]"),
            .fits,
            .minor
        ),
        Row(
            14,
            "an input that takes a range with the size in it",
            .takes("x: float32[4]"),
            .takes("x: float32[1..8]"),
            .fits,
            .minor
        ),
        Row(
            14,
            "an output that became dynamic",
            .gives("y: float32[1,4]"),
            .gives("y: float32[n,4]"),
            .refused("dimension 0 may be n, and must be 1"),
            .major
        ),
        Row(
            14,
            "a dynamic output, read as such",
            .gives("y: float32[?,4]"),
            .gives("y: float32[n,4]"),
            .fits
        ),
        Row(
            15,
            "an input that became fixed, and the app sends any size",
            .takes("x: float32[n,4]"),
            .takes("x: float32[1,4]"),
            .refused("dimension 0 may be n, and must be 1"),
            .major
        ),
        Row(
            15,
            "a fixed input, and the app sends that",
            .takes("x: float32[1,4]"),
            .takes("x: float32[1,4]"),
            .fits
        ),
        Row(
            15,
            "an input of another fixed size",
            .takes("x: float32[1,4]"),
            .takes("x: float32[1,8]"),
            .refused("dimension 1 may be 4, and must be 8"),
            .major
        ),
        Row(
            15,
            "an output that became fixed",
            .gives("y: float32[n,4]"),
            .gives("y: float32[2,4]"),
            .fits,
            .major
        ),
        Row(
            15,
            "an output of another fixed size",
            .gives("y: float32[2]"),
            .gives("y: float32[3]"),
            .refused("dimension 0 may be 3, and must be 2"),
            .major
        ),
        Row(
            16,
            "an input range that widened",
            .takes("x: float32[2..8]"),
            .takes("x: float32[1..]"),
            .fits,
            .minor
        ),
        Row(
            16,
            "an input range that narrowed",
            .takes("x: float32[1..8]"),
            .takes("x: float32[2..8]"),
            .refused("dimension 0 may be 1…8, and must be 2…8"),
            .major
        ),
        Row(
            16,
            "a narrowed input range that still holds",
            .takes("x: float32[3]"),
            .takes("x: float32[2..8]"),
            .fits
        ),
        Row(
            16,
            "an output range that narrowed",
            .gives("y: float32[1..8]"),
            .gives("y: float32[2..4]"),
            .fits,
            .minor
        ),
        Row(
            16,
            "an output range that widened",
            .gives("y: float32[1..5000]"),
            .gives("y: float32[1..]"),
            .refused("dimension 0 may be 1…, and must be 1…5000"),
            .major
        ),
        Row(
            16,
            "an input that takes fewer of some sizes",
            .takes("x: float32[1|2|4]"),
            .takes("x: float32[1|4]"),
            .refused("dimension 0 may be 1|2|4, and must be 1|4"),
            .major
        ),
        Row(
            17,
            "enumerated shapes taken that grew",
            .takes("x: int32[1,8 or 1,16]"),
            .takes("x: int32[1,8 or 1,16 or 1,32]"),
            .fits,
            .minor
        ),
        Row(
            17,
            "enumerated shapes taken that shrank",
            .takes("x: int32[1,8 or 1,16]"),
            .takes("x: int32[1,8 or 2,8]"),
            .refused("the shape [1, 16] is not among them"),
            .major
        ),
        Row(
            17,
            "tuples are whole, not a product of their dimensions",
            .takes("x: int32[1|2,8|16]"),
            .takes("x: int32[1,8 or 2,16]"),
            .refused("the shape [1, 16] is not among them"),
            .major
        ),
        Row(
            17,
            "enumerated shapes given that grew",
            .gives("y: int32[1,8 or 1,16]"),
            .gives("y: int32[1,8 or 1,16 or 1,32]"),
            .refused("the shape [1, 32] is not among them"),
            .major
        ),
        Row(
            17,
            "enumerated shapes given that shrank",
            .gives("y: int32[1,8 or 1,16]"),
            .gives("y: int32[1,8 or 1,16]"),
            .fits
        ),
        Row(
            18,
            "input and output symbols that were renamed",
            Side(inputs: ["x: float32[batch]"], outputs: ["y: float32[batch]"]),
            Side(inputs: ["x: float32[N]"], outputs: ["y: float32[N]"]),
            .fits,
            .patch
        ),
        Row(
            18,
            "a symbol where the app has none",
            .takes("x: float32[?]"),
            .takes("x: float32[n]"),
            .fits,
            .patch
        ),
        Row(
            19,
            "input symbols that were merged",
            .takes("x: float32[a]", "z: float32[b]"),
            .takes("x: float32[a]", "z: float32[a]"),
            .refused("dimension 0 of input `z`: the app sends b, and a as dimension 0 of input `x`"),
            .major
        ),
        Row(
            19,
            "merged, and a third input that is not sent stands first",
            .takes("x: float32[a]", "z: float32[b]"),
            .takes("a?: float32[a]", "x: float32[a]", "z: float32[a]"),
            .refused("the model takes only equal ones"),
            .major
        ),
        Row(
            19,
            "merged, and the app promises it",
            .takes("x: float32[s]", "z: float32[s]"),
            .takes("x: float32[a]", "z: float32[a]"),
            .fits,
            .patch
        ),
        Row(
            19,
            "merged, and the app sends one size",
            .takes("x: float32[3]", "z: float32[3]"),
            .takes("x: float32[a]", "z: float32[a]"),
            .fits
        ),
        Row(
            19,
            "merged, and the app sends two sizes",
            .takes("x: float32[3]", "z: float32[4]"),
            .takes("x: float32[a]", "z: float32[a]"),
            .refused("the app sends 4, and 3 as dimension 0 of input `x`, the model takes only equal ones")
        ),
        Row(
            19,
            "output symbols that were merged",
            .gives("x: float32[a]", "z: float32[b]"),
            .gives("x: float32[a]", "z: float32[a]"),
            .fits,
            .major
        ),
        Row(
            19,
            "output symbols that were parted",
            .gives("x: float32[a]", "z: float32[a]"),
            .gives("x: float32[a]", "z: float32[b]"),
            .refused("dimension 0 of output `z`: the app reads it as equal to dimension 0 of output `x`"),
            .major
        ),
        Row(
            20,
            "another default shape taken",
            .takes("x: float32[n]").with { $0.defaultShape = [1] },
            .takes("x: float32[n]").with { $0.defaultShape = [8] },
            .fitsNoting("input `x`: another default shape"),
            .patch
        ),
        Row(
            20,
            "another default shape given",
            .gives("y: float32[n]").with { $0.defaultShape = [1] },
            .gives("y: float32[n]").with { $0.defaultShape = [8] },
            .fitsNoting("output `y`: another default shape"),
            .patch
        ),
    ]
}
