/// Static content with a strong entity tag, answered as a cache expects:
/// 200, 206, 304, 405 or 416 (RFC 9110, 13 and 14).
package struct Representation: Sendable {
    package var body: HTTPResponse.Body
    package var entityTag: EntityTag
    package var contentType: String
    package var cacheControl: String

    package init(
        body: HTTPResponse.Body,
        entityTag: EntityTag,
        contentType: String,
        cacheControl: String
    ) {
        self.body = body
        self.entityTag = entityTag
        self.contentType = contentType
        self.cacheControl = cacheControl
    }

    /// The answer to a request for this content.
    package func response(to request: HTTPRequest) -> HTTPResponse {
        guard request.method == .get || request.method == .head else {
            return HTTPResponse(status: 405, fields: ["Allow": "GET, HEAD"])
        }
        var fields: HTTPFields = ["ETag": "\(entityTag)", "Cache-Control": cacheControl]
        let named = request.fields.all("if-none-match")
        if named.contains(where: entityTag.isNamed) { return HTTPResponse(status: 304, fields: fields) }
        fields.append("Accept-Ranges", "bytes")
        switch range(of: request) {
        case .whole:
            fields.append("Content-Type", contentType)
            return HTTPResponse(status: 200, fields: fields, body: body)
        case .part(let part):
            fields.append("Content-Type", contentType)
            fields.append("Content-Range", "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(body.length)")
            return HTTPResponse(status: 206, fields: fields, body: body.part(part))
        case .unsatisfiable:
            return HTTPResponse(status: 416, fields: ["Content-Range": "bytes */\(body.length)"])
        }
    }

    /// Range is for GET only, and only while If-Range holds.
    private func range(of request: HTTPRequest) -> ByteRange {
        guard request.method == .get else { return .whole }
        if let condition = request.fields["if-range"], !entityTag.satisfies(ifRange: condition) {
            return .whole
        }
        return ByteRange(field: request.fields["range"], length: body.length)
    }
}

extension HTTPResponse.Body {
    /// Some bytes of this body.
    ///
    /// - Precondition: the range lies within the body.
    package func part(_ range: Range<UInt64>) -> HTTPResponse.Body {
        precondition(range.upperBound <= length, "a part lies within its body")
        switch self {
        case .none: return .none
        case .bytes(let bytes): return .bytes(Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
        case .file(let file, let offset, _):
            return .file(file, offset: offset + range.lowerBound, length: range.upperBound - range.lowerBound)
        }
    }
}
