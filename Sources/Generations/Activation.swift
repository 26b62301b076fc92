import Durable
import Glibc
package import Names

/// Making a generation and switching to it.
///
/// Order, which is the whole of crash safety: every version directory is on the
/// disk (`install` saw to it); the new generation is written beside the others
/// and put on the disk; then one rename replaces `current`. A crash before the
/// rename leaves the old generation active and some left-overs that the next
/// collection removes; a crash after it leaves the new one.
extension DeviceDirectory {
    /// Makes `path` a device directory, or opens the one that is there.
    package static func create(_ path: String) throws(GenerationError) -> DeviceDirectory {
        try onDisk { () throws(DurableError) in
            for part in ["generations", "versions", "incoming", "trust"] {
                try Durable.makeDirectory("\(path)/\(part)")
            }
        }
        return try open(path)
    }

    /// Activates a new generation of exactly these models.
    ///
    /// - Parameters:
    ///   - models: The complete set; may be empty.
    ///   - created: Written into the record.
    /// - Returns: The new generation, read back from the disk.
    /// - Throws: `GenerationError`; on any error before the rename the old generation stays active.
    @discardableResult
    package func activate(
        _ models: [GenerationRecord.Model],
        created: UnixTime
    ) throws(GenerationError) -> ActiveGeneration {
        let current = (try? activeGeneration())?.record.models ?? []
        var leases: [DirectoryLease] = []
        // What is active already is carried over as it is: damage there must not keep the others from moving.
        for model in models where !current.contains(model) {
            let directory = "\(path)/\(model.identity.relativePath)"
            guard let lease = try DirectoryLease.shared(directory) else {
                throw .damaged(path: directory, expected: "an installed version", found: "nothing")
            }
            leases.append(lease)
            _ = try ActiveModel(model, in: self)
        }
        // A damaged pointer is about to be replaced by a sound one.
        let previous = (try? activePointer()) ?? nil
        let (number, own) = try newGeneration(after: previous)
        guard
            let record = GenerationRecord(
                number: number,
                previous: previous,
                created: created,
                models: models
            )
        else { throw .unfit(reason: "generation \(number) would hold a model twice") }
        let name = Self.name(ofGeneration: number)
        let directory = "\(generationsPath)/\(name)"
        try onDisk { () throws(DurableError) in
            try write(record, into: directory)
            try CrashPoint.reached("generation.written", directory)
            try CrashPoint.reached("activate.before-rename", currentPath)
            try Durable.makeWay(at: currentPath)
            try Durable.replaceLink(currentPath, destination: "generations/\(name)")
            try CrashPoint.reached("activate.after-rename", currentPath)
        }
        withExtendedLifetime((leases, own)) {}
        return try ActiveGeneration(number: number, in: self)
    }

    /// Takes a number that no generation has, and its directory, in use until it is active.
    ///
    /// Counts on from the active one, whether or not that is whole; without a
    /// pointer, from the highest that is there.
    private func newGeneration(
        after active: UInt64?
    ) throws(GenerationError) -> (UInt64, DirectoryLease) {
        let names = try onDisk { () throws(DurableError) in try Durable.names(in: generationsPath) }
        let highest = active ?? names.compactMap { Self.number(ofGeneration: $0) }.max() ?? 0
        var number = highest + 1
        while true {
            guard number <= Self.highestNumber else {
                throw .unfit(
                    reason:
                        "\(generationsPath) holds the highest number that a generation may have; move away what "
                        + "is not of this device"
                )
            }
            let directory = "\(generationsPath)/\(Self.name(ofGeneration: number))"
            if mkdir(directory, 0o755) == 0 {
                if let lease = try DirectoryLease.shared(directory) { return (number, lease) }
            } else if errno != EEXIST {
                throw .disk(.system("create the directory", directory))
            }
            number += 1
        }
    }

    private func write(_ record: GenerationRecord, into directory: String) throws(DurableError) {
        for model in record.models {
            let namespace = "\(directory)/\(model.identity.model.namespace)"
            try Durable.makeDirectory(namespace)
            let link = "\(directory)/\(model.identity.model)"
            guard symlink(model.identity.linkText, link) == 0 else { throw .system("create the link", link) }
        }
        for namespace in Set(record.models.map(\.identity.model.namespace)) {
            try Durable.synchronizeDirectory("\(directory)/\(namespace)")
        }
        try Durable.writeAtomically("\(directory)/generation.json", record.canonical, mode: 0o444)
        try Durable.synchronizeDirectory(directory)
        try Durable.synchronizeDirectory(generationsPath)
    }
}
