package import Durable

/// Why a record is not kept in a file.
package enum LibraryRecordError: Error, Equatable, Sendable {
    /// Something else stands there, and is not replaced.
    case foreign(path: String)

    /// The file cannot be read or written, or is no regular file.
    case disk(DurableError)
}

extension LibraryRecordError: CustomStringConvertible {
    /// For people.
    package var description: String {
        switch self {
        case .foreign(let path):
            "\(path) is there and is no record of a library, so it is not replaced; name another file"
        case .disk(let error): "the record cannot be kept: \(error)"
        }
    }
}
