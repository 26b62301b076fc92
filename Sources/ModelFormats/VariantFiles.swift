import Manifest
package import Names

/// The files of one variant, wherever they lie.
package struct VariantFiles {
    package struct File: Equatable, Sendable {
        package let path: FilePath
        package let length: UInt64

        package init(path: FilePath, length: UInt64) {
            self.path = path
            self.length = length
        }
    }

    /// Sorted by path.
    package let files: [File]
    private let lengths: [FilePath: UInt64]
    private let opening: (FilePath) throws(FormatError) -> any ByteSource

    /// Takes a list of files, and how each is opened when it must be read.
    package init(
        _ files: [File],
        opening: @escaping (FilePath) throws(FormatError) -> any ByteSource
    ) {
        self.files = files.sorted { $0.path < $1.path }
        lengths = Dictionary(files.map { ($0.path, $0.length) }, uniquingKeysWith: { first, _ in first })
        self.opening = opening
    }

    func has(_ path: FilePath) -> Bool { lengths[path] != nil }

    func length(of path: FilePath) -> UInt64? { lengths[path] }

    func open(_ path: FilePath) throws(VariantError) -> any ByteSource {
        do { return try opening(path) } catch { throw VariantError(path, error) }
    }

    /// Every file that the model at `entry` needs must be there, and long enough.
    func check(_ external: [ExternalFile], of entry: FilePath) throws(VariantError) {
        for wanted in external {
            let place = entry.folder + wanted.path.description
            guard let path = FilePath(place), let length = lengths[path] else {
                throw VariantError(nil, .files(.opaque, .missing(place, neededBy: "\(entry)")))
            }
            guard length >= wanted.requiredLength else {
                let problem = FormatError.VariantProblem.tooShort(
                    place,
                    found: length,
                    needed: wanted.requiredLength,
                    neededBy: "\(entry)"
                )
                throw VariantError(nil, .files(.opaque, problem))
            }
        }
    }
}

/// Why a variant's files are not taken, and which file it is about.
package struct VariantError: Error, Equatable, Sendable, CustomStringConvertible {
    /// `nil` when the error names what it is about.
    package let path: FilePath?
    package let error: FormatError

    init(_ path: FilePath?, _ error: FormatError) {
        self.path = path
        self.error = error
    }

    package var description: String { (path.map { "\($0): " } ?? "") + "\(error)" }
}

extension FilePath {
    /// Everything before the last segment, with its `/`; empty at the top.
    var folder: String { segments.dropLast().map { $0 + "/" }.joined() }

    var name: String { segments.last ?? "" }

    /// Whether the name ends so, in any case.
    func has(suffix: String) -> Bool { name.lowercased().hasSuffix(suffix) }
}
