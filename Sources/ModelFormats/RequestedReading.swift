package import Manifest
package import Names

extension ReadingRequest {
    /// Reads what is asked for, and says how that went.
    ///
    /// - Parameter opening: Opens a file by its location.
    /// - Returns: An answer that fits into a manifest's length, whatever the files are.
    package func reading(
        opening: @escaping (_ location: String) throws(FormatError) -> any ByteSource
    ) -> Reading {
        var locations: [FilePath: String] = [:]
        for file in files { locations[file.path] = file.location }
        let list = files.map { VariantFiles.File(path: $0.path, length: $0.length) }
        let sources = VariantFiles(list) { (path) throws(FormatError) in
            guard let location = locations[path] else { throw .unreadable(.unreadable(code: 2)) }
            return try opening(location)
        }
        let found: VariantInspection
        do throws(VariantError) {
            found = try ModelFile.inspect(sources, declared: format, entry: entry)
        } catch {
            if case .unreadable = error.error { return Reading(.unreadable("\(error)")) }
            return Reading(.refused("\(error)"))
        }
        var facts = Reading.Facts(
            entry: found.entry,
            format: found.inspection.format,
            interface: found.inspection.interface,
            requires: found.inspection.requires
        )
        facts.folders = found.folders
        facts.statedVersion = found.inspection.statedVersion
        let reading = Reading(.read(facts))
        guard reading.canonical.count <= Reading.maximumLength else {
            return Reading(.refused("\(found.entry): its interface is longer than a manifest may be"))
        }
        return reading
    }
}
