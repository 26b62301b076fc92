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
        guard let bytes = try? PlainStreams.input(atMost: ReadingRequest.maximumLength) else {
            end("its request could not be read")
        }
        let request: ReadingRequest
        do throws(ManifestError) { request = try ReadingRequest(canonical: bytes) } catch { end("\(error)") }
        // The parent may have ended before this process asked to end with it.
        guard Int64(getppid()) == request.parent else { end("its parent is gone") }
        guard PlainStreams.write(request.readingHere().canonical, to: STDOUT_FILENO) == 0 else {
            end("its answer could not be written")
        }
        exit(0)
    }

    private static func end(_ reason: String) -> Never {
        Output.note("sealift \(name): \(reason)")
        exit(ExitCode.internalError.rawValue)
    }
}
