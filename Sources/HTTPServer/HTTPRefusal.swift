/// Why bytes from a peer are not a request that the server takes.
///
/// Each is answered with its status and ends the connection: after a head that
/// was not understood nobody knows where the next one begins.
package enum HTTPRefusal: Error, Hashable, Sendable {
    case badRequestLine
    case badLineEnd
    case controlCharacter
    case badField
    case badHost
    case repeatedField(String)
    case badContentLength
    case lengthAndTransferCoding
    case badTarget
    case lengthRequired
    case bodyTooLarge
    case targetTooLong
    case unknownExpectation
    case headTooLarge
    case tooManyFields
    case unknownMethod
    case unknownTransferCoding
    case unknownVersion
    case headTooSlow

    package var status: Int {
        switch self {
        case .badRequestLine, .badLineEnd, .controlCharacter, .badField, .badHost, .repeatedField,
            .badContentLength, .lengthAndTransferCoding, .badTarget:
            400
        case .headTooSlow: 408
        case .lengthRequired: 411
        case .bodyTooLarge: 413
        case .targetTooLong: 414
        case .unknownExpectation: 417
        case .headTooLarge, .tooManyFields: 431
        case .unknownMethod, .unknownTransferCoding: 501
        case .unknownVersion: 505
        }
    }
}

extension HTTPRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .badRequestLine: "the request line is not `METHOD target HTTP/1.1`"
        case .badLineEnd: "a line of the head does not end in CR LF"
        case .controlCharacter: "the head contains a control character"
        case .badField: "a field line is not `name: value`"
        case .badHost: "the Host field is missing, malformed, or differs from the target"
        case .repeatedField(let name): "the field \(name) is given more than once"
        case .badContentLength: "Content-Length is not a decimal number of bytes"
        case .lengthAndTransferCoding: "Content-Length and Transfer-Encoding exclude each other"
        case .badTarget: "the request target is not a plain absolute path"
        case .lengthRequired: "a body needs a Content-Length; chunked bodies are not accepted"
        case .bodyTooLarge: "the declared body is longer than accepted"
        case .targetTooLong: "the request target is longer than accepted"
        case .unknownExpectation: "the only expectation known is 100-continue"
        case .headTooLarge: "the head is longer than accepted"
        case .tooManyFields: "the head has more fields than accepted"
        case .unknownMethod:
            "the method is not one of \(HTTPMethod.allCases.map(\.rawValue).joined(separator: ", "))"
        case .unknownTransferCoding: "the transfer coding is not known"
        case .unknownVersion: "the version is neither HTTP/1.1 nor HTTP/1.0"
        case .headTooSlow: "the head did not arrive in time"
        }
    }
}
