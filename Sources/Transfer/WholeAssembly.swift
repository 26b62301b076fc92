import Durable
import Names
import Signing
import Synchronization

/// Puts a file together that has one digest for all of it.
///
/// Bytes are taken in order and digested as they come; what an earlier attempt
/// left is digested first. Nothing is proved until the end, so one wrong byte
/// costs the file.
final class WholeAssembly: Assembly {
    private struct State: ~Copyable {
        var stream: DigestStream? = DigestStream()
        var position: UInt64 = 0
        var failure: DurableError?
        var isComplete = false
        var faults = 0
        var found: Digest?
    }

    private let digest: Digest
    private let length: UInt64
    private let file: PartialFile
    private let state = Mutex(State())

    init(_ digest: Digest, _ length: UInt64, _ file: PartialFile) {
        self.digest = digest
        self.length = length
        self.file = file
    }

    var proved: UInt64 { state.withLock { $0.position } }
    var verified: UInt64 { state.withLock { $0.isComplete ? length : 0 } }
    var unit: UInt64 { length }

    var wanted: Range<UInt64>? {
        state.withLock { $0.isComplete ? nil : $0.position..<length }
    }

    var end: UInt64 { length }

    func resume(while goesOn: () -> Bool) throws(DurableError) {
        // A longer file is none of ours; and one that is complete and wrong starts again below.
        if file.foundLength > length { try file.truncate(0) }
        let end = file.foundLength > length ? 0 : file.foundLength
        try PartialFile.read(file.descriptor, file.path, upTo: end) { _, bytes in
            state.withLock { state in
                state.stream?.update(bytes)
                state.position += UInt64(bytes.count)
            }
            return goesOn()
        }
        guard try settle() else { return }
        _ = try startAgain()
        state.withLock { $0.faults = 0 }
    }

    /// Without a list there is no telling which part is the same.
    func reuse(_ path: String, while goesOn: () -> Bool) {}

    func begin() {}

    func take(_ position: UInt64, _ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            guard state.failure == nil, position <= state.position else { return false }
            // A server that ignores ranges repeats what is here already.
            let known = min(Int(clamping: state.position - position), bytes.count)
            guard known < bytes.count else { return true }
            let fresh = UnsafeRawBufferPointer(rebasing: bytes[known...])
            guard UInt64(fresh.count) <= length - state.position else { return false }
            do throws(DurableError) {
                try CrashPoint.reached("download.block", file.path)
                try file.write(fresh, at: state.position)
            } catch {
                state.failure = error
                return false
            }
            state.stream?.update(fresh)
            state.position += UInt64(fresh.count)
            return true
        }
    }

    func settle() throws(DurableError) -> Bool {
        let (failure, isWrong) = state.withLock { state -> (DurableError?, Bool) in
            defer { state.failure = nil }
            guard state.failure == nil, state.position == length, !state.isComplete else {
                return (state.failure, false)
            }
            guard let stream = state.stream.take() else { return (nil, false) }
            let found = stream.finish()
            state.found = found
            state.isComplete = found == digest
            if !state.isComplete { state.faults += 1 }
            return (nil, !state.isComplete)
        }
        if let failure { throw failure }
        return isWrong
    }

    func startAgain() throws(DurableError) -> Bool {
        let hadBytes = state.withLock { state in
            defer {
                state.stream = DigestStream()
                state.position = 0
            }
            return state.position > 0 || state.stream == nil
        }
        try file.truncate(0)
        return hadBytes
    }

    func persistentFault(after times: Int) -> FetchRefusal? {
        state.withLock { state in
            guard !state.isComplete, state.faults > times, let found = state.found else { return nil }
            return .digest(expected: digest, found: found)
        }
    }
}
