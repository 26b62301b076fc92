/// One JSON value as signed documents use it: no floating point, no duplicate keys, text as bytes.
///
/// Text stays UTF-8 bytes, because `String ==` folds Unicode and two keys
/// that differ only by normalisation are different keys.
package enum JSONValue: Equatable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)

    /// An integer outside 64 bits, kept as its digits; legal in TUF files, where unknown members are signed too.
    case bigInteger([UInt8])
    case string(JSONText)
    case array([JSONValue])
    case object(JSONObject)

    /// A text value.
    package static func text(_ text: String) -> JSONValue { .string(JSONText(text)) }

    /// An object of the given members.
    ///
    /// - Precondition: No key twice.
    package static func members(_ members: KeyValuePairs<String, JSONValue>) -> JSONValue {
        var object = JSONObject()
        for (key, value) in members {
            let isNew = object.add(JSONText(key), value)
            precondition(isNew, "a key twice: \(key)")
        }
        return .object(object)
    }

    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var string: String? { if case .string(let value) = self { value.string } else { nil } }
    package var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    package var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// The member `key` of an object; `nil` when there is none, or this is no object.
    package subscript(key: String) -> JSONValue? { object?[key] }
}

/// JSON text: valid UTF-8, compared byte for byte, ordered by Unicode code point (which is UTF-8 byte order).
package struct JSONText: Hashable, Comparable, Sendable {
    /// Of a parsed document a part of its bytes, not a copy, unless an escape stood there.
    package let utf8: ArraySlice<UInt8>

    package init(_ text: String) { utf8 = Array(text.utf8)[...] }

    /// Takes a part of some bytes without a copy.
    ///
    /// - Precondition: `utf8` is valid UTF-8, as whoever read it has checked.
    package init(validated utf8: ArraySlice<UInt8>) { self.utf8 = utf8 }

    package var string: String { String(decoding: utf8, as: UTF8.self) }

    package static func < (left: Self, right: Self) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}
