import CLinux
import Durable
import Glibc
package import Names
import Signing
import Synchronization

/// A blob on its way in, digested while it is received.
///
/// The bytes go to a file under a name of its own, which nobody reads. Only
/// ``finish()`` gives them the name of their digest, after it has been
/// compared. An upload that fails, or is let go, leaves nothing behind.
///
/// One sender at a time; the lock is only there so that the sender may change
/// threads.
package final class BlobUpload: Sendable {
    /// The digest that the bytes must have.
    package let digest: Digest

    /// The length that they must have.
    package let length: UInt64

    private let store: String
    private let incoming: String
    private let state: Mutex<State>

    private struct State: ~Copyable {
        /// `nil` once the upload has ended, well or not.
        var descriptor: Int32?
        var stream: DigestStream? = DigestStream()
        var received: UInt64 = 0
    }

    /// Creates the file and asks the file system to keep room for all of it.
    init(store: String, incoming: String, digest: Digest, length: UInt64) throws(BlobError) {
        self.store = store
        self.incoming = incoming
        self.digest = digest
        self.length = length
        let descriptor = open(incoming, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.error(.system("create", incoming), store, length) }
        state = Mutex(State(descriptor: descriptor))
        guard let wanted = off_t(exactly: length) else { throw .full(directory: store, needed: length) }
        try reserve(wanted, descriptor)
    }

    deinit { abandon() }

    /// The bytes received so far.
    package var received: UInt64 { state.withLock { $0.received } }

    /// Takes the next bytes.
    ///
    /// - Throws: `BlobError.tooLong` before a byte over the announced length is
    ///   stored, `.full`, `.failed`; each ends the upload.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(BlobError) {
        // Mutex lets no pointer in, lest it stay in the state; these bytes are only lent for the call.
        let address = UInt(bitPattern: bytes.baseAddress)
        let count = bytes.count
        do throws(BlobError) {
            try state.withLock { state throws(BlobError) in
                let bytes = UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: address), count: count)
                guard let descriptor = state.descriptor else { throw .uploadEnded(digest) }
                guard UInt64(bytes.count) <= length - state.received else {
                    throw .tooLong(digest, announced: length)
                }
                do throws(DurableError) {
                    try CrashPoint.reached("blob.write", incoming)
                    try Self.writeAll(bytes, to: descriptor, incoming)
                } catch {
                    throw Self.error(error, store, length)
                }
                state.stream?.update(bytes)
                state.received += UInt64(bytes.count)
            }
        } catch {
            abandon()
            throw error
        }
    }

    /// Compares length and digest, and makes the blob appear, durably and read-only.
    ///
    /// Two uploads of one blob may both finish; the second replaces the first
    /// by the same bytes.
    ///
    /// - Throws: `BlobError.tooShort`, `.digestMismatch`, `.full` or `.failed`;
    ///   each ends the upload, and a blob that was there before stays.
    package func finish() throws(BlobError) {
        do throws(BlobError) {
            try state.withLock { state throws(BlobError) in
                guard let descriptor = state.descriptor else { throw .uploadEnded(digest) }
                guard state.received == length else {
                    throw .tooShort(digest, announced: length, received: state.received)
                }
                guard let found = state.stream.take()?.finish() else { throw .uploadEnded(digest) }
                guard found == digest else { throw .digestMismatch(expected: digest, found: found) }
                do throws(DurableError) {
                    try publish(descriptor)
                } catch {
                    throw Self.error(error, store, length)
                }
                close(descriptor)
                state.descriptor = nil
            }
        } catch {
            abandon()
            throw error
        }
    }

    /// Lets go of the bytes; after ``finish()`` it does nothing.
    package func abandon() {
        state.withLock { state in
            guard let descriptor = state.descriptor else { return }
            close(descriptor)
            unlink(incoming)
            state.descriptor = nil
        }
    }

    /// Fails now rather than after gigabytes, when the disk cannot hold them.
    private func reserve(_ wanted: off_t, _ descriptor: Int32) throws(BlobError) {
        guard wanted > 0, clinux_reserve(descriptor, wanted) != 0 else { return }
        switch errno {
        // The file system cannot reserve, or a signal came: a full disk then shows while writing.
        case EOPNOTSUPP, ENOSYS, EINTR: return
        case ENOSPC, EDQUOT, EFBIG: throw .full(directory: store, needed: length)
        default: throw .failed(.system("reserve room for", incoming))
        }
    }

    private func publish(_ descriptor: Int32) throws(DurableError) {
        let place = BlobPlace(store: store, digest: digest)
        guard fchmod(descriptor, 0o444) == 0 else { throw .system("set the mode of", incoming) }
        try Durable.synchronize(descriptor, incoming)
        try CrashPoint.reached("blob.synchronized", place.file)
        try Durable.makeDirectory(place.directory)
        // Also when another upload has just made the folder and not yet come to this.
        try Durable.synchronizeDirectory(store)
        guard rename(incoming, place.file) == 0 else { throw .system("rename", incoming) }
        try CrashPoint.reached("blob.renamed", place.file)
        try Durable.synchronizeDirectory(place.directory)
    }

    private static func writeAll(
        _ bytes: UnsafeRawBufferPointer,
        to descriptor: Int32,
        _ path: String
    ) throws(DurableError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { throw .system("write", path) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
    }

    private static func error(_ error: DurableError, _ store: String, _ length: UInt64) -> BlobError {
        error.isOutOfSpace ? .full(directory: store, needed: length) : .failed(error)
    }
}

/// Where a blob lies: `<store>/<first two digits>/<64 digits>`.
struct BlobPlace {
    let directory: String
    let file: String

    init(store: String, digest: Digest) {
        let name = digest.hex
        directory = "\(store)/\(name.prefix(2))"
        file = "\(directory)/\(name)"
    }
}
