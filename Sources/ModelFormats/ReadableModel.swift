package import Manifest
package import Names

/// A file, or a package of files, among others that a reader knows.
package struct ReadableModel: Equatable, Sendable {
    package let path: FilePath
    package let format: ModelFormat

    /// Why the reader, which knows it, does not take it; `nil` when it does.
    package let refusal: FormatError?
}

extension ModelFile {
    /// The first of these files that a reader knows, by its content, whatever else lies beside it.
    ///
    /// - Parameter files: All files of a variant.
    /// - Returns: `nil` when all of them are broken or of no known format.
    package static func readable(in files: VariantFiles) -> ReadableModel? {
        if let whole = try? inspect(files), whole.inspection.format != .opaque {
            return ReadableModel(path: whole.entry, format: whole.inspection.format, refusal: nil)
        }
        for candidate in (try? ModelCandidate.all(in: files)) ?? [] {
            guard let found = try? candidate.inspect(files, nil, FormatLimits()),
                found.inspection.format != .opaque
            else { continue }
            return ReadableModel(path: found.entry, format: found.inspection.format, refusal: nil)
        }
        for file in files.files {
            guard let source = try? files.open(file.path) else { continue }
            if let found = readable(source, at: file.path) { return found }
        }
        return nil
    }

    /// Without its name, which could send a reader elsewhere.
    private static func readable(_ source: some ByteSource, at path: FilePath) -> ReadableModel? {
        do throws(FormatError) {
            let format = try inspect(source: source, name: "").format
            return format == .opaque ? nil : ReadableModel(path: path, format: format, refusal: nil)
        } catch {
            guard case .refused(let format, _, _, _) = error else { return nil }
            return ReadableModel(path: path, format: format, refusal: error)
        }
    }
}
