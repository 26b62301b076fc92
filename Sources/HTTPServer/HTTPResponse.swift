import Glibc

/// An open file that is closed when the last response that names it is gone.
package final class HTTPFile: Sendable {
    package let descriptor: Int32

    /// Takes the descriptor over: nobody else may close it.
    package init(owning descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }
}

/// What a service answers.
///
/// The server writes `Content-Length`, `Connection` and `Date` itself and
/// passes over such fields set here. To HEAD it sends the fields of the answer
/// and no body, so a service may treat HEAD as GET.
package struct HTTPResponse: Sendable {
    /// The content.
    package enum Body: Sendable {
        case none
        case bytes([UInt8])

        /// `length` bytes of a file from `offset` on.
        case file(HTTPFile, offset: UInt64, length: UInt64)

        package var length: UInt64 {
            switch self {
            case .none: 0
            case .bytes(let bytes): UInt64(bytes.count)
            case .file(_, _, let length): length
            }
        }
    }

    package var status: Int
    package var fields: HTTPFields
    package var body: Body

    /// Whether the connection ends after this response.
    package var closesConnection = false

    package init(status: Int, fields: HTTPFields = HTTPFields(), body: Body = .none) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A response of text in UTF-8.
    package static func text(_ text: String, status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status,
            fields: ["Content-Type": "text/plain; charset=utf-8"],
            body: .bytes(Array(text.utf8))
        )
    }
}
