import Manifest
import Names

/// Which stretches of which files hold a model's weights.
///
/// A location is one plain relative path, as `FilePath` has it, so that it
/// cannot name anything but a file of the same version. Two tensors may use
/// the same stretch, but not parts of each other's.
struct ONNXExternalData {
    /// StringStringEntryProto.
    struct Entry {
        var key = ""
        var value = ""
        let field: ProtobufField

        init(_ field: ProtobufField, in reader: ProtobufReader) throws(FormatError) {
            self.field = field
            let message = try field.message("external_data", in: reader)
            var fields = ProtobufFields(message, singular: [1, 2], in: reader)
            while let inner = try fields.next() {
                switch inner.number {
                case 1: key = try inner.text("key", limit: 1_024, in: reader)
                case 2: value = try inner.text("value", limit: 8_192, in: reader)
                default: break
                }
            }
        }
    }

    private struct Stretch {
        let start: UInt64
        let end: UInt64
        let offset: UInt64
    }

    private let limits: FormatLimits

    /// Of the file that is read.
    private let ownName: String
    private var stretches: [FilePath: [Stretch]] = [:]

    /// The location that was read last: most tensors lie in one file.
    private var last: (text: String, path: FilePath)?

    init(limits: FormatLimits, ownName: String) {
        self.limits = limits
        self.ownName = ownName
    }

    /// Notes where `needed` bytes of one tensor lie.
    mutating func add(_ entries: [Entry], needed: UInt64, at message: ProtobufMessage) throws(FormatError) {
        var location: (path: FilePath, field: ProtobufField)?
        var start: UInt64?
        var length: (bytes: UInt64, field: ProtobufField)?
        var keys: Set<String> = []
        for entry in entries {
            guard keys.insert(entry.key).inserted else { throw entry.field.error(entry.key, .duplicate) }
            switch entry.key {
            case "location": location = (try path(entry), entry.field)
            case "offset": start = try Self.number(entry)
            case "length": length = (try Self.number(entry), entry.field)
            default: break
            }
        }
        guard let location else {
            let offset = message.range.lowerBound
            throw .malformed(
                .onnx,
                field: "\(message.field).external_data.location",
                offset: offset,
                .missing
            )
        }
        guard !location.path.description.utf8.elementsEqual(ownName.utf8) else {
            let field = "\(message.field).external_data.location"
            throw .refused(.onnx, field: field, offset: location.field.offset, .externalItself)
        }
        if let length, length.bytes != needed {
            let what = FormatError.Malformation.wrongLength(expected: needed, found: length.bytes)
            throw length.field.error("length", what)
        }
        let first = start ?? 0
        let (end, overflow) = first.addingReportingOverflow(needed)
        guard !overflow, end <= Limits.file.rawValue else {
            throw location.field.error("length", .outOfRange)
        }
        guard stretches[location.path] != nil || stretches.count < limits.externalFiles else {
            throw location.field.limit("external files", limits.externalFiles)
        }
        stretches[location.path, default: []].append(
            Stretch(start: first, end: end, offset: location.field.offset)
        )
    }

    private mutating func path(_ entry: Entry) throws(FormatError) -> FilePath {
        if let last, last.text.utf8.elementsEqual(entry.value.utf8) { return last.path }
        let plain =
            entry.value.utf8.starts(with: "./".utf8) ? String(entry.value.utf8.dropFirst(2)) : entry.value
        guard let plain, let path = FilePath(plain) else {
            throw .refused(
                .onnx,
                field: "\(entry.field.message.field).external_data",
                offset: entry.field.offset,
                .externalLocation(String(entry.value.prefix(256)))
            )
        }
        last = (entry.value, path)
        return path
    }

    /// A decimal number from 0 up, digits only.
    private static func number(_ entry: Entry) throws(FormatError) -> UInt64 {
        let digits = entry.value.utf8
        guard (1...19).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = UInt64(entry.value)
        else { throw entry.field.error("external_data.\(entry.key)", .notADecimal) }
        return number
    }

    /// The files, sorted by path, after no two tensors were found to overlap.
    mutating func files() throws(FormatError) -> [ExternalFile] {
        var files: [ExternalFile] = []
        for path in stretches.keys.sorted() {
            // Where they are, since there may be many.
            guard var sorted = stretches.removeValue(forKey: path) else { continue }
            sorted.sort { ($0.start, $0.end) < ($1.start, $1.end) }
            var required: UInt64 = 0
            var last: Stretch?
            for stretch in sorted {
                required = max(required, stretch.end)
                guard stretch.start < stretch.end else { continue }
                if let last, last.start != stretch.start || last.end != stretch.end,
                    stretch.start < last.end
                {
                    throw .refused(
                        .onnx,
                        field: "external_data",
                        offset: stretch.offset,
                        .externalOverlap(path.description)
                    )
                }
                if last.map({ stretch.end >= $0.end }) ?? true { last = stretch }
            }
            files.append(ExternalFile(path: path, requiredLength: required))
        }
        return files
    }
}
