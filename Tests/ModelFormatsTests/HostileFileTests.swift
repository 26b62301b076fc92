import Manifest
import ModelFormats
import Names
import Testing

@Suite("Hostile files of every format")
struct HostileFileTests {
    static let table: [(String, String)] = [
        (
            "coreml_custom_layer.mlmodel",
            "this coreml-model file is refused: layers at byte 63: a model of the kind custom layer, "
                + "which needs code or files that are not part of it"
        ),
        (
            "coreml_linked_in_pipeline.mlmodel",
            "this coreml-model file is refused: linkedModel at byte 243: a model of the kind "
                + "linkedModel, which needs code or files that are not part of it"
        ),
        (
            "gguf_align_odd.gguf",
            "not a valid gguf file: `general.alignment` at byte 53: a number out of range"
        ),
        (
            "gguf_align_zero.gguf",
            "not a valid gguf file: `general.alignment` at byte 53: a number out of range"
        ),
        (
            "gguf_bad_type.gguf",
            "not a valid gguf file: type of `k` at byte 33: an unknown type of value, 99"
        ),
        (
            "gguf_bigendian.gguf",
            "not a valid gguf file: version at byte 4: its bytes are in big-endian order; convert it "
                + "to little-endian"
        ),
        (
            "gguf_dup_key.gguf",
            "not a valid gguf file: `k` at byte 38: it stands twice, and readers would differ on which "
                + "counts"
        ),
        (
            "gguf_ndims_huge.gguf",
            "not a valid gguf file: tensor count at byte 8: the file ends in the middle of it"
        ),
        ("gguf_nested_arrays.gguf", "not a valid gguf file: `k` at byte 37: an array inside an array"),
        (
            "gguf_nkv_huge.gguf",
            "this gguf file has metadata count 9223372036854775807 (at byte 16), the limit is 65536"
        ),
        (
            "gguf_ntensors_huge.gguf",
            "this gguf file has tensor count 2305843009213693952 (at byte 8), the limit is 65536"
        ),
        (
            "gguf_strlen_wrap.gguf",
            "not a valid gguf file: metadata count at byte 16: the file ends in the middle of it"
        ),
        (
            "gguf_v1.gguf",
            "not a valid gguf file: version at byte 4: version 1, which this reader does not know"
        ),
        (
            "st_deep_json.safetensors",
            "not a valid safetensors file: tensor `a` at byte 13: a byte that cannot stand there"
        ),
        (
            "st_dup_key.safetensors",
            "not a valid safetensors file: tensor `a` at byte 61: a name that stands twice, or looks "
                + "like another"
        ),
        (
            "st_header_len_huge.safetensors",
            "not a valid safetensors file: header length at byte 0: the file ends in the middle of it"
        ),
        (
            "st_leading_space.safetensors",
            "not a valid safetensors file: header at byte 8: a byte that cannot stand there"
        ),
        (
            "st_metadata_nonstring.safetensors",
            "not a valid safetensors file: __metadata__ at byte 29: a byte that cannot stand there"
        ),
        (
            "st_offsets_reversed.safetensors",
            "not a valid safetensors file: tensor `a`.data_offsets at byte 9: it leads outside the "
                + "part of the file where it must lead to"
        ),
        (
            "st_overlap.safetensors",
            "not a valid safetensors file: tensor `b`.data_offsets at byte 61: it shares bytes with "
                + "something else"
        ),
        (
            "st_shape_mismatch.safetensors",
            "not a valid safetensors file: tensor `a`.data_offsets at byte 9: it needs 8 bytes and has 4"
        ),
        (
            "st_shape_overflow.safetensors",
            "this safetensors file has elements of tensor `a` 18446744073709551615 (at byte 9), the "
                + "limit is 9007199254740992"
        ),
        (
            "st_trailing.safetensors",
            "not a valid safetensors file: data at byte 62: there are bytes after it that belong to nothing"
        ),
        (
            "st_truncated.safetensors",
            "not a valid safetensors file: header length at byte 0: the file ends in the middle of it"
        ),
        (
            "tfl_badmagic.tflite",
            "not a valid tflite file: identifier at byte 4: it does not start as the format says"
        ),
        (
            "tfl_trunc.tflite",
            "not a valid tflite file: model.buffers[0] at byte 612: it leads outside the part of the "
                + "file where it must lead to"
        ),
    ]

    @Test("each is refused for what is wrong with it, by field and offset", arguments: table)
    func refused(_ name: String, _ text: String) throws {
        let error = #expect(throws: FormatError.self) { try Fixtures.inspect("hostile/\(name)") }
        #expect(error?.description == text)
        switch error {
        case .malformed(_, let field, _, _), .refused(_, let field, _, _): #expect(!field.isEmpty)
        case .limit(_, let which, _, _, _): #expect(!which.isEmpty)
        default: Issue.record("no field and offset in \(error?.description ?? "nothing")")
        }
    }

    @Test("no hostile file was left out of the table")
    func complete() throws {
        let named = Set(Self.table.map(\.0)).union(ONNXRefusalTests.hostile.map { "\($0.0).onnx" })
        let files = try Fixtures.names("hostile").filter { $0 != "expected.json" }
        #expect(Set(files) == named)
    }
}
