import Blocking
import CLinux
import Glibc

/// How tasks speak to a loop's thread.
final class Mailbox: Sendable {
    /// What a loop can be told; a token names a connection, which may be gone.
    enum Message: Sendable {
        case response(UInt64, HTTPResponse)
        case demand(UInt64)
        case drain
    }

    /// Readable while messages wait.
    let descriptor: Int32
    private let messages = Guarded<[Message]>([])

    init() throws(HTTPServerError) {
        descriptor = clinux_eventfd()
        guard descriptor >= 0 else { throw .system(call: "eventfd", code: errno) }
    }

    deinit { close(descriptor) }

    /// Leaves a message, and wakes the loop if it may be asleep.
    func post(_ message: Message) {
        let wasEmpty = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        guard wasEmpty else { return }
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Takes everything that waits.
    func take() -> [Message] {
        // The counter first: a message after that wakes the loop anew.
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
