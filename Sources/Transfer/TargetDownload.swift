import Blocking
import Durable
import Glibc
import Names
import Signing
package import Trust

extension CurlFetcher {
    /// Downloads a target, digesting it as it comes, and puts it in its place when all of it is as signed.
    ///
    /// What is at `path` already and is the target stays, without a request. A
    /// file of another content is replaced in one step at the end, and kept on
    /// any error.
    ///
    /// - Throws: ``FetchError``, also for fewer or more bytes than signed, another digest, or a digest nobody
    ///   here computes.
    package func download(_ target: TargetFile, from url: String, to path: String) async throws(FetchError) {
        let cancellation = Cancellation()
        try await BlockingPool.shared.run(cancelling: cancellation) { () throws(FetchError) in
            guard !TargetDigests.match(target, fileAt: path) else { return }
            try self.get(target, url, path, cancellation)
        }
    }

    private func get(
        _ target: TargetFile,
        _ url: String,
        _ path: String,
        _ cancellation: Cancellation
    ) throws(FetchError) {
        let address = try WebAddress(url, allowsPlainLoopback: configuration.allowsPlainLoopback)
        let folder = Durable.parent(of: path)
        let temporary = "\(folder)/.\(path.dropFirst(folder.utf8.count + 1)).part"
        let file: PartialFile
        do throws(DurableError) {
            file = try PartialFile(temporary)
            try file.truncate(0)
        } catch {
            throw .storage(error)
        }
        var isInPlace = false
        defer { if !isInPlace { unlink(temporary) } }
        let pace = Pace(
            deadline: nil,
            stallSeconds: configuration.stallSeconds,
            minimumRate: configuration.minimumRate
        )
        let call = Call(.get, address, pace: pace, cancellation: cancellation)
        let body = TargetBody(target, file)
        call.onHead = { head in body.judge(head) }
        call.onBody = { bytes in body.take(bytes) }
        try perform(call)
        try body.checkEnd(call)
        do throws(DurableError) {
            fchmod(file.descriptor, 0o644)
            try file.synchronize()
            try Durable.rename(temporary, to: path)
            isInPlace = true
            try Durable.synchronizeDirectory(folder)
        } catch {
            throw .storage(error)
        }
    }
}

/// Takes the bytes of one target, never more than are signed.
private final class TargetBody {
    private let target: TargetFile
    private let file: PartialFile
    private var digests: TargetDigests? = TargetDigests()
    private var received: UInt64 = 0
    private var dropped = 0
    private var isTarget = false
    private var failure: DurableError?

    init(_ target: TargetFile, _ file: PartialFile) {
        self.target = target
        self.file = file
    }

    func judge(_ head: AnswerHead) -> Call.Verdict {
        guard head.status == 200 else { return .goOn }
        isTarget = true
        guard let length = head.length, length > target.length else { return .goOn }
        return .refuse(.tooLong(limit: ByteCount(rawValue: target.length), announced: length))
    }

    func take(_ bytes: UnsafeRawBufferPointer) -> Call.Verdict {
        guard isTarget else {
            dropped += bytes.count
            return dropped > 16 << 10 ? .enough : .goOn
        }
        guard UInt64(bytes.count) <= target.length - received else {
            return .refuse(.tooLong(limit: ByteCount(rawValue: target.length), announced: nil))
        }
        do throws(DurableError) { try file.write(bytes, at: received) } catch {
            failure = error
            return .stop
        }
        digests?.update(bytes)
        received += UInt64(bytes.count)
        return .goOn
    }

    func checkEnd(_ call: Call) throws(FetchError) {
        if let failure { throw .storage(failure) }
        guard isTarget else { throw call.head.failure(call.address.url) }
        guard received == target.length else {
            throw .outage(.cutOff(received: received, expected: target.length), url: call.address.url)
        }
        if let digests = digests.take(), let algorithm = digests.mismatch(with: target) {
            throw .refused(.target(algorithm: algorithm), url: call.address.url)
        }
    }
}

/// Both digests that TUF files name, of bytes that come in pieces.
private struct TargetDigests: ~Copyable {
    private var sha256 = DigestStream()
    private var sha512 = SHA512Stream()

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        sha256.update(bytes)
        sha512.update(bytes)
    }

    /// - Returns: An algorithm by which the bytes are not the target, also one that is not computed here.
    consuming func mismatch(with target: TargetFile) -> String? {
        let found = ["sha256": sha256.finish().bytes, "sha512": sha512.finish()]
        return target.hashes.sorted { $0.key < $1.key }.first { found[$0.key] != $0.value }?.key
    }

    static func match(_ target: TargetFile, fileAt path: String) -> Bool {
        guard let descriptor = try? Durable.openForReading(path) else { return false }
        defer { close(descriptor) }
        var digests = TargetDigests()
        var length: UInt64 = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
        defer { buffer.deallocate() }
        while length <= target.length {
            let count = read(descriptor, buffer.baseAddress, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { return false }
            guard count > 0 else {
                guard length == target.length else { return false }
                return digests.mismatch(with: target) == nil
            }
            digests.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            length += UInt64(count)
        }
        return false
    }
}
