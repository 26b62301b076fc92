import Registry
import SQLiteKit
import Synchronization

/// Read-only connections, lent to one reader at a time.
final class Readers: Sendable {
    /// One connection and its lock.
    private final class Reader: Sendable {
        private let database: Mutex<Database>

        init(path: String) throws(SQLiteError) {
            database = Mutex(try Database(path: path, mode: .readOnly))
        }

        func read<Answer: Sendable>(
            _ body: @Sendable (Database) throws(RegistryError) -> Answer
        ) throws(RegistryError) -> Answer {
            try database.withLock { database throws(RegistryError) in try body(database) }
        }

        /// - Returns: `nil` when another reader has it.
        func readIfFree<Answer: Sendable>(
            _ body: @Sendable (Database) throws(RegistryError) -> Answer
        ) throws(RegistryError) -> Answer? {
            try database.withLockIfAvailable { database throws(RegistryError) in try body(database) }
        }
    }

    private let readers: [Reader]
    private let next = Atomic<Int>(0)

    init(path: String, count: Int) throws(SQLiteError) {
        var readers: [Reader] = []
        for _ in 0..<count { readers.append(try Reader(path: path)) }
        self.readers = readers
    }

    /// Runs on the caller's thread: with a warm cache these reads take microseconds.
    func read<Answer: Sendable>(
        _ body: @Sendable (Database) throws(RegistryError) -> Answer
    ) throws(RegistryError) -> Answer {
        for reader in readers {
            if let answer = try reader.readIfFree(body) { return answer }
        }
        let turn = next.wrappingAdd(1, ordering: .relaxed).oldValue
        return try readers[Int(UInt(bitPattern: turn) % UInt(readers.count))].read(body)
    }
}
