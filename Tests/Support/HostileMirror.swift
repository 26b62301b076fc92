import Blocking
import Glibc
import Names
import Signing
package import Transfer

/// A mirror that has every honest file and gives each answer a fault, or none, by a seed.
///
/// The same seed and the same requests bring the same faults.
package final class HostileMirror: Sendable {
    /// What a mirror can do to an answer.
    package enum Fault: String, Sendable, CaseIterable {
        case absent, forbidden, failing, unavailable, redirect, unsatisfiable, empty, whole, cut, short, stall
        case drip, tooShort, tooLong, flipped, swapped, stale, endless, wrongPart, unasked, longHead,
            notModified
        case noLength, wrongTag
    }

    private struct State {
        var random: SeededRandom
        var kept: [String: [UInt8]] = [:]
        var older: [String: [UInt8]] = [:]
        var faults: [Fault: Int] = [:]

        /// One answer in so many is honest more often than not.
        var isHonest = false
    }

    private final class Found: Sendable { let bytes = Guarded<[UInt8]?>(nil) }

    private let upstream: RepositoryLocation
    private let fetcher: CurlFetcher
    private let state: Guarded<State>
    private let server: Guarded<FaultServer?> = Guarded(nil)

    /// Starts it.
    ///
    /// - Parameters:
    ///   - upstream: Whose files it has.
    ///   - fetcher: Reaches them.
    package init(of upstream: RepositoryLocation, fetcher: CurlFetcher) {
        self.upstream = upstream
        self.fetcher = fetcher
        state = Guarded(State(random: SeededRandom(seed: 0)))
        let server = FaultServer { [weak self] request, _ in
            self?.answer(request) ?? FaultAnswer(status: 500)
        }
        self.server.withLock { $0 = server }
    }

    /// `http://127.0.0.1:PORT/`.
    package var base: String { server.withLock { $0?.base ?? "" } }

    /// Begins a round.
    package func begin(seed: UInt64) {
        state.withLock { state in
            state.random = SeededRandom(seed: seed)
            state.isHonest = false
        }
    }

    package func beHonest() { state.withLock { $0.isHonest = true } }

    /// What it has now becomes what it serves when it is behind.
    package func grow() {
        state.withLock { state in
            state.older = state.kept
            state.kept = state.kept.filter { !$0.key.contains("timestamp") }
        }
    }

    /// How often each fault was played.
    package var faults: [Fault: Int] { state.withLock { $0.faults } }

    private static let large = [UInt8](repeating: 0x20, count: 24 << 20)

    private func answer(_ request: FaultRequest) -> FaultAnswer {
        let content = content(request.path)
        let (fault, place) = state.withLock { state -> (Fault?, Int) in
            guard !state.isHonest, state.random.happens(oneIn: 3) else { return (nil, 0) }
            var fault = Fault.allCases[Int(state.random.next() % UInt64(Fault.allCases.count))]
            // Waiting is the dearest: less often.
            if fault == .stall, !state.random.happens(oneIn: 4) { fault = .cut }
            state.faults[fault, default: 0] += 1
            return (fault, Int(state.random.next() % UInt64(max(1, content?.count ?? 1))))
        }
        guard let content else { return FaultAnswer(status: 404) }
        guard let fault else {
            return .file(content, for: request, etag: "\"\(SHA256.digest(of: content).hex)\"")
        }
        return play(fault, at: place, content, request)
    }

    private func play(
        _ fault: Fault,
        at place: Int,
        _ content: [UInt8],
        _ request: FaultRequest
    ) -> FaultAnswer {
        var answer = FaultAnswer.file(content, for: request)
        switch fault {
        case .absent: return FaultAnswer(status: 404)
        case .forbidden: return FaultAnswer(status: 403)
        case .failing: return FaultAnswer(status: 500, body: Array("<html>".utf8))
        case .unavailable: return FaultAnswer(status: 503, fields: [("Retry-After", "0")])
        case .redirect: return FaultAnswer(status: 302, fields: [("Location", "http://127.0.0.1:1/")])
        case .unsatisfiable: return FaultAnswer(status: 416)
        case .empty: return FaultAnswer()
        case .whole: return FaultAnswer(body: content)
        case .cut: answer.delivery = .cut(after: place % max(1, answer.body.count))
        case .short: answer.body.removeLast(min(answer.body.count, 1 + place % 1_000))
        case .stall: answer.delivery = .stall(after: place % max(1, answer.body.count))
        case .drip: answer.delivery = .drip(max(2_000, answer.body.count / 8))
        case .tooShort: answer.announced = answer.body.count / 2
        case .tooLong: answer.announced = answer.body.count + 1 + place
        case .flipped: if !answer.body.isEmpty { answer.body[place % answer.body.count] ^= 1 }
        case .swapped: return FaultAnswer(body: other(than: request.path, place) ?? [])
        case .stale: return FaultAnswer(body: older(request.path) ?? content)
        case .endless:
            answer.body += Self.large
            answer.announced = -1
        case .wrongPart:
            answer.status = 206
            answer.fields = [("Content-Range", "bytes \(place)-\(place + 9)/\(content.count)")]
        case .unasked:
            answer.status = 206
            answer.fields = [("Content-Range", "bytes 0-\(max(0, content.count - 1))/\(content.count)")]
        case .longHead: answer.fields.append(("X", String(repeating: "x", count: 40_000)))
        case .notModified: return FaultAnswer(status: 304)
        case .noLength: answer.announced = -1
        case .wrongTag: answer.fields.append(("ETag", "W/\"\(place)\u{7}"))
        }
        return answer
    }

    private func older(_ path: String) -> [UInt8]? { state.withLock { $0.older[path] } }

    private func other(than path: String, _ place: Int) -> [UInt8]? {
        state.withLock { state in
            let paths = state.kept.keys.filter { $0 != path }.sorted()
            return paths.isEmpty ? nil : state.kept[paths[place % paths.count]]
        }
    }

    /// The honest file; blocks this server thread, which is no thread of Swift's.
    private func content(_ path: String) -> [UInt8]? {
        if let kept = state.withLock({ $0.kept[path] }) { return kept }
        let url = upstream.file(String(path.dropFirst()))
        let done = Cancellation()
        let found = Found()
        Task { [fetcher] in
            let request = FetchRequest(url: url, maximumLength: .mebibytes(64))
            if case .bytes(let bytes, _)? = try? await fetcher.fetch(request) {
                found.bytes.withLock { $0 = bytes }
            }
            done.cancel()
        }
        _ = done.wait(seconds: 30)
        guard let bytes = found.bytes.withLock({ $0 }) else { return nil }
        state.withLock { $0.kept[path] = bytes }
        return bytes
    }
}
