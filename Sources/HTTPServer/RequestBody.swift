import Blocking
package import Names

/// Why a body could not be read to its end.
package enum HTTPBodyError: Error, Hashable, Sendable {
    /// The peer went away, or sent less than the minimum rate.
    case disconnected

    /// The body is longer than the caller takes.
    case tooLarge(limit: ByteCount)

    /// The response has been given; the rest of the body is the server's.
    case closed
}

extension HTTPBodyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .disconnected: "the peer went away before its request body ended"
        case .tooLarge(let limit): "the request body is longer than the \(limit) accepted here"
        case .closed: "the request body was read after the response was given"
        }
    }
}

/// The body of one request, pulled by its one reader.
///
/// Back-pressure: the server stops reading the socket while a buffer's worth
/// of bytes waits here, so an upload of any length takes bounded memory.
package final class RequestBody: Sendable {
    /// What the loop and the reader share.
    private struct State {
        var buffered: [UInt8] = []
        var hasEnded = false
        var failure: HTTPBodyError?
        var reader: CheckedContinuation<Void, Never>?

        /// The loop has paused, or holds back `100 Continue`: it must be told
        /// when the reader wants more.
        var demandIsAwaited: Bool

        var isReady: Bool { !buffered.isEmpty || hasEnded || failure != nil }
    }

    private let state: Guarded<State>
    private let demand: @Sendable () -> Void

    /// A whole body, for requests without one and for tests of services.
    package init(_ bytes: [UInt8] = []) {
        state = Guarded(State(buffered: bytes, hasEnded: true, demandIsAwaited: false))
        demand = {}
    }

    /// A body that the loop fills; `demand` is called from the reader's thread.
    init(awaitsDemand: Bool, demand: @escaping @Sendable () -> Void) {
        state = Guarded(State(demandIsAwaited: awaitsDemand))
        self.demand = demand
    }

    /// The next bytes, or nil at the end.
    ///
    /// - Throws: `HTTPBodyError` once the body cannot be completed; bytes
    ///   received before are then dropped.
    /// - Precondition: there is one reader at a time.
    package func next() async throws(HTTPBodyError) -> [UInt8]? {
        while true {
            if let answer = try take() { return answer.isEmpty ? nil : answer }
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    precondition(state.reader == nil, "a request body has one reader at a time")
                    guard !state.isReady else { return true }
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }

    /// The whole body.
    ///
    /// - Throws: `.tooLarge` as soon as more than `limit` bytes have come.
    package func collect(upTo limit: ByteCount) async throws(HTTPBodyError) -> [UInt8] {
        var whole: [UInt8] = []
        while let bytes = try await next() {
            guard ByteCount(whole.count + bytes.count) <= limit else { throw .tooLarge(limit: limit) }
            whole.append(contentsOf: bytes)
        }
        return whole
    }

    /// Everything buffered; empty at the end; nil when the reader must wait.
    private func take() throws(HTTPBodyError) -> [UInt8]? {
        let (answer, wasAwaited) = state.withLock { state -> (Result<[UInt8]?, HTTPBodyError>, Bool) in
            if let failure = state.failure { return (.failure(failure), false) }
            if state.buffered.isEmpty && state.hasEnded { return (.success([]), false) }
            let wasAwaited = state.demandIsAwaited
            state.demandIsAwaited = false
            guard !state.buffered.isEmpty else { return (.success(nil), wasAwaited) }
            let bytes = state.buffered
            state.buffered = []
            return (.success(bytes), wasAwaited)
        }
        if wasAwaited { demand() }
        return try answer.get()
    }

    // MARK: - The loop's side

    /// Hands bytes to the reader.
    ///
    /// - Returns: whether the loop may read on; if not, `demand` will be called.
    func deliver(_ bytes: some Collection<UInt8>, limit: Int) -> Bool {
        let (reader, mayReadOn) = state.withLock { state in
            if state.failure == nil { state.buffered.append(contentsOf: bytes) }
            let mayReadOn = state.buffered.count < limit
            if !mayReadOn { state.demandIsAwaited = true }
            defer { state.reader = nil }
            return (state.reader, mayReadOn)
        }
        reader?.resume()
        return mayReadOn
    }

    /// Says that every byte of the declared length has been delivered.
    func end() { settle { $0.hasEnded = true } }

    /// Makes every later read throw, and drops what is buffered.
    func fail(_ error: HTTPBodyError) {
        settle { state in
            if state.failure == nil { state.failure = error }
            state.buffered = []
        }
    }

    private func settle(_ change: (inout sending State) -> Void) {
        let reader = state.withLock { state in
            change(&state)
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }
}
