import Durable
import ModelRuntimes
import Names

/// What every machine that runs the program is asked.
struct HostExamination {
    /// The year in which this program was made; no clock that is right shows an earlier one.
    private static let earliest = UnixTime(rawValue: 1_767_225_600)
    private static let latest = UnixTime(rawValue: 4_102_444_800)

    let now: UnixTime

    func clock() -> Finding {
        guard (Self.earliest...Self.latest).contains(now) else {
            return .problem(
                "clock",
                "this machine",
                "the clock says \(now)",
                "Set the clock, and keep it right: timedatectl set-ntp true"
            )
        }
        return .good("clock", "this machine", "\(now)")
    }

    func runtime() async -> Finding {
        do {
            let runtime = try await ONNXRuntime()
            return .good("runtime", "ONNX Runtime", "\(runtime.version) at \(runtime.libraryPath)")
        } catch {
            return .warning(
                "runtime",
                "ONNX Runtime",
                error.found,
                "Only ‘infer’ and apps that open ONNX models need it. Install it: \(ONNXRuntimeError.installation)"
            )
        }
    }

    /// Room on the disk that holds `path`.
    static func space(at path: String, reserve: UInt64, _ subject: String) -> Finding {
        do throws(DurableError) {
            let free = try Durable.freeSpace(at: path)
            guard try Durable.hasRoomForFiles(at: path) else {
                return .problem(
                    "disk-space",
                    subject,
                    "\(free) free, and no room for one more file: the file system is out of inodes",
                    "Delete files that nobody needs, however small; bytes are not what is missing."
                )
            }
            guard free.rawValue < reserve else { return .good("disk-space", subject, "\(free) free") }
            return .problem(
                "disk-space",
                subject,
                "\(free) free, and \(ByteCount(rawValue: reserve)) must stay free",
                "Free some space; the next ‘sealift sync’ of a device removes what nothing needs."
            )
        } catch {
            return .problem("disk-space", subject, error)
        }
    }

    /// A file that nobody but its owner may read; `nil` when it is not there.
    static func privateFile(_ path: String) -> Finding? {
        do throws(DurableError) {
            let found = try Durable.readFileIfPresent(path, maximum: .mebibytes(1), privacy: .ownerOnly)
            return found.map { _ in .good("key-mode", path, "readable by its owner alone") }
        } catch {
            return .problem("key-mode", path, error)
        }
    }
}
