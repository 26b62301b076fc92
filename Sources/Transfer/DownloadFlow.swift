import Blocking
import Names

/// One stream of a download: from libcurl's callbacks through a ring to the thread that proves.
final class DownloadFlow {
    private let wanted: Range<UInt64>
    private let length: UInt64
    private let assembly: any Assembly
    private let progress: ProgressReport
    private let permission: (any TransferPermission)?
    private var ring: ByteRing?

    /// Where in the file the stream began.
    private var began: UInt64 = 0

    /// What may still come; more is a refusal.
    private var room: UInt64 = 0

    /// Of a whole file, what comes after is of no use.
    private var useful: UInt64 = 0
    private var dropped = 0
    private(set) var received: UInt64 = 0

    /// Why the stream was stopped although it was right.
    private var pause: FetchPause?

    /// Whether it was stopped because another location is faster, or is to be at the end of a block.
    private(set) var isLeft = false
    private var isSlow = false
    private var meter: RateMeter

    init(
        _ wanted: Range<UInt64>,
        _ length: UInt64,
        _ assembly: any Assembly,
        _ progress: ProgressReport,
        _ permission: (any TransferPermission)?,
        _ slowness: SlownessRule
    ) {
        meter = RateMeter(slowness)
        self.permission = permission
        self.wanted = wanted
        self.length = length
        self.assembly = assembly
        self.progress = progress
    }

    func judge(_ head: AnswerHead) -> Call.Verdict {
        switch head.status {
        case 200:
            if let announced = head.length, announced != length { return wrongLength(announced) }
            return start(at: 0, room: length, useful: assembly.end)
        case 206:
            guard let part = head.contentRange, part.first == wanted.lowerBound,
                part.last < wanted.upperBound,
                part.total == nil || part.total == length
            else { return .refuse(.malformedAnswer(detail: "206 with another part than bytes \(wanted)")) }
            let room = part.last + 1 - part.first
            return start(at: wanted.lowerBound, room: room, useful: room)
        default: return .goOn
        }
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> Call.Verdict {
        guard let ring else {
            // The text of an error: a little is read, so that the connection can be used again.
            dropped += bytes.count
            return dropped > 16 << 10 ? .enough : .goOn
        }
        received += UInt64(bytes.count)
        guard UInt64(bytes.count) <= room else {
            return .refuse(.tooLong(limit: ByteCount(rawValue: length), announced: nil))
        }
        room -= UInt64(bytes.count)
        do throws(FetchPause) { try permission?.spend(UInt64(bytes.count)) } catch {
            pause = error
        }
        if isSlow, pause == nil, received < useful {
            let missing = toBorder(from: received - UInt64(bytes.count))
            if UInt64(bytes.count) >= missing {
                _ = ring.put(UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(missing))))
                isLeft = true
                return .stop
            }
        }
        guard ring.put(bytes), pause == nil else { return .stop }
        return received >= useful && room > 0 ? .enough : .goOn
    }

    /// Judges how fast bytes come, whenever there is something to say.
    ///
    /// - Parameters:
    ///   - total: Body bytes so far.
    ///   - seconds: In which nothing of ours held them up.
    ///   - judge: Takes the rate; `false` when the location is to be left.
    /// - Returns: `.stop` when it is left at once.
    func keepsUp(_ total: UInt64, _ seconds: Double, _ judge: (Double) -> Bool) -> Call.Verdict {
        guard let rate = meter.rate(at: total, after: seconds) else { return .goOn }
        isSlow = !judge(rate)
        // What came of a block is given up where the rest of it would be long in coming.
        guard isSlow, ring == nil || Double(toBorder(from: received)) > rate * meter.rule.patience else {
            return .goOn
        }
        isLeft = true
        return .stop
    }

    /// The rate of the stream as a whole, where it ended too soon to be measured before.
    func rate(after seconds: Double) -> Double? { meter.rate(atEnd: received, after: seconds) }

    /// Bytes to where a block ends, when so many came.
    private func toBorder(from count: UInt64) -> UInt64 {
        let unit = max(1, assembly.unit)
        return unit - (began + count) % unit
    }

    /// Ends the stream and waits until all of it is proved or not.
    func finish() {
        ring?.finishAndWait()
    }

    /// Judges a stream that no error ended.
    func judgeEnd(_ call: Call) throws(FetchError) {
        if let pause { throw .paused(pause) }
        guard !isLeft else { return }
        guard ring != nil else { throw call.head.failure(call.address.url) }
        if case .stop = call.ending { return }
        guard received >= useful else {
            throw .outage(.cutOff(received: received, expected: useful), url: call.address.url)
        }
    }

    private static let slot: UInt64 = 1 << 20

    private func start(at position: UInt64, room: UInt64, useful: UInt64) -> Call.Verdict {
        // One block fetched again does not need the memory of a whole file.
        let slots = max(2, min(8, Int(clamping: room / Self.slot) + 2))
        let unit = Int(clamping: assembly.unit)
        let ring = ByteRing(slotSize: Int(Self.slot), slots: slots, position: position, unit: unit)
        let (assembly, progress) = (assembly, progress)
        assembly.begin()
        let isRunning = OwnThread.start {
            ring.consume { position, bytes in
                let goesOn = assembly.take(position, bytes)
                progress.report(assembly.verified)
                return goesOn
            }
        }
        guard isRunning else { return .give(.other(detail: "the system has no thread to give")) }
        self.ring = ring
        began = position
        self.room = room
        self.useful = useful
        return .goOn
    }

    private func wrongLength(_ announced: UInt64) -> Call.Verdict {
        guard announced < length else {
            return .refuse(.tooLong(limit: ByteCount(rawValue: length), announced: announced))
        }
        return .refuse(.malformedAnswer(detail: "\(announced) bytes announced, \(length) are signed"))
    }
}

/// Tells progress, never backwards.
final class ProgressReport: Sendable {
    private let tell: @Sendable (UInt64) -> Void
    private let highest = Guarded<UInt64>(0)

    init(_ tell: @escaping @Sendable (UInt64) -> Void) { self.tell = tell }

    func report(_ bytes: UInt64) {
        let isNew = highest.withLock { highest in
            guard bytes > highest else { return false }
            highest = bytes
            return true
        }
        if isNew { tell(bytes) }
    }
}
