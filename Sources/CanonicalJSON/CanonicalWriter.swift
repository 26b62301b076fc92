/// The two canonical forms, and plain compact JSON.
extension JSONValue {
    /// OLPC canonical JSON, the input of every TUF signature and key identifier.
    ///
    /// As securesystemslib writes it: sorted keys, no white space, only `"` and
    /// `\` escaped. Control characters stay raw, so this is *not* JSON and never
    /// goes on disk or wire.
    package var olpcCanonical: [UInt8] {
        Array(olpcCanonicalSlice)
    }

    /// ``olpcCanonical``, without a copy where a parsed document has these very bytes.
    package var olpcCanonicalSlice: ArraySlice<UInt8> {
        var bytes: [UInt8] = []
        if case .object(let object) = self {
            if let source = object.canonicalSource { return source }
            // The canonical form is never longer than what it was parsed from.
            bytes.reserveCapacity(object.sourceLength)
        }
        write(into: &bytes, escapingControls: false)
        return bytes[...]
    }

    /// Compact JSON with sorted keys, as Sealift writes TUF files.
    package var compactJSON: [UInt8] {
        var bytes: [UInt8] = []
        write(into: &bytes, escapingControls: true)
        return bytes
    }

    /// RFC 8785 form, within Sealift's restriction to ASCII keys and integers of ±(2^53 - 1).
    ///
    /// - Returns: `nil` when the value leaves that restriction. For ASCII keys the
    ///   UTF-16 order of RFC 8785 and byte order are the same.
    package var rfc8785: [UInt8]? { firstBeyondRFC8785 == nil ? compactJSON : nil }

    /// The first thing, members in their order, for which there is no ``rfc8785``.
    package var firstBeyondRFC8785: BeyondRFC8785? {
        switch self {
        case .null, .bool, .string: return nil
        case .integer(let value):
            let isWithin = (-9_007_199_254_740_991...9_007_199_254_740_991).contains(value)
            return isWithin ? nil : BeyondRFC8785(found: .integer(value))
        case .bigInteger: return BeyondRFC8785(found: self)
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                if let inner = element.firstBeyondRFC8785 { return inner.inside("[\(index)]") }
            }
            return nil
        case .object(let object):
            for member in object.members {
                guard member.key.utf8.allSatisfy({ $0 < 0x80 }) else {
                    return BeyondRFC8785(path: member.key.string, found: .string(member.key), isKey: true)
                }
                if let inner = member.value.firstBeyondRFC8785 { return inner.inside(member.key.string) }
            }
            return nil
        }
    }

    func write(into bytes: inout [UInt8], escapingControls: Bool) {
        switch self {
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                element.write(into: &bytes, escapingControls: escapingControls)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let object): object.write(into: &bytes, escapingControls: escapingControls)
        default: writeScalar(into: &bytes, escapingControls: escapingControls)
        }
    }

    /// Appends anything but an array or an object.
    func writeScalar(into bytes: inout [UInt8], escapingControls: Bool) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .integer(let value): bytes += String(value).utf8
        case .bigInteger(let digits): bytes += digits
        case .string(let text): Self.write(text, into: &bytes, escapingControls: escapingControls)
        case .array, .object: write(into: &bytes, escapingControls: escapingControls)
        }
    }

    private static func write(_ text: JSONText, into bytes: inout [UInt8], escapingControls: Bool) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case 0x22, 0x5C:
                bytes.append(0x5C)
                bytes.append(byte)
            case 0..<0x20 where escapingControls: bytes.append(contentsOf: escape(ofControl: byte))
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func escape(ofControl byte: UInt8) -> [UInt8] {
        let short: [UInt8: String] = [0x08: "\\b", 0x09: "\\t", 0x0A: "\\n", 0x0C: "\\f", 0x0D: "\\r"]
        if let escape = short[byte] { return Array(escape.utf8) }
        let digits = Array("0123456789abcdef".utf8)
        return Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
}

/// A key beyond ASCII, or an integer beyond ±(2^53 - 1), in a value that should have an RFC 8785 form.
package struct BeyondRFC8785: Equatable, Sendable {
    /// Where it stands, such as `provenance.runs[2].seed`; empty for the value itself.
    package private(set) var path = ""
    package let found: JSONValue

    /// Whether it is a key, and not a number.
    package var isKey = false

    fileprivate func inside(_ place: String) -> Self {
        var outer = self
        outer.path = path.isEmpty || path.hasPrefix("[") ? place + path : "\(place).\(path)"
        return outer
    }
}
