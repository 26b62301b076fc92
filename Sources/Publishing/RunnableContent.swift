import ModelFormats
package import Names

/// Content that runs code of its author when the usual library opens it, under whatever name it lies.
package enum RunnableContent: Equatable, Sendable {
    case pickle

    /// An archive as PyTorch writes it, or any with a pickle in it.
    case pickleArchive(member: String)

    /// A NumPy array of Python objects, which are pickled.
    case objectArray

    /// A NumPy array whose elements nobody can see without unpacking it.
    case packedArray(member: String)

    /// A Keras model, in which a Lambda layer is code.
    case keras

    /// HDF5, as older Keras models are.
    case hdf5

    /// Begins as an archive and has no list of what is in it.
    case brokenArchive

    /// Archives in archives, deeper than anybody looks here.
    case deepArchive

    /// Compressed, so that nobody sees what is in it without unpacking it.
    case packed(Packing)

    /// An archive with a member that is compressed.
    case packedMember(String)

    /// How many archives, each in the one before, are looked into.
    private static let deepest = 3

    /// Looks at the head of a file, at the operations of a pickle, and at an archive's list and members.
    ///
    /// - Returns: `nil` for content that nothing here knows as code.
    /// - Throws: `ByteSourceError` when the file cannot be read.
    package static func found(in source: any ByteSource) throws(ByteSourceError) -> RunnableContent? {
        try found(in: source, depth: 0)
    }

    private static func found(
        in source: any ByteSource,
        depth: Int
    ) throws(ByteSourceError) -> RunnableContent? {
        let head = try source.bytes(at: 0, count: Int(min(source.length, 8)))
        if head.starts(with: [0x93] + Array("NUMPY".utf8)) {
            return try NumPyHeader.holdsObjects(source) ? .objectArray : nil
        }
        if try isHDF5(source) { return .hdf5 }
        if let archive = try ZipDirectory(source) {
            if let found = try found(in: archive, of: source, depth) { return found }
        } else if head.starts(with: Array("PK\u{3}\u{4}".utf8)) {
            return .brokenArchive
        }
        if let packing = try Packing(source) { return .packed(packing) }
        if let archive = try TarArchive(source) {
            guard archive.isWhole else { return .brokenArchive }
            guard depth < deepest else { return .deepArchive }
            for member in archive.members {
                let part = PartOfSource(source, member.place)
                if let found = try found(in: part, depth: depth + 1) { return found.inside(member.name) }
            }
        }
        return try PickleWalk.isPickle(source) ? .pickle : nil
    }

    private static func found(
        in archive: ZipDirectory,
        of source: any ByteSource,
        _ depth: Int
    ) throws(ByteSourceError) -> RunnableContent? {
        let names = archive.members.map { String(decoding: $0.name, as: UTF8.self).lowercased() }
        if names.contains("config.json"),
            names.contains("metadata.json") || names.contains("model.weights.h5")
        {
            return .keras
        }
        for (name, member) in zip(names, archive.members) {
            if PickleFile.names.contains(where: { name.hasSuffix($0) }) {
                return .pickleArchive(member: name)
            }
            guard let place = member.stored else {
                // Packed bytes are not unpacked here, and whoever opens them may do so by any name.
                return name.hasSuffix(".npy") ? .packedArray(member: name) : .packedMember(name)
            }
            guard depth < deepest else { return .deepArchive }
            let part = PartOfSource(source, place)
            if let found = try found(in: part, depth: depth + 1) { return found.inside(name) }
        }
        return nil
    }

    /// What an archive is that has this as a member.
    private func inside(_ name: String) -> RunnableContent {
        switch self {
        case .pickle: .pickleArchive(member: name)
        case .packed: .packedMember(name)
        default: self
        }
    }

    /// HDF5 begins at 0, or behind a block of 512 bytes or twice as many again and again (HDF5 3.0, II.A).
    private static func isHDF5(_ source: any ByteSource) throws(ByteSourceError) -> Bool {
        let signature: [UInt8] = [0x89, 0x48, 0x44, 0x46, 0x0D, 0x0A, 0x1A, 0x0A]
        var place: UInt64 = 0
        while source.length >= 8, place <= source.length - 8 {
            if try source.bytes(at: place, count: 8) == signature { return true }
            place = place == 0 ? 512 : place * 2
        }
        return false
    }
}

