import CLinux
import Durable
import Glibc
import Manifest
import Names
import SyncAgent

/// `sealift read-model`: the process that `sync` starts to read what it received.
///
/// Not for people, and in no help. It gives up everything but reading before
/// it takes the first byte of its request, reads on one thread, answers on
/// standard output, and ends.
enum ReadModel {
    static let name = ReaderProgram.verb

    /// Ends the process: with 0 when it answered, whatever the answer says.
    static func main() -> Never {
        let limits = ReaderProgram.Limits()
        let confined = clinux_confine(
            limits.memory.rawValue,
            limits.processorSeconds,
            limits.openFiles
        )
        guard confined >= 0 else { end("could not limit itself: \(String(cString: strerror(errno)))") }
        guard let bytes = input() else { end("its request could not be read") }
        let request: ReadingRequest
        do throws(ManifestError) { request = try ReadingRequest(canonical: bytes) } catch { end("\(error)") }
        // The parent may have ended before this process asked to end with it.
        guard Int64(getppid()) == request.parent else { end("its parent is gone") }
        var answer = request.readingHere().canonical[...]
        while !answer.isEmpty {
            let written = answer.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { end("its answer could not be written") }
            answer = answer.dropFirst(written)
        }
        exit(0)
    }

    /// Standard input to its end; `nil` when it is longer than a request may be.
    private static func input() -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0, bytes.count + count <= ReadingRequest.maximumLength else { return nil }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    private static func end(_ reason: String) -> Never {
        Output.note("sealift \(name): \(reason)")
        exit(ExitCode.internalError.rawValue)
    }
}
