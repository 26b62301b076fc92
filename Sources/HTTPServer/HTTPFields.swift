/// Header fields in the order received or written.
///
/// Names are tokens and therefore ASCII; they are kept in lower case, so that
/// lookup is a comparison of bytes. Values are bytes: RFC 9110, 5.5 allows
/// octets above 127 in them, and what such octets mean is for the reader.
package struct HTTPFields: Hashable, Sendable {
    /// One field line.
    package struct Field: Hashable, Sendable {
        /// The name in lower case.
        package let name: String
        package let value: [UInt8]

        package init(name: String, value: [UInt8]) {
            self.name = name.lowercased()
            self.value = value
        }
    }

    package private(set) var lines: [Field] = []

    package init() {}

    /// The first value of the field, as bytes.
    ///
    /// The parser refuses a second line of every field that the server or
    /// the registry decides by, so for those the first is the only one.
    package subscript(name: String) -> [UInt8]? {
        let wanted = name.lowercased()
        return lines.first { $0.name == wanted }?.value
    }

    /// The first value as text, or nil when absent or not UTF-8.
    package func text(_ name: String) -> String? {
        self[name].flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Every value of the field, in order.
    package func all(_ name: String) -> [[UInt8]] {
        let wanted = name.lowercased()
        return lines.filter { $0.name == wanted }.map(\.value)
    }

    package func count(_ name: String) -> Int { all(name).count }

    package mutating func append(_ name: String, _ value: String) {
        lines.append(Field(name: name, value: Array(value.utf8)))
    }

    package mutating func append(_ name: String, _ value: [UInt8]) {
        lines.append(Field(name: name, value: value))
    }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, String)...) {
        for (name, value) in elements { append(name, value) }
    }
}
