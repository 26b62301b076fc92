import Blocking
import Durable
import Glibc
package import Manifest
import ModelFormats
package import Names

/// The program that reads received model files in a process of its own.
///
/// A model file is the one thing on a device that a stranger wrote and a
/// complicated parser reads. The readers are memory-safe and bounded; the
/// process is for what nobody thought of: it has little memory and time, and
/// can neither write, nor start anything, nor reach a network. Its answer is
/// taken like bytes from outside.
package struct ReaderProgram: Sendable, Equatable {
    /// How much the process may use.
    package struct Limits: Sendable, Equatable {
        /// Address space, of which the program itself takes most.
        package var memory = ByteCount.mebibytes(512)
        package var processorSeconds: UInt64 = 20
        package var openFiles: UInt64 = 64

        /// Seconds until it is killed, whatever it does.
        package var deadline = 60.0

        package init() {}
    }

    /// What makes `sealift` such a process; its one argument.
    package static let verb = "read-model"

    package var path: String
    package var limits = Limits()

    package init(_ path: String) { self.path = path }

    /// Has `request` read.
    ///
    /// - Parameters:
    ///   - request: What to read.
    ///   - subject: What it is, for messages.
    /// - Returns: What the files say.
    /// - Throws: `SyncError`: `refused` when the process crashed, did not end, gave no sound answer or refused the
    ///   files; `usage` when there is no such program; `temporary` when the system could not.
    package func facts(
        _ request: ReadingRequest,
        _ subject: String
    ) async throws(SyncError) -> Reading.Facts {
        var child = ChildProcess(path, [Self.verb])
        child.input = request.canonical
        child.environment = ["SWIFT_BACKTRACE": "enable=no"]
        if let libraries = getenv("LD_LIBRARY_PATH") {
            child.environment?["LD_LIBRARY_PATH"] = String(cString: libraries)
        }
        child.deadline = limits.deadline
        child.outputLimit = ByteCount(rawValue: UInt64(Reading.maximumLength) + 1)
        child.limits = [
            .addressSpace(limits.memory), .processorSeconds(limits.processorSeconds),
            .fileSize(ByteCount(rawValue: 0)), .openFiles(limits.openFiles),
        ]
        let result: ChildResult
        do { result = try await child.run() } catch { throw failure(error) }
        if let trouble = result.trouble {
            throw SyncError(
                .refused,
                "\(subject): the process that read it \(trouble). Nothing of it is taken; its publisher "
                    + "should look at the file"
            )
        }
        let reading: Reading
        do throws(ManifestError) { reading = try Reading(canonical: result.output) } catch {
            throw SyncError(.refused, "\(subject): the process that read it gave no sound answer: \(error)")
        }
        return try reading.facts(subject)
    }

    private func failure(_ error: ChildProcessError) -> SyncError {
        switch error {
        case .cancelled: return SyncError(.temporary, "the sync was cancelled")
        case .notStarted(_, let code, _):
            let isWrong = [ENOENT, EACCES, ENOTDIR, ENOEXEC, ELOOP].contains(code)
            return SyncError(isWrong ? .usage : .temporary, "the program that reads models: \(error)")
        }
    }
}

extension Reading {
    /// What was read.
    ///
    /// - Throws: `SyncError` when nothing was.
    func facts(_ subject: String) throws(SyncError) -> Facts {
        switch outcome {
        case .read(let facts): return facts
        case .refused(let reason): throw SyncError(code: .interface, "\(subject): \(reason)")
        case .unreadable(let reason): throw SyncError(.temporary, "\(subject): \(reason)")
        }
    }
}

extension ReadingRequest {
    /// Reads in this process.
    package func readingHere() -> Reading {
        reading { (location) throws(FormatError) in
            do throws(DurableError) { return try FileSource(location) } catch {
                throw .unreadable(.unreadable(code: EIO))
            }
        }
    }
}
