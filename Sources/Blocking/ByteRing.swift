import Glibc

/// Bounded memory between a thread that receives bytes and one that works on them.
///
/// Bytes belong to positions in a file. They are gathered into slots that end
/// at multiples of the slot's size, so that a block of a size that divides it
/// never lies across two. On a slow line a slot is passed on before it is full,
/// where a unit ends, so that work on it does not wait for the rest. When all
/// slots are full the producer waits; that is the back-pressure on a network.
// Sendable because the counters and states below change only under `lock`; the slots'
// memory is written by the producer alone until `filled` passes them on, and read by
// the consumer alone until `emptied` gives them back.
package final class ByteRing: @unchecked Sendable {
    private let lock: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    private let memory: UnsafeMutableRawPointer
    private let slotSize: Int
    private let slots: Int
    private let unit: Int
    private var pieces: [(position: UInt64, count: Int)]
    private var filled = 0
    private var emptied = 0
    private var isFinished = false
    private var isRefused = false
    private var isConsumed = false

    /// The producer's own.
    private var position: UInt64
    private var gathered = 0
    private var lastPass = MonotonicTime.now

    /// Seconds after which less than a slot is passed on.
    private static let patience = 0.25

    /// Allocates the slots.
    ///
    /// - Parameters:
    ///   - slotSize: Bytes in a slot, at which pieces end.
    ///   - slots: At least two.
    ///   - position: Where in the file the first byte belongs.
    ///   - unit: Bytes of the file that belong together; divides the slot's size, or is that.
    package init(slotSize: Int, slots: Int, position: UInt64, unit: Int? = nil) {
        self.unit = max(1, min(unit ?? slotSize, slotSize))
        precondition(slotSize > 0 && slots > 1, "a ring needs two slots to be one")
        self.slotSize = slotSize
        self.slots = slots
        self.position = position
        pieces = Array(repeating: (0, 0), count: slots)
        memory = .allocate(byteCount: slotSize * slots, alignment: 4_096)
        lock = .allocate(capacity: 1)
        changed = .allocate(capacity: 1)
        pthread_mutex_init(lock, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(lock)
        changed.deallocate()
        lock.deallocate()
        memory.deallocate()
    }

    /// Producer: copies bytes in, waiting for room.
    ///
    /// - Parameter bytes: The next bytes of the file.
    /// - Returns: `false` when the consumer wants no more.
    package func put(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes
        while rest.count > 0 {
            if gathered == 0 && !waitForRoom() { return false }
            let slot = memory + (filled % slots) * slotSize
            let end = slotSize - Int(position % UInt64(slotSize))
            let count = min(rest.count, end, unit - Int(position % UInt64(unit)))
            if let from = rest.baseAddress { (slot + gathered).copyMemory(from: from, byteCount: count) }
            gathered += count
            position += UInt64(count)
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            guard count < end else {
                pass()
                continue
            }
            if position % UInt64(unit) == 0, MonotonicTime.now.seconds(since: lastPass) > Self.patience {
                pass()
            }
        }
        return true
    }

    /// Producer: passes on what is gathered and ends the stream.
    package func finish() {
        if gathered > 0 { pass() }
        pthread_mutex_lock(lock)
        isFinished = true
        pthread_cond_broadcast(changed)
        pthread_mutex_unlock(lock)
    }

    /// Producer: ends the stream and waits until the consumer has worked on all of it.
    package func finishAndWait() {
        finish()
        pthread_mutex_lock(lock)
        while !isConsumed { pthread_cond_wait(changed, lock) }
        pthread_mutex_unlock(lock)
    }

    /// Consumer: works on each piece until the stream ends or `body` refuses.
    ///
    /// - Parameter body: Given the position in the file and the bytes, which
    ///   are on loan for the call; `false` ends the stream on both sides.
    package func consume(_ body: (UInt64, UnsafeRawBufferPointer) -> Bool) {
        defer {
            pthread_mutex_lock(lock)
            isConsumed = true
            pthread_cond_broadcast(changed)
            pthread_mutex_unlock(lock)
        }
        while let (slot, piece) = nextPiece() {
            let bytes = UnsafeRawBufferPointer(start: memory + slot * slotSize, count: piece.count)
            let wantsMore = body(piece.position, bytes)
            pthread_mutex_lock(lock)
            emptied += 1
            if !wantsMore { isRefused = true }
            pthread_cond_broadcast(changed)
            pthread_mutex_unlock(lock)
            if !wantsMore { return }
        }
    }

    private func waitForRoom() -> Bool {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while filled - emptied == slots && !isRefused { pthread_cond_wait(changed, lock) }
        return !isRefused
    }

    private func pass() {
        pthread_mutex_lock(lock)
        pieces[filled % slots] = (position - UInt64(gathered), gathered)
        filled += 1
        pthread_cond_broadcast(changed)
        pthread_mutex_unlock(lock)
        gathered = 0
        lastPass = .now
    }

    private func nextPiece() -> (slot: Int, piece: (position: UInt64, count: Int))? {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        while filled == emptied && !isFinished { pthread_cond_wait(changed, lock) }
        guard filled > emptied else { return nil }
        let slot = emptied % slots
        return (slot, pieces[slot])
    }
}
