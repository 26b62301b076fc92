import Blocking
import Durable
import Names

/// One download from its first attempt to its last, on one thread that may block.
///
/// Not Sendable: belongs to that thread.
final class DownloadSession {
    private let download: BlobDownload
    private let fetcher: CurlFetcher
    private let cancellation: Cancellation
    private let file: PartialFile
    private let assembly: any Assembly
    private let progress: ProgressReport
    private var sources: SourceRotation
    private(set) var received: UInt64 = 0

    init(
        _ download: BlobDownload,
        _ locations: [RepositoryLocation],
        _ fetcher: CurlFetcher,
        _ cancellation: Cancellation,
        _ progress: @escaping @Sendable (UInt64) -> Void
    ) throws(FetchError) {
        self.download = download
        self.fetcher = fetcher
        self.cancellation = cancellation
        self.progress = ProgressReport(progress)
        sources = SourceRotation(locations, fetcher.standings, fetcher.configuration.slowness)
        do {
            file = try PartialFile(download.path)
        } catch {
            throw .storage(error)
        }
        if let blocks = download.blocks {
            assembly = BlockAssembly(download.name, blocks, file)
        } else {
            assembly = WholeAssembly(download.digest, download.length, file)
        }
    }

    func run() throws(FetchError) -> BlobReceipt {
        defer { fetcher.configuration.permission?.settle() }
        let goesOn = {
            self.progress.report(self.assembly.verified)
            return !self.cancellation.isCancelled
        }
        try onDisk { () throws(DurableError) in try assembly.resume(while: goesOn) }
        let resumed = assembly.proved
        try onDisk { () throws(DurableError) in
            for path in download.relatives where assembly.wanted != nil && goesOn() {
                try assembly.reuse(path, while: goesOn)
            }
            try file.reserve(download.length)
        }
        let reused = assembly.proved - resumed
        progress.report(assembly.verified)
        while let wanted = assembly.wanted {
            if cancellation.isCancelled { throw .cancelled }
            try attempt(try permitted(wanted))
        }
        progress.report(assembly.verified)
        try onDisk { () throws(DurableError) in
            try CrashPoint.reached("download.complete", download.path)
            try file.truncate(download.length)
            try file.synchronize()
        }
        return BlobReceipt(
            digest: download.digest,
            length: download.length,
            proof: assembly is BlockAssembly ? .everyBlock : .wholeDigest,
            received: received,
            resumed: resumed,
            reused: reused
        )
    }

    /// As much of `wanted` as may be fetched now, whole blocks of it.
    private func permitted(_ wanted: Range<UInt64>) throws(FetchError) -> Range<UInt64> {
        guard let permission = fetcher.configuration.permission else { return wanted }
        do throws(FetchPause) {
            let unit = min(assembly.unit, UInt64(wanted.count))
            guard let most = try permission.remaining(atLeast: unit), most < UInt64(wanted.count) else {
                return wanted
            }
            return wanted.lowerBound..<wanted.lowerBound + most / unit * unit
        } catch {
            throw .paused(error)
        }
    }

    /// Runs one stream and decides what its end means for the next.
    private func attempt(_ wanted: Range<UInt64>) throws(FetchError) {
        let (source, wait) = try sources.current(download, remaining: missing)
        if wait > 0, cancellation.wait(seconds: wait) { throw .cancelled }
        let before = assembly.proved
        var failure: FetchError?
        var faster: Int?
        do {
            faster = try stream(wanted, source)
        } catch {
            failure = error
        }
        let hadFaults = try onDisk { () throws(DurableError) in try assembly.settle() }
        let moved = assembly.proved > before
        let url = source.location.blob(download.digest)
        if hadFaults {
            if let refusal = assembly.persistentFault(after: max(1, sources.count)) {
                throw .refused(refusal, url: url)
            }
            _ = try onDisk { () throws(DurableError) in try assembly.startAgain() }
            sources.distrust(fetcher.configuration.retry)
        }
        if let faster, failure == nil, !hadFaults {
            if moved { sources.succeeded() }
            return sources.change(to: faster)
        }
        if failure == nil && !moved && !hadFaults {
            // Parts too small to hold a block would go on for ever.
            failure = .outage(.other(detail: "no block came whole"), url: url)
        }
        switch failure {
        case nil: sources.succeeded()
        case .cancelled: throw .cancelled
        case .storage(let error): throw .storage(error)
        case .paused(let pause): throw .paused(pause)
        case .refused(.status(416), _) where sources.stopRanges():
            // Here or on the way to it somebody does not know ranges: ask for all; what is proved stays proved.
            break
        case .refused(let refusal, let url): sources.drop(.refused(refusal, url: url))
        case .outage(.absent, let url): sources.drop(.outage(.absent, url: url))
        case .outage(let outage, let url):
            let error = FetchError.outage(outage, url: url)
            let goesOn = sources.failed(error, moved: moved, policy: fetcher.configuration.retry)
            guard goesOn else { throw error }
        }
    }

    private var missing: UInt64 { download.length - min(assembly.proved, download.length) }

    /// - Returns: The location that this one was left for, because it is slow.
    private func stream(_ wanted: Range<UInt64>, _ source: Source) throws(FetchError) -> Int? {
        let configuration = fetcher.configuration
        let url = source.location.blob(download.digest)
        let address = try WebAddress(url, allowsPlainLoopback: configuration.allowsPlainLoopback)
        let pace = Pace(
            deadline: nil,
            stallSeconds: configuration.stallSeconds,
            minimumRate: configuration.minimumRate
        )
        let call = Call(.get, address, pace: pace, cancellation: cancellation)
        if wanted != 0..<download.length, source.takesRanges {
            call.range = wanted
            // A weak tag says nothing about bytes (RFC 9110, 13.1.5).
            if let etag = source.etag, !etag.hasPrefix("W/") { call.fields.append(("If-Range", etag)) }
        }
        let flow = DownloadFlow(
            wanted,
            download.length,
            assembly,
            progress,
            configuration.permission,
            configuration.slowness
        )
        call.onHead = { head in flow.judge(head) }
        call.onBody = { bytes in flow.take(bytes) }
        var faster: Int?
        call.onPace = { received, seconds in
            flow.keepsUp(received, seconds) { rate in
                faster = self.sources.measured(rate, remaining: self.missing)
                return faster == nil
            }
        }
        defer {
            if let rate = flow.rate(after: call.unheldSeconds) {
                fetcher.standings.measured(source.location, rate)
            }
            received += flow.received
            sources.noteTag(call.head)
        }
        do {
            try fetcher.perform(call)
        } catch {
            flow.finish()
            throw error
        }
        flow.finish()
        try flow.judgeEnd(call)
        return flow.isLeft ? faster : nil
    }

    private func onDisk<Success>(_ body: () throws(DurableError) -> Success) throws(FetchError) -> Success {
        do {
            return try body()
        } catch {
            throw .storage(error)
        }
    }
}
