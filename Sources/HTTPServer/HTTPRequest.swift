/// The methods that the server knows; any other is answered 501.
package enum HTTPMethod: String, Hashable, Sendable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
}

/// What a request asks for: the decoded path and the query.
///
/// The path is decoded once, here, and only in one way: a bad escape, an
/// encoded slash, a control character, text that is not UTF-8, an empty, `.`
/// or `..` segment refuses the request. No later layer decodes or joins again.
package struct HTTPTarget: Hashable, Sendable {
    /// The path as sent, starting with a slash; for logs and problem details.
    package let path: String

    /// The decoded segments: none for `/`; a closing slash gives a last empty
    /// segment.
    package let segments: [String]

    /// The decoded `name=value` pairs of the query in order.
    package let query: [QueryItem]

    /// One `name=value` pair, or a bare name with an empty value.
    package struct QueryItem: Hashable, Sendable {
        package let name: String
        package let value: String

        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    package init(path: String, segments: [String], query: [QueryItem] = []) {
        self.path = path
        self.segments = segments
        self.query = query
    }

    /// The first value of the named query item.
    package func queryValue(_ name: String) -> String? {
        query.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }
}

/// A request whose head has been read and found sound.
package struct HTTPRequest: Hashable, Sendable {
    package let method: HTTPMethod
    package let target: HTTPTarget
    package let fields: HTTPFields

    /// The peer's numeric address, without the port.
    package let remoteAddress: String

    /// Whether the connection is TLS.
    package let isSecure: Bool

    /// The declared length of the body; zero when there is none.
    ///
    /// Every body has a declared length, because the server answers 411 to a
    /// chunked one.
    package let declaredLength: UInt64

    package var hasBody: Bool { declaredLength > 0 }

    package init(
        method: HTTPMethod,
        target: HTTPTarget,
        fields: HTTPFields = HTTPFields(),
        remoteAddress: String = "127.0.0.1",
        isSecure: Bool = false,
        declaredLength: UInt64 = 0
    ) {
        self.method = method
        self.target = target
        self.fields = fields
        self.remoteAddress = remoteAddress
        self.isSecure = isSecure
        self.declaredLength = declaredLength
    }
}
