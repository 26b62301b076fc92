import Names

/// The head of a request, read strictly (RFC 9112, 3 to 6).
///
/// Whatever two readers could understand differently is refused: a body's
/// length given twice or in two ways, white space around names, folded lines,
/// a second Host. A body is only ever as long as its one Content-Length says;
/// a chunked body is refused with 411 (RFC 9112, 6.3 allows that), which keeps
/// a second way to find a body's end out of this server.
package struct RequestHead: Hashable {
    package var method: HTTPMethod
    package var target: HTTPTarget
    package var fields: HTTPFields
    package var declaredLength: UInt64
    var expectsContinue: Bool
    var keepsAlive: Bool

    /// Fields whose second line would leave open which one holds.
    private static let singular: Set<String> = [
        "authorization", "content-length", "content-range", "content-type", "expect", "host",
        "if-modified-since", "if-range", "if-unmodified-since", "range", "transfer-encoding",
    ]

    /// Reads a whole head, with the empty line at its end.
    ///
    /// - Throws: the first refusal.
    package init(_ bytes: [UInt8], limits: HTTPLimits) throws(HTTPRefusal) {
        var lines = HeadLines(bytes)
        let requestLine = try RequestLine(try lines.next())
        fields = HTTPFields()
        while true {
            let line = try lines.next()
            if line.isEmpty { break }
            guard fields.lines.count < limits.fields else { throw .tooManyFields }
            let field = try Self.field(line)
            if Self.singular.contains(field.name) && fields[field.name] != nil {
                throw .repeatedField(field.name)
            }
            fields.append(field.name, field.value)
        }
        guard lines.isAtEnd else { throw .badLineEnd }
        method = requestLine.method
        target = try Self.target(requestLine, host: fields["host"])
        declaredLength = try Self.bodyLength(fields, isVersion1: requestLine.isVersion1)
        guard ByteCount(rawValue: declaredLength) <= limits.body else { throw .bodyTooLarge }
        expectsContinue = try Self.expectation(fields) && requestLine.isVersion1
        keepsAlive = requestLine.isVersion1 && !Self.asksToClose(fields)
    }

    private static func field(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) -> HTTPFields.Field {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { throw .badField }
        // A name of token characters only leaves no room for a space before
        // the colon, nor for a folded line, which begins with one.
        let name = line[..<colon]
        guard !name.isEmpty, name.allSatisfy(isTokenCharacter) else { throw .badField }
        var value = line[(colon + 1)...]
        while let first = value.first, isBlank(first) { value.removeFirst() }
        while let last = value.last, isBlank(last) { value.removeLast() }
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { throw .controlCharacter }
        return HTTPFields.Field(name: String(decoding: name, as: UTF8.self), value: Array(value))
    }

    /// RFC 9112, 3.2: HTTP/1.1 has exactly one Host; an absolute target must
    /// name the same authority, since ours is one origin.
    private static func target(
        _ line: RequestLine,
        host: [UInt8]?
    ) throws(HTTPRefusal) -> HTTPTarget {
        guard host != nil || !line.isVersion1 else { throw .badHost }
        if let host {
            guard !host.isEmpty, host.allSatisfy(isHostCharacter) else { throw .badHost }
        }
        guard let authority = line.authority else { return try HTTPTarget(parsing: line.pathAndQuery) }
        guard let host, host.map(lowered) == authority.map(lowered) else { throw .badHost }
        return try HTTPTarget(parsing: line.pathAndQuery)
    }

    /// RFC 9112, 6: the one way a body's length is known here.
    private static func bodyLength(
        _ fields: HTTPFields,
        isVersion1: Bool
    ) throws(HTTPRefusal) -> UInt64 {
        let length = fields["content-length"]
        if let coding = fields["transfer-encoding"] {
            guard length == nil, isVersion1 else { throw .lengthAndTransferCoding }
            guard isEqual(coding, "chunked") else { throw .unknownTransferCoding }
            throw .lengthRequired
        }
        guard let length else { return 0 }
        // 19 digits: less than 2^64 whatever they are.
        guard (1...19).contains(length.count) else { throw .badContentLength }
        var value: UInt64 = 0
        for digit in length {
            guard (0x30...0x39).contains(digit) else { throw .badContentLength }
            value = value * 10 + UInt64(digit - 0x30)
        }
        return value
    }

    private static func expectation(_ fields: HTTPFields) throws(HTTPRefusal) -> Bool {
        guard let value = fields["expect"] else { return false }
        guard isEqual(value, "100-continue") else { throw .unknownExpectation }
        return true
    }

    private static func asksToClose(_ fields: HTTPFields) -> Bool {
        fields.all("connection").contains { value in
            value.split(separator: UInt8(ascii: ",")).contains { option in
                isEqual(option.filter { !isBlank($0) }, "close")
            }
        }
    }
}

