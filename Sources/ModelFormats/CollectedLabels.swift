import CanonicalJSON
import Manifest

/// Class labels while they are read: no more of them than a manifest has room for.
///
/// Texts lie one behind the other in one stretch of bytes, since an array for
/// each of many short labels takes ten times what they say.
struct CollectedLabels: Equatable {
    private var bytes: [UInt8] = []
    private var ends: [UInt32] = []
    private var integers: [Int64] = []

    /// As JSON without its escapes, in bytes.
    private var written: UInt64 = 0

    var count: Int { ends.count + integers.count }

    /// `nil` when there are none, or of both kinds.
    var labels: ClassLabels? {
        if ends.isEmpty { return integers.isEmpty ? nil : .integers(integers) }
        guard integers.isEmpty else { return nil }
        var texts: [JSONText] = []
        texts.reserveCapacity(ends.count)
        var start = 0
        for end in ends {
            texts.append(JSONText(validated: bytes[start..<Int(end)]))
            start = Int(end)
        }
        return .texts(texts)
    }

    /// One label at `field`.
    mutating func appendText(
        _ field: ProtobufField,
        _ name: String,
        in reader: ProtobufReader
    ) throws(FormatError) {
        let text = try field.text(name, limit: reader.limits.labelBytes, in: reader)
        bytes += text.utf8
        ends.append(UInt32(bytes.count))
        // With quotation marks and a comma.
        try spend(UInt64(text.utf8.count) + 3, field, reader.limits)
    }

    /// One label at `field`, or a packed run of them.
    mutating func appendIntegers(
        _ field: ProtobufField,
        _ name: String,
        in reader: ProtobufReader
    ) throws(FormatError) {
        let first = integers.count
        try field.append(to: &integers, name, limit: reader.limits.labels, in: reader)
        for integer in integers[first...] {
            try spend(UInt64(String(integer).utf8.count) + 1, field, reader.limits)
        }
    }

    private mutating func spend(
        _ length: UInt64,
        _ field: ProtobufField,
        _ limits: FormatLimits
    ) throws(FormatError) {
        written += length
        guard written <= limits.labelBytes else {
            throw .limit(
                field.format,
                which: "bytes of class labels",
                offset: field.offset,
                found: written,
                limit: limits.labelBytes
            )
        }
        guard count <= limits.labels else {
            throw .limit(
                field.format,
                which: "class labels",
                offset: field.offset,
                found: UInt64(count),
                limit: UInt64(limits.labels)
            )
        }
    }
}

extension ClassLabels {
    /// As JSON without its escapes, in bytes.
    var written: UInt64 {
        switch self {
        case .texts(let labels): labels.reduce(0) { $0 + UInt64($1.utf8.count) + 3 }
        case .integers(let labels): labels.reduce(0) { $0 + UInt64(String($1).utf8.count) + 1 }
        }
    }

    /// Whether two classes have one label.
    var hasDuplicate: Bool {
        switch self {
        case .integers(let labels):
            let sorted = labels.sorted()
            return zip(sorted, sorted.dropFirst()).contains(where: ==)
        case .texts(let labels):
            // Numbers first, which are small: labels themselves are compared where two numbers are equal.
            let numbers = labels.map(\.hashValue).sorted()
            for (number, next) in zip(numbers, numbers.dropFirst()) where number == next {
                let alike = labels.filter { $0.hashValue == number }.sorted()
                if zip(alike, alike.dropFirst()).contains(where: ==) { return true }
            }
            return false
        }
    }
}
