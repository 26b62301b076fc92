import Blocking
import Durable
import Manifest
import Names
import Signing

/// Puts a file together whose every block has a signed digest.
///
/// Only a block that is proved is written, so whatever ends the process, each
/// block in the file is either good or found out when it is proved again at the
/// next start. There is no record beside the file that could disagree with it.
final class BlockAssembly: Assembly {
    private struct State {
        var isProved: [Bool]
        var proved: UInt64 = 0

        /// Below this all blocks are proved.
        var low = 0
        var faults: [Int: Fault] = [:]
        var faultsInStream = 0
        var failure: DurableError?
    }

    private struct Fault {
        var times: Int
        var found: Digest
    }

    /// Wrong blocks after which a stream is not worth its bytes.
    private static let tolerance = 3

    private let name: String
    private let blocks: BlockDigests
    private let count: Int
    private let file: PartialFile
    private let state: Guarded<State>

    init(_ name: String, _ blocks: BlockDigests, _ file: PartialFile) {
        self.name = name
        self.blocks = blocks
        count = Int(blocks.plan.blockCount)
        self.file = file
        state = Guarded(State(isProved: Array(repeating: false, count: count)))
    }

    var proved: UInt64 { state.withLock { $0.proved } }
    var verified: UInt64 { proved }
    var unit: UInt64 { blocks.plan.blockSize }

    /// A block that came wrong is asked for alone; else all up to the next good or wrong one.
    var wanted: Range<UInt64>? {
        state.withLock { state in
            while state.low < count, state.isProved[state.low] { state.low += 1 }
            guard state.low < count else { return nil }
            let first = state.low
            var last = first
            if state.faults[first] == nil {
                while last + 1 < count, !state.isProved[last + 1], state.faults[last + 1] == nil {
                    last += 1
                }
            }
            return range(first).lowerBound..<range(last).upperBound
        }
    }

    var end: UInt64 {
        state.withLock { state in
            state.isProved.lastIndex(of: false).map { range($0).upperBound } ?? 0
        }
    }

    func resume(while goesOn: () -> Bool) throws(DurableError) {
        if file.foundLength > blocks.plan.fileLength { try file.truncate(blocks.plan.fileLength) }
        try resume(upTo: min(file.foundLength, blocks.plan.fileLength), while: goesOn)
    }

    private func resume(upTo end: UInt64, while goesOn: () -> Bool) throws(DurableError) {
        try PartialFile.read(file.descriptor, file.path, upTo: end) { position, bytes in
            state.withLock { state in
                forEachBlock(position, bytes) { index, block in
                    guard digest(block) == expected(index) else { return }
                    state.isProved[index] = true
                    state.proved += UInt64(block.count)
                }
            }
            return goesOn()
        }
    }

    func begin() { state.withLock { $0.faultsInStream = 0 } }

    /// Blocks that moved within the file are not looked for; whatever finds them would offer them here as well.
    func reuse(_ path: String, while goesOn: () -> Bool) throws(DurableError) {
        guard let relative = try? FileSource(path) else { return }
        let end = min(relative.length, blocks.plan.fileLength)
        // A file that shares the other's blocks on the disk needs no copy; what differs is written over.
        if proved == 0, file.clone(relative) {
            try file.truncate(end)
            return try resume(upTo: end, while: goesOn)
        }
        try? PartialFile.read(relative.descriptor, path, upTo: end) { position, bytes in
            take(position, bytes, from: .relative) && goesOn()
        }
        _ = try settle()
    }

    private enum Origin { case stream, relative }

    func take(_ position: UInt64, _ bytes: UnsafeRawBufferPointer) -> Bool {
        take(position, bytes, from: .stream)
    }

    private func take(_ position: UInt64, _ bytes: UnsafeRawBufferPointer, from origin: Origin) -> Bool {
        state.withLock { state in
            var run: Range<Int>?
            forEachBlock(position, bytes) { index, block in
                guard !state.isProved[index] else { return }
                let found = digest(block)
                guard found == expected(index) else {
                    guard origin == .stream else { return }
                    state.faults[index] = Fault(times: (state.faults[index]?.times ?? 0) + 1, found: found)
                    state.faultsInStream += 1
                    return
                }
                if let open = run, open.upperBound == index {
                    run = open.lowerBound..<index + 1
                } else {
                    write(run, position, bytes, &state)
                    run = index..<index + 1
                }
            }
            write(run, position, bytes, &state)
            return state.failure == nil && state.faultsInStream <= Self.tolerance
        }
    }

    func settle() throws(DurableError) -> Bool {
        let (failure, hadFaults) = state.withLock { state in
            defer { state.failure = nil }
            return (state.failure, state.faultsInStream > 0)
        }
        if let failure { throw failure }
        return hadFaults
    }

    func startAgain() -> Bool { false }

    func persistentFault(after times: Int) -> FetchRefusal? {
        state.withLock { state in
            let worst = state.faults.filter { $0.value.times > times && !state.isProved[$0.key] }.min {
                $0.key < $1.key
            }
            guard let worst, let expected = expected(worst.key) else {
                return nil
            }
            return .block(file: name, index: worst.key, expected: expected, found: worst.value.found)
        }
    }

    /// Writes proved blocks that lie side by side, and only then counts them.
    private func write(
        _ run: Range<Int>?,
        _ position: UInt64,
        _ bytes: UnsafeRawBufferPointer,
        _ state: inout State
    ) {
        guard let run, state.failure == nil else { return }
        let start = range(run.lowerBound).lowerBound
        let end = range(run.upperBound - 1).upperBound
        let part = bytes[Int(start - position)..<Int(end - position)]
        do throws(DurableError) {
            try CrashPoint.reached("download.block", file.path)
            try file.write(UnsafeRawBufferPointer(rebasing: part), at: start)
        } catch {
            state.failure = error
            return
        }
        for index in run { state.isProved[index] = true }
        state.proved += end - start
    }

    /// Calls `body` for each whole block in a piece; a block cut off at its end is left out.
    private func forEachBlock(
        _ position: UInt64,
        _ bytes: UnsafeRawBufferPointer,
        _ body: (Int, UnsafeRawBufferPointer) -> Void
    ) {
        let size = blocks.plan.blockSize
        var index = Int(position / size)
        guard position % size == 0 else { return }
        while index < count {
            let block = range(index)
            let start = Int(block.lowerBound - position)
            let end = Int(block.upperBound - position)
            guard end <= bytes.count else { return }
            body(index, UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            index += 1
        }
    }

    private func range(_ index: Int) -> Range<UInt64> { blocks.plan.range(ofBlock: UInt64(index)) }

    private func expected(_ index: Int) -> Digest? { blocks.digest(ofBlock: UInt64(index)) }

    private func digest(_ bytes: UnsafeRawBufferPointer) -> Digest {
        var stream = DigestStream()
        stream.update(bytes)
        return stream.finish()
    }
}