/// The lines of a head, each without its CR LF.
private struct HeadLines {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func next() throws(HTTPRefusal) -> ArraySlice<UInt8> {
        guard let end = rest.firstIndex(of: 0x0D) else { throw .badLineEnd }
        let line = rest[..<end]
        guard rest.endIndex - end >= 2, rest[end + 1] == 0x0A else { throw .badLineEnd }
        rest = rest[(end + 2)...]
        return line
    }
}

/// `METHOD SP target SP HTTP/1.x`, with single spaces.
private struct RequestLine {
    let method: HTTPMethod

    /// Whether the version is HTTP/1.1; else it is HTTP/1.0.
    let isVersion1: Bool

    /// The authority of an absolute target.
    let authority: ArraySlice<UInt8>?
    let pathAndQuery: ArraySlice<UInt8>

    init(_ line: ArraySlice<UInt8>) throws(HTTPRefusal) {
        let parts = line.split(separator: 0x20, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(isTokenCharacter), !parts[1].isEmpty
        else { throw .badRequestLine }
        switch parts[2] {
        case let version where version.elementsEqual("HTTP/1.1".utf8): isVersion1 = true
        case let version where version.elementsEqual("HTTP/1.0".utf8): isVersion1 = false
        case let version where version.starts(with: "HTTP/".utf8): throw .unknownVersion
        default: throw .badRequestLine
        }
        let name = String(decoding: parts[0], as: UTF8.self)
        guard let method = HTTPMethod(rawValue: name) else { throw .unknownMethod }
        self.method = method
        (authority, pathAndQuery) = try Self.separate(parts[1])
    }

    /// Origin form as it is; of absolute form the authority and the rest.
    ///
    /// - Throws: `.badTarget` for authority form, `*`, and all else.
    private static func separate(
        _ target: ArraySlice<UInt8>
    ) throws(HTTPRefusal) -> (ArraySlice<UInt8>?, ArraySlice<UInt8>) {
        if target.first == UInt8(ascii: "/") { return (nil, target) }
        for scheme in ["http://", "https://"] where isEqual(target.prefix(scheme.utf8.count), scheme) {
            let rest = target.dropFirst(scheme.utf8.count)
            guard let slash = rest.firstIndex(of: UInt8(ascii: "/")), slash > rest.startIndex
            else { throw .badTarget }
            return (rest[..<slash], rest[slash...])
        }
        throw .badTarget
    }
}

/// RFC 9110, 5.6.2.
private func isTokenCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E...0x60,
        0x7C, 0x7E:
        true
    default: false
    }
}

/// Letters, digits, and what else stands in `name.example:8080` or `[::1]:80`.
private func isHostCharacter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x3A, 0x41...0x5B, 0x5D, 0x5F, 0x61...0x7A, 0x2D, 0x2E: true
    default: false
    }
}

private func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

private func lowered(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte | 0x20 : byte }

/// Compares with lower-case ASCII text, taking letters of either case.
private func isEqual(_ bytes: some Sequence<UInt8>, _ text: String) -> Bool {
    bytes.lazy.map(lowered).elementsEqual(text.utf8)
}
