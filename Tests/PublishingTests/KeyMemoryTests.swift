import Durable
import Glibc
import Names
import Publishing
import Signing
import Support
import Testing

/// Looks through all memory of this process that it may write to.
private struct Memory {
    /// Both in pages of their own, so that they are not found in themselves.
    private let needle: UnsafeMutableRawBufferPointer
    private let window: UnsafeMutableRawBufferPointer

    /// - Parameters:
    ///   - masked: What is looked for, each byte changed by `mask`, so that the test holds no copy.
    ///   - mask: What it was changed by.
    init?(_ masked: [UInt8], _ mask: UInt8) {
        func pages(_ count: Int) -> UnsafeMutableRawBufferPointer? {
            let start = mmap(nil, count, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            return start == MAP_FAILED
                ? nil : start.map { UnsafeMutableRawBufferPointer(start: $0, count: count) }
        }
        guard let first = pages(4_096), let second = pages(1 << 20) else { return nil }
        for (index, byte) in masked.enumerated() { first[index] = byte ^ mask }
        needle = UnsafeMutableRawBufferPointer(rebasing: first[..<masked.count])
        window = second
    }

    func release() {
        munmap(needle.baseAddress, 4_096)
        munmap(window.baseAddress, window.count)
    }

    /// How often the needle is found.
    func count() throws -> Int {
        let maps = String(
            decoding: try Durable.readFile("/proc/self/maps", maximum: .mebibytes(16)),
            as: UTF8.self
        )
        let memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
        try #require(memory >= 0)
        defer { close(memory) }
        var found = 0
        for line in maps.split(separator: "\n") {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields.count > 1, fields[1].hasPrefix("rw") else { continue }
            let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            if ends.count == 2 { found += count(in: ends[0]..<ends[1], memory) }
        }
        return found
    }

    private func count(in range: Range<UInt>, _ memory: Int32) -> Int {
        let own = [needle, window].compactMap { buffer in
            buffer.baseAddress.map { UInt(bitPattern: $0)..<UInt(bitPattern: $0) + UInt(buffer.count) }
        }
        var found = 0
        var place = range.lowerBound
        while place < range.upperBound {
            // What stands behind or before one of our own is looked at; what is in it is not.
            let step = min(UInt(window.count), range.upperBound - place)
            let end = own.filter { $0.contains(place) }.map(\.upperBound).max()
            if let end {
                place = max(end, place + 4_096) / 4_096 * 4_096
                continue
            }
            let next = own.map(\.lowerBound).filter { (place..<place + step).contains($0) }.min()
            let length = next.map { $0 - place } ?? step
            let count = pread(memory, window.baseAddress, Int(length), off_t(place))
            if count > 0 { found += matches(UnsafeRawBufferPointer(rebasing: window[..<count])) }
            place += length
        }
        if let start = window.baseAddress { memset(start, 0, window.count) }
        return found
    }

    private func matches(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard let wanted = needle.baseAddress else { return 0 }
        var found = 0
        var rest = bytes
        while rest.count >= needle.count, let start = rest.baseAddress,
            let match = memchr(start, Int32(needle[0]), rest.count - needle.count + 1)
        {
            if memcmp(match, wanted, needle.count) == 0 { found += 1 }
            let next = UnsafeRawPointer(match) - start + 1
            rest = UnsafeRawBufferPointer(rebasing: rest[next...])
        }
        return found
    }
}

@Suite("Secrets in memory")
struct KeyMemoryTests {
    private static let mask: UInt8 = 0xA5

    /// A part of a file, masked where it is read to.
    private func masked(_ path: String, _ range: Range<Int>) throws -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        try #require(file >= 0)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: range.count)
        try #require(pread(file, &bytes, bytes.count, off_t(range.lowerBound)) == bytes.count)
        for index in bytes.indices { bytes[index] ^= Self.mask }
        return bytes
    }

    @Test("a key's text and its passphrase are in memory while somebody holds them, and no longer")
    func wiped() throws {
        let scratch = Scratch()
        let plain = scratch.path("plain.pem")
        let sealed = scratch.path("sealed.pem")
        // Random, and never in this process but masked.
        var secret = randomBytes(24)
        let passphrase = secret.map { $0 ^ Self.mask }
        wipe(&secret)
        func unmasked() -> [UInt8] { passphrase.map { $0 ^ Self.mask } }

        var given = unmasked()
        _ = try KeyFile.create(sealed, .ecdsaP256, passphrase: given)
        let looking = try #require(Memory(passphrase, Self.mask))
        defer { looking.release() }
        #expect(try looking.count() >= 1, "the test finds what is there")
        wipe(&given)
        let read = try KeyFile.read(sealed) { () throws(PublishingError) -> [UInt8]? in unmasked() }
        #expect(try looking.count() == 0, "a passphrase, after a key was made and read")
        _ = read.publicKey

        _ = try KeyFile.create(plain, .ecdsaP256, passphrase: nil)
        // Of the middle of the first line, where the private number is.
        let text = try masked(plain, 60..<84)
        let key = try #require(Memory(text, Self.mask))
        defer { key.release() }
        #expect(try key.count() == 0, "a private key's text, after it was written")
        _ = try KeyFile.read(plain) { () throws(PublishingError) -> [UInt8]? in nil }
        #expect(try key.count() == 0, "a private key's text, after it was read")
        let copy = text.map { $0 ^ Self.mask }
        #expect(try key.count() >= 1)
        _ = copy.count
    }
}
