import HTTPServer
import Names
import RegistryAPI

extension FuzzTarget {
    static let network = [
        FuzzTarget("http-head", maximumLength: 1_024) { bytes in
            let whole = Result { try scan(bytes, step: bytes.count) }
            let dripped = Result { try scan(bytes, step: 1) }
            try hold(
                (try? whole.get()) == (try? dripped.get()),
                "a head ends where it ends, however it comes"
            )
            guard let length = try whole.get() else { return }
            let head = try RequestHead(Array(bytes[..<length]), limits: HTTPLimits())
            try hold(head.target.segments.allSatisfy { $0 != ".." && $0 != "." }, "no path leads upwards")
            try hold(!head.target.segments.contains { $0.utf8.contains(0) }, "no path holds a NUL")
        },
        api("commit-request", CommitRequest.self),
        api("have-request", HaveRequest.self),
        api("problem", Problem.self),
    ]

    private static func scan(_ bytes: [UInt8], step: Int) throws -> Int? {
        var scanner = HeadScanner(limit: Int(Limits.httpHead.rawValue))
        var seen = 0
        while seen < bytes.count {
            seen = min(bytes.count, seen + step)
            let head = Array(bytes[..<seen])
            if let end = try scanner.scan(head.span) { return end }
        }
        return nil
    }

    private static func api<Document: APIDocument>(_ name: String, _: Document.Type) -> FuzzTarget {
        FuzzTarget(name) { bytes in
            let document = try Document(bytes: bytes)
            let again = try must("what is sent can be received") { try Document(bytes: document.bytes) }
            try hold(again == document, "what is sent is what is received")
        }
    }
}
