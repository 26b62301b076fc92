import Manifest

/// How much of everything a reader takes before it gives up.
///
/// Far above honest models, and low enough that a file made to exhaust a
/// machine ends in an error within about a second.
package struct FormatLimits: Equatable, Sendable {
    /// Bytes looked at; weights are stepped over and do not count.
    package var bytes: UInt64 = 64 << 20

    /// Fields met, unknown ones included.
    package var fields: UInt64 = 8_000_000

    /// Messages inside messages.
    package var depth = 64
    package var metadataPairs = 4_096

    /// Bytes of one metadata key or value.
    package var metadataValue: UInt64 = 1 << 20

    /// Bytes of all metadata.
    package var metadataTotal: UInt64 = 8 << 20

    /// A GGUF file says all it has to say in pairs, and may have long texts among them, such as templates.
    package var pairsOfGGUF = 65_536
    package var textOfGGUF: UInt64 = 64 << 20

    /// Pairs of a GGUF file about its tokenizer, each of which has a digest in the interface.
    package var tokenizers = 4_096
    package var labels = 1 << 18

    /// Bytes of all labels as JSON, without its escapes; a manifest has room for no more.
    package var labelBytes: UInt64 = 1 << 20

    /// Values of an ONNX graph that tell classes, which are followed to its outputs.
    package var labelledValues = 1 << 15

    /// Bytes of what an ONNX or Core ML file puts into the interface beside labels, about as JSON; a manifest has room
    /// for no more.
    package var interfaceBytes: UInt64 = 1 << 20
    package var externalFiles = 4_096

    /// In the `Manifest.json` of a Core ML package.
    package var packageItems = 4_096

    /// Of all pipelines in a Core ML model, also those inside others.
    package var pipelineModels = 1_024

    /// Inputs and outputs of all signatures of a TensorFlow Lite file.
    package var signatureValues = 4_096

    /// Of ML Programs in a Core ML model, in all of their functions and blocks.
    package var operations = 1 << 19

    /// Domains of operators that are imported or used, and those that functions define.
    package var domains = 4_096

    /// Local functions, with the operators that they call, and the bytes of all their names.
    package var functions = 16_384
    package var functionNames: UInt64 = 2 << 20

    /// Of an ONNX graph with those that it is inside of, each eight bytes to remember, in tables that double when they
    /// are three quarters full; and initializers of the model's own graph, each sixteen.
    package var values = 3 << 17

    /// In a file that is a list of tensors.
    package var tensors = 65_536

    /// In all files of a set: mixtures of experts have a hundred thousand and more.
    package var tensorsOfSet = 1 << 18

    /// Bytes of the names of these.
    package var tensorNamesOfSet: UInt64 = 16 << 20

    /// Bytes of the index of a set of safetensors files.
    package var index: UInt64 = 32 << 20

    /// Bytes of their names in a safetensors file, which are remembered beside the table that they come from.
    package var tensorNames: UInt64 = 3 << 20

    /// Bytes of the table in front of a safetensors file.
    package var tensorHeader: UInt64 = 16 << 20

    package init() {}
}

extension FormatLimits {
    /// Whether so many pairs of metadata, with so many bytes, are taken; `most` where a format may have more.
    func check(
        pairs: Int,
        of most: Int? = nil,
        bytes: UInt64,
        _ format: ModelFormat,
        at offset: UInt64
    ) throws(FormatError) {
        guard pairs <= most ?? metadataPairs else {
            let limit = UInt64(most ?? metadataPairs)
            throw .limit(format, which: "metadata pairs", offset: offset, found: UInt64(pairs), limit: limit)
        }
        guard bytes <= metadataTotal else {
            throw .limit(
                format,
                which: "bytes of metadata",
                offset: offset,
                found: bytes,
                limit: metadataTotal
            )
        }
    }
}
