import Names

/// Gathers the answer to a ``FetchRequest``, never more than it allows.
struct BoundedBody {
    private let request: FetchRequest
    private var bytes: [UInt8] = []

    /// Bytes of a whole file still to pass over, when a range was asked for.
    private var skip: UInt64 = 0

    /// Bytes of an answer that is no success: read a little, so that the
    /// connection can be used again, and dropped.
    private var dropped: Int?

    init(_ request: FetchRequest) { self.request = request }

    private var limit: UInt64 {
        let most = request.maximumLength.rawValue
        return request.range.map { min(most, $0.upperBound - $0.lowerBound) } ?? most
    }

    mutating func judge(_ head: AnswerHead) -> Call.Verdict {
        guard head.status == 200 || head.status == 206 else {
            dropped = 0
            return .goOn
        }
        guard let range = request.range else {
            guard head.status == 200 else { return .refuse(.malformedAnswer(detail: "206 to no range")) }
            guard let length = head.length, length > limit else { return .goOn }
            return .refuse(.tooLong(limit: request.maximumLength, announced: length))
        }
        guard head.status == 206 else {
            skip = range.lowerBound
            return .goOn
        }
        guard let answered = head.contentRange, answered.first == range.lowerBound,
            answered.last < range.upperBound
        else { return .refuse(.malformedAnswer(detail: "206 with another range than \(range)")) }
        return .goOn
    }

    mutating func take(_ piece: UnsafeRawBufferPointer) -> Call.Verdict {
        if let before = dropped {
            dropped = before + piece.count
            return before + piece.count > 16 << 10 ? .enough : .goOn
        }
        let passed = Int(min(skip, UInt64(piece.count)))
        skip -= UInt64(passed)
        let wanted = piece[passed...]
        let room = limit - UInt64(bytes.count)
        guard UInt64(wanted.count) > room else {
            bytes += wanted
            return .goOn
        }
        guard request.range != nil else {
            return .refuse(.tooLong(limit: request.maximumLength, announced: nil))
        }
        bytes += wanted.prefix(Int(room))
        return .enough
    }

    func outcome(_ call: Call) throws(FetchError) -> FetchOutcome {
        let (head, url) = (call.head, request.url)
        switch head.status {
        case 200, 206: return .bytes(bytes, etag: head.etag)
        case 304:
            guard request.ifNoneMatch != nil else {
                throw .refused(.malformedAnswer(detail: "304 to an unconditional request"), url: url)
            }
            return .notModified
        case 403, 404, 410: return .absent
        default: throw head.failure(url)
        }
    }
}

extension AnswerHead {
    /// What a status means that is no success.
    func failure(_ url: String) -> FetchError {
        switch status {
        case 401: .refused(.unauthorized, url: url)
        case 404, 403, 410: .outage(.absent, url: url)
        case 408, 425, 429, 500...: .outage(.status(status, retryAfter: retryAfter), url: url)
        case 300..<400 where location != nil: .refused(.redirected(to: location ?? ""), url: url)
        case 300..<500: .refused(.status(status), url: url)
        default: .refused(.malformedAnswer(detail: "status \(status)"), url: url)
        }
    }
}