extension RunnableContent: CustomStringConvertible {
    /// What it is, and what instead: the end of a sentence that names the file.
    package var description: String {
        switch self {
        case .pickle:
            "is a Python pickle, whatever its name; it runs its author's code when it is opened; convert it "
                + "(safetensors)"
        case .pickleArchive(let member):
            "is an archive with a Python pickle, \(member), which runs its author's code when it is opened; "
                + "convert it (safetensors)"
        case .objectArray:
            "is a NumPy array of Python objects, which are pickled and run code when they are opened; save it "
                + "with numbers alone"
        case .packedArray(let member):
            "holds a compressed NumPy array, \(member), which cannot be looked into; save it with numpy.savez"
        case .keras: "is a Keras archive, in which a Lambda layer is code; export the model to ONNX or TFLite"
        case .hdf5:
            "is HDF5, in which a Keras model keeps the code of its Lambda layers; export the model to ONNX or "
                + "TFLite, or data to safetensors"
        case .brokenArchive:
            "begins as an archive, and the list of what is in it cannot be read; pack it anew, or leave it out"
        case .deepArchive:
            "holds archives in archives, which are looked into to a depth of \(Self.deepest); unpack them, or leave it out"
        case .packed(let packing):
            "is compressed (\(packing.rawValue)), so it cannot be looked into, and a Python pickle in it would run its "
                + "author's code when it is opened; put it there unpacked"
        case .packedMember(let member):
            "is an archive with a compressed member, \(member), which cannot be looked into; pack it anew without "
                + "compression, or put its files there"
        }
    }
}

/// The header of a NumPy array file (NumPy Enhancement Proposal 1), a Python literal.
private enum NumPyHeader {
    /// Whether the elements are, or may be, objects: only types that are plainly others are not.
    static func holdsObjects(_ source: any ByteSource) throws(ByteSourceError) -> Bool {
        guard source.length >= 12 else { return false }
        let start = try source.bytes(at: 0, count: 12)
        let isShort = start[6] == 1
        let width = isShort ? 2 : 4
        let length = start[8..<(8 + width)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        guard length <= 65_536, UInt64(8 + width) + length <= source.length else { return true }
        let header = try source.bytes(at: UInt64(8 + width), count: Int(length))
        // An escape or a comment would say the same in another spelling.
        guard !header.contains(UInt8(ascii: "\\")), !header.contains(UInt8(ascii: "#")),
            let found = words(in: header)
        else { return true }
        return found.contains(where: namesObjects)
    }

    /// The quoted texts; `nil` when one does not end, or two stand together and so are one.
    private static func words(in header: [UInt8]) -> [[UInt8]]? {
        var words: [[UInt8]] = []
        var place = header.startIndex
        var isBehindWord = false
        while place < header.endIndex {
            let byte = header[place]
            place += 1
            guard byte == 0x27 || byte == 0x22 else {
                if byte > 0x20 { isBehindWord = false }
                continue
            }
            guard !isBehindWord, let end = header[place...].firstIndex(of: byte) else { return nil }
            words.append(Array(header[place..<end]))
            place = end + 1
            isBehindWord = true
        }
        return words
    }

    /// `O`, `|O`, `|O8`, `object`, and lists of types in one text.
    private static func namesObjects(_ word: [UInt8]) -> Bool {
        let text = String(decoding: word, as: UTF8.self)
        if text == "object" || text == "object_" || text.contains(",") { return true }
        let letters = text.filter { !"<>=|".contains($0) && !$0.isNumber && $0 != " " }
        return letters == "O"
    }
}

/// A stretch of another source.
private struct PartOfSource: ByteSource {
    private let whole: any ByteSource
    private let place: Range<UInt64>

    init(_ whole: any ByteSource, _ place: Range<UInt64>) {
        self.whole = whole
        self.place = place
    }

    var length: UInt64 { place.upperBound - place.lowerBound }

    func bytes(at offset: UInt64, count: Int) throws(ByteSourceError) -> [UInt8] {
        guard count >= 0, offset <= length, UInt64(count) <= length - offset else {
            throw .outOfBounds(offset: offset, count: count, length: length)
        }
        return try whole.bytes(at: place.lowerBound + offset, count: count)
    }
}
