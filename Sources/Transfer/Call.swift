import Blocking
import Names

/// One HTTP exchange, as the thread that performs it sees it.
///
/// Used by one thread from beginning to end; libcurl's callbacks run on it.
final class Call {
    let address: WebAddress
    let method: APIRequest.Method
    var fields: [(name: String, value: String)] = []
    var range: Range<UInt64>?
    var upload: Upload?

    /// Shared with the other transfers.
    var rateCap: RateCap?

    /// Judges the head before the first byte of the body.
    var onHead: (AnswerHead) -> Verdict = { _ in .goOn }

    /// Takes the body; nothing is kept for the caller.
    var onBody: (UnsafeRawBufferPointer) -> Verdict = { _ in .goOn }

    /// Told about once a second the body's bytes so far, and the seconds in which nothing of ours held them up.
    var onPace: (_ received: UInt64, _ seconds: Double) -> Verdict = { _, _ in .goOn }

    private let cancellation: Cancellation
    private var pace: Pace
    private let began = MonotonicTime.now

    /// Seconds that the rate cap, the disk and what proves the bytes took.
    private var held = 0.0
    private var isHeadJudged = false
    private(set) var head = AnswerHead()
    private(set) var received: UInt64 = 0
    private(set) var isCancelled = false

    /// Why we ended the transfer ourselves.
    private(set) var ending: Verdict?

    init(_ method: APIRequest.Method, _ address: WebAddress, pace: Pace, cancellation: Cancellation) {
        self.method = method
        self.address = address
        self.pace = pace
        self.cancellation = cancellation
    }

    /// What to do with a transfer that is under way.
    enum Verdict {
        case goOn

        /// All that is wanted is here; the rest is not waited for.
        case enough
        case refuse(FetchRefusal)
        case give(FetchOutage)

        /// The local disk or the consumer failed; the caller knows why.
        case stop
    }

    func takeHeadLine(_ line: UnsafeRawBufferPointer) -> Bool {
        pay(line.count)
        guard !head.take(line) else { return true }
        return accepts(.refuse(.malformedAnswer(detail: "its head is longer than \(Limits.httpHead)")))
    }

    func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let arrived = MonotonicTime.now
        defer { held += MonotonicTime.now.seconds(since: arrived) }
        guard judgeHead() else { return false }
        received += UInt64(bytes.count)
        guard accepts(onBody(bytes)) else { return false }
        pay(bytes.count)
        return true
    }

    /// Waits as the cap asks; meanwhile the connection's buffers fill, and the server waits too.
    private func pay(_ count: Int) {
        guard let wait = rateCap?.seconds(after: count, now: .now), wait > 0 else { return }
        _ = cancellation.wait(seconds: wait)
    }

    /// Also for answers without a body.
    func judgeHead() -> Bool {
        guard !isHeadJudged else { return true }
        isHeadJudged = true
        return accepts(onHead(head))
    }

    /// Called by libcurl about once a second, and as bytes move.
    func keepsPace(bytesMoved: UInt64) -> Bool {
        if cancellation.isCancelled {
            isCancelled = true
            return false
        }
        if let outage = pace.verdict(bytesMoved: bytesMoved, now: .now) { return accepts(.give(outage)) }
        return accepts(onPace(received, unheldSeconds))
    }

    /// Seconds so far in which nothing of ours held the bytes up.
    var unheldSeconds: Double { max(0, MonotonicTime.now.seconds(since: began) - held) }

    private func accepts(_ verdict: Verdict) -> Bool {
        if case .goOn = verdict { return true }
        ending = verdict
        return false
    }
}

/// Watches that a transfer moves, and that it ends in time.
///
/// libcurl's own limits follow the system's clock, which may be set or faked
/// while a transfer runs.
struct Pace {
    /// Seconds for the whole exchange.
    let deadline: Double?

    /// Seconds without enough bytes.
    let stallSeconds: Double

    /// Bytes a second.
    let minimumRate: ByteCount
    private let start = MonotonicTime.now
    private var windowStart = MonotonicTime.now
    private var windowBytes: UInt64 = 0

    init(deadline: Double?, stallSeconds: Double, minimumRate: ByteCount) {
        self.deadline = deadline
        self.stallSeconds = stallSeconds
        self.minimumRate = minimumRate
    }

    mutating func verdict(bytesMoved: UInt64, now: MonotonicTime) -> FetchOutage? {
        if let deadline, now.seconds(since: start) >= deadline { return .timedOut(seconds: deadline) }
        guard now.seconds(since: windowStart) >= stallSeconds else { return nil }
        let moved = bytesMoved >= windowBytes ? bytesMoved - windowBytes : 0
        guard Double(moved) >= Double(minimumRate.rawValue) * stallSeconds else {
            return .stalled(
                detail: "\(moved) bytes in \(stallSeconds) s, at least \(minimumRate) a second expected"
            )
        }
        windowStart = now
        windowBytes = bytesMoved
        return nil
    }
}
