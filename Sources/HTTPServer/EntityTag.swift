/// An entity tag (RFC 9110, 8.8.3): `"opaque"`, or weak as `W/"opaque"`.
package struct EntityTag: Hashable, Sendable {
    /// What stands between the quotes.
    package let opaque: String
    package let isWeak: Bool

    /// A strong tag.
    ///
    /// - Precondition: `opaque` is printable ASCII without quotes; digests in
    ///   hexadecimal are.
    package init(_ opaque: String) {
        precondition(opaque.utf8.allSatisfy(Self.isTagCharacter), "an entity tag is printable ASCII")
        self.opaque = opaque
        isWeak = false
    }

    /// Reads one tag; nil if the bytes are anything else.
    package init?(parsing bytes: some Collection<UInt8>) {
        var rest = Array(bytes)[...]
        isWeak = rest.starts(with: "W/".utf8)
        if isWeak { rest = rest.dropFirst(2) }
        guard rest.count >= 2, rest.popFirst() == UInt8(ascii: "\""), rest.popLast() == UInt8(ascii: "\""),
            rest.allSatisfy(Self.isTagCharacter)
        else { return nil }
        opaque = String(decoding: rest, as: UTF8.self)
    }

    /// Whether `If-None-Match` names this tag (RFC 9110, 13.1.2), compared weakly.
    ///
    /// A list that is malformed names nothing, so the whole answer is sent.
    package func isNamed(inIfNoneMatch value: [UInt8]) -> Bool {
        if value.elementsEqual("*".utf8) { return true }
        // No quoted comma is lost by splitting here: our own tags contain none,
        // and a foreign tag torn apart is malformed on both sides.
        let elements = value.split(separator: UInt8(ascii: ",")).map { element in
            Array(
                element.drop { $0 == 0x20 || $0 == 0x09 }.reversed().drop { $0 == 0x20 || $0 == 0x09 }
                    .reversed()
            )
        }
        return elements.contains { element in
            guard let tag = EntityTag(parsing: element) else { return false }
            return tag.opaque.utf8.elementsEqual(opaque.utf8)
        }
    }

    /// Whether `If-Range` holds (RFC 9110, 13.1.5): one strong, equal tag.
    ///
    /// A date never does, since no answer carries Last-Modified.
    package func satisfies(ifRange value: [UInt8]) -> Bool {
        guard let tag = EntityTag(parsing: value), !tag.isWeak, !isWeak else { return false }
        return tag.opaque.utf8.elementsEqual(opaque.utf8)
    }

    private static func isTagCharacter(_ byte: UInt8) -> Bool {
        byte == 0x21 || (0x23...0x7E).contains(byte)
    }
}

extension EntityTag: CustomStringConvertible {
    /// The tag as it stands in a field.
    package var description: String { (isWeak ? "W/" : "") + "\"\(opaque)\"" }
}
