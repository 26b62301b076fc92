import Durable
package import Names

/// The directory on a device that holds its models.
///
///     current -> generations/000042                    the only pointer, replaced by one rename
///     fallback/000042/…                                the same layout: what to go back to from 42
///     fallback/000042.current -> fallback/000042       ready to be renamed onto `current`
///     generations/000042/generation.json               immutable: the complete set of active versions
///     generations/000042/<ns>/<model> -> ../../../versions/<ns>/<model>/<version>-<variant>-<manifest digest>
///     versions/<ns>/<model>/<version>-…/               the variant's files, read-only
///     versions/<ns>/<model>/<version>-….json           the manifest they were checked against
///     incoming/                                        partial downloads
///     trust/                                           signed metadata as received; state.json, its copy, checked
///     trials.json quarantine.json pins.json            what this device noted about versions
///     checked.json groups.json denials.json …          what its syncs noted
///     loading/                                         loads in progress, and those that a process did not survive
///     ballast                                          room that a recall may use when the disk is full
///     lock                                             one sync at a time, as a courtesy
///
/// Opening needs no network, no lock and no write. `current` is resolved once
/// for each opening, so that whoever opened sees one generation whole.
package struct DeviceDirectory: Sendable, Hashable {
    /// With all links resolved.
    package let path: String

    /// Opens the directory at `path`.
    ///
    /// - Throws: `GenerationError.missing` when it is not there.
    package static func open(_ path: String) throws(GenerationError) -> DeviceDirectory {
        guard let real = try FileState.realPath(path) else { throw .missing(path: path) }
        guard try onDisk({ () throws(DurableError) in try Durable.kind(of: real) }) == .directory else {
            throw .missing(path: path)
        }
        return DeviceDirectory(path: real)
    }

    /// A directory that may not be there yet, for looking only: nothing is active in it then.
    package static func assumed(_ path: String) -> DeviceDirectory { DeviceDirectory(path: path) }

    /// The generation that is active now.
    ///
    /// - Returns: `nil` when none was ever activated.
    package func activeGeneration() throws(GenerationError) -> ActiveGeneration? {
        var pointer = try activePointer()
        while let place = pointer {
            do {
                return try ActiveGeneration(place, in: self)
            } catch {
                // It may have been collected between the two looks; only a pointer that stands still is damage.
                let again = try activePointer()
                if again == place { throw error }
                pointer = again
            }
        }
        return nil
    }

    /// The active version of `name`, its files checked by kind and length.
    ///
    /// - Throws: `GenerationError.nothingActive`, `.notActive`, or `.damaged` with the first thing that is wrong.
    package func activeModel(_ name: ModelName) throws(GenerationError) -> ActiveModel {
        while true {
            guard let generation = try activeGeneration() else { throw .nothingActive(directory: path) }
            do {
                return try generation.model(name)
            } catch {
                // Collected meanwhile, if another generation is active by now; else it is as it is.
                if try activePointer() == generation.place { throw error }
            }
        }
    }

    package var currentPath: String { "\(path)/current" }
    package var generationsPath: String { "\(path)/generations" }
    package var fallbackPath: String { "\(path)/fallback" }
    package var versionsPath: String { "\(path)/versions" }
    package var incomingPath: String { "\(path)/incoming" }
    package var trustPath: String { "\(path)/trust" }
    package var lockPath: String { "\(path)/lock" }

    /// `000042`; more digits when six are not enough.
    static func name(ofGeneration number: UInt64) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }

    /// More switches than any device makes, and far from where counting would overflow.
    static let highestNumber: UInt64 = 999_999_999_999

    /// The number that a generation's name says.
    ///
    /// - Returns: `nil` for any name that `name(ofGeneration:)` does not write.
    static func number(ofGeneration name: some StringProtocol) -> UInt64? {
        guard let number = UInt64(String(name)), number <= highestNumber,
            Self.name(ofGeneration: number) == String(name)
        else { return nil }
        return number
    }

    /// The place that `current` points to.
    func activePointer() throws(GenerationError) -> GenerationPlace? {
        guard let text = try linkText(currentPath) else { return nil }
        guard let place = GenerationPlace(text) else {
            throw .damaged(
                path: currentPath,
                expected: "a link to generations/NNNNNN or fallback/NNNNNN",
                found: text
            )
        }
        return place
    }

    /// The text of a link.
    ///
    /// - Returns: `nil` when nothing is there.
    /// - Throws: `GenerationError.damaged` when something else is.
    func linkText(_ path: String) throws(GenerationError) -> String? {
        if let text = try onDisk({ () throws(DurableError) in try Durable.destination(ofLink: path) }) {
            return text
        }
        guard try onDisk({ () throws(DurableError) in try Durable.kind(of: path) }) == nil else {
            throw .damaged(path: path, expected: "a symbolic link", found: "something else")
        }
        return nil
    }

    /// The whole of a regular file.
    ///
    /// - Returns: `nil` when nothing is there.
    func contents(_ path: String, maximum: ByteCount) throws(GenerationError) -> [UInt8]? {
        try onDisk { () throws(DurableError) in try Durable.readFileIfPresent(path, maximum: maximum) }
    }
}
