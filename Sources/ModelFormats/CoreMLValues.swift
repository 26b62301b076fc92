import Manifest
import Names

/// Values of an ML Program: where weights lie, and class labels.
extension CoreMLReader {
    /// Argument: bindings, each a name or a value.
    mutating func walkArgument(_ message: ProtobufMessage) throws(FormatError) {
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            guard field.number == 1 else { continue }
            var inner = ProtobufFields(try field.message("arguments", in: reader), in: reader)
            while let binding = try inner.next() {
                guard binding.number == 2 else { continue }
                try walkValue(try binding.message("value", in: reader))
            }
        }
    }

    /// Value: 5 is a place in a file of weights, which nothing else may name.
    mutating func walkValue(_ message: ProtobufMessage) throws(FormatError) {
        var fields = ProtobufFields(message, singular: [2, 3, 5], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 3: try walkImmediate(try field.message("immediateValue", in: reader))
            case 5: try readBlob(try field.message("blobFileValue", in: reader))
            default: break
            }
        }
    }

    /// Immediate: 2 a tuple, 3 a list, 4 a dictionary of further values; 1 a tensor, which has none.
    private mutating func walkImmediate(_ message: ProtobufMessage) throws(FormatError) {
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            guard (2...4).contains(field.number) else { continue }
            var elements = ProtobufFields(try field.message("immediateValue", in: reader), in: reader)
            while let element = try elements.next() {
                guard element.number == 1 else { continue }
                let value = try element.message("values", in: reader)
                guard field.number == 4 else {
                    try walkValue(value)
                    continue
                }
                var pair = ProtobufFields(value, in: reader)
                while let side = try pair.next() {
                    if side.number <= 2 { try walkValue(try side.message("pair", in: reader)) }
                }
            }
        }
    }

    /// BlobFileValue: `@model_path/…` and the place of a record in that file.
    private mutating func readBlob(_ message: ProtobufMessage) throws(FormatError) {
        var name = ""
        var offset: Int64 = 0
        var place = message.range.lowerBound
        var fields = ProtobufFields(message, singular: [1, 2], in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 1:
                name = try field.text("fileName", limit: 8_192, in: reader)
                place = field.offset
            case 2: offset = try field.integer("offset")
            default: break
            }
        }
        let prefix = "@model_path/"
        guard name.utf8.starts(with: prefix.utf8),
            let path = FilePath(String(decoding: name.utf8.dropFirst(prefix.utf8.count), as: UTF8.self))
        else {
            let said = String(name.prefix(256))
            throw .refused(
                Self.format,
                field: "blobFileValue.fileName",
                offset: place,
                .externalLocation(said)
            )
        }
        guard (0...Int64(Limits.file.rawValue)).contains(offset), offset % 64 == 0 else {
            let what: FormatError.Malformation = offset % 64 == 0 ? .outOfRange : .misaligned
            throw .malformed(Self.format, field: "blobFileValue.offset", offset: place, what)
        }
        guard weights[path] != nil || weights.count < reader.limits.externalFiles else {
            let limit = UInt64(reader.limits.externalFiles)
            throw .limit(Self.format, which: "weight files", offset: place, found: limit + 1, limit: limit)
        }
        weights[path, default: []].insert(UInt64(offset))
    }

    // MARK: class labels

    /// The `classes` of a `classify` operation: a value, or the name of a constant.
    func readClasses(_ message: ProtobufMessage, into walk: inout Walk) throws(FormatError) {
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            guard field.number == 1 else { continue }
            var inner = ProtobufFields(try field.message("arguments", in: reader), in: reader)
            while let binding = try inner.next() {
                switch binding.number {
                case 1: walk.labelsName = try binding.text("name", limit: 1_024, in: reader)
                case 2: walk.labels = try readLabelValue(try binding.message("value", in: reader))
                default: break
                }
            }
        }
    }

    /// Labels in a Value: one tensor of them, or a list of tensors of one each.
    func readLabelValue(_ message: ProtobufMessage) throws(FormatError) -> ClassLabels? {
        var found = CollectedLabels()
        try collectLabels(message, depth: 0, into: &found)
        return try distinct(found, in: message)
    }

    private func collectLabels(
        _ message: ProtobufMessage,
        depth: Int,
        into found: inout CollectedLabels
    ) throws(FormatError) {
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            guard field.number == 3 else { continue }
            var immediate = ProtobufFields(try field.message("immediateValue", in: reader), in: reader)
            while let part = try immediate.next() {
                switch part.number {
                case 1: try readLabelTensor(try part.message("tensor", in: reader), into: &found)
                case 3 where depth == 0:
                    var elements = ProtobufFields(try part.message("list", in: reader), in: reader)
                    while let element = try elements.next() {
                        guard element.number == 1 else { continue }
                        try collectLabels(try element.message("values", in: reader), depth: 1, into: &found)
                    }
                default: break
                }
            }
        }
    }

    /// TensorValue: 2 ints, 4 strings, 5 long ints.
    private func readLabelTensor(
        _ message: ProtobufMessage,
        into found: inout CollectedLabels
    ) throws(FormatError) {
        var fields = ProtobufFields(message, in: reader)
        while let field = try fields.next() {
            switch field.number {
            case 2, 5: try readIntegers(try field.message("ints", in: reader), into: &found)
            case 4: try readTexts(try field.message("strings", in: reader), into: &found)
            default: break
            }
        }
    }
}
