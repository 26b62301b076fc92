import Durable
import Glibc
package import Names

/// Making a generation and switching to it.
///
/// Order, which is the whole of crash safety: every version directory is on the
/// disk (`install` saw to it); the new generation is written beside the others,
/// its fallback with the ready link after it, then the note of trials, each of
/// them on the disk before the next; then one rename replaces `current`. A crash
/// before the rename leaves the old generation active and some left-overs that
/// the next collection removes; a crash after it leaves the new one.
extension DeviceDirectory {
    /// Makes `path` a device directory, or opens the one that is there.
    ///
    /// What stands in the place of one of its directories, and is none, is deleted: it would be in the way for ever. A
    /// link to a directory may be meant, so it is neither deleted nor followed.
    ///
    /// - Throws: `GenerationError.linked` for such a link.
    package static func create(_ path: String) throws(GenerationError) -> DeviceDirectory {
        try onDisk { () throws(DurableError) in
            try Durable.makeDirectory(path)
        }
        try DeviceDirectory(path: path).checkLinks()
        try onDisk { () throws(DurableError) in
            for part in ["generations", "fallback", "versions", "incoming", "trust"] {
                try Durable.makeDirectory(part, below: path)
            }
            for part in ["device", "receipts", "loading"] {
                try Durable.makeWay(forDirectory: "\(path)/\(part)")
            }
        }
        let device = try open(path)
        device.keepBallast()
        return device
    }

    /// Refuses a link to a directory in the place of one of this one's own: what is written there would be elsewhere.
    ///
    /// - Throws: `GenerationError.linked`.
    package func checkLinks() throws(GenerationError) {
        for part in [
            "generations", "fallback", "versions", "incoming", "trust", "device", "receipts", "loading",
        ] {
            let place = "\(path)/\(part)"
            guard
                let target = try onDisk({ () throws(DurableError) in try Durable.destination(ofLink: place) }
                ),
                Durable.isDirectory(place)
            else { continue }
            throw .linked(path: place, target: target)
        }
    }

    /// Activates a new generation of exactly these models.
    ///
    /// - Parameters:
    ///   - models: The complete set; may be empty.
    ///   - created: Written into the record.
    ///   - forbidden: What may not be gone back to: recalled, denied or quarantined.
    ///   - bounds: For a model that its app has to confirm, within what.
    ///   - extras: Whether it needs its way back and the note of its trials.
    /// - Returns: The new generation, read back from the disk.
    /// - Throws: `GenerationError`; on any error before the rename the old generation stays active.
    @discardableResult
    package func activate(
        _ models: [GenerationRecord.Model],
        created: UnixTime,
        forbidden: (Digest) -> Bool = { _ in false },
        bounds: (ModelName) -> TrialBounds? = { _ in nil },
        extras: Extras = .needed
    ) throws(GenerationError) -> ActiveGeneration {
        let active = try? activeGeneration()
        let current = active?.record.models ?? []
        var leases: [DirectoryLease] = []
        // What is active already is carried over as it is: damage there must not keep the others from moving.
        for model in models where !current.contains(where: { $0.identity == model.identity }) {
            leases.append(try leaseOfSound(model))
        }
        // A damaged pointer is about to be replaced by a sound one.
        let previous = (try? activePointer()) ?? nil
        let (number, own) = try newGeneration(after: previous?.number)
        func record(_ models: [GenerationRecord.Model]) throws(GenerationError) -> GenerationRecord {
            let record = GenerationRecord(
                number: number,
                previous: previous?.number,
                leftFallback: previous?.isFallback ?? false,
                created: created,
                models: models
            )
            guard let record else { throw .unfit(reason: "generation \(number) would hold a model twice") }
            return record
        }
        let trials = try note(Trials.self)
        let good = FallbackRule.models(
            of: models,
            over: current,
            fallback: active.flatMap { self.fallback(of: $0) }?.record.models ?? [],
            trials: trials,
            forbidden: forbidden
        )
        let next = try record(models)
        let wayBack = try record(try sound(good, among: models, &leases))
        let place = GenerationPlace.generation(number)
        try onDisk { () throws(DurableError) in
            try write(next, into: "\(path)/\(place.relativePath)")
            try Durable.synchronizeDirectory(generationsPath)
            try CrashPoint.reached("generation.written", place.relativePath)
            try extras.make { () throws(DurableError) in try writeFallback(wayBack) }
            try CrashPoint.reached("fallback.written", place.relativePath)
        }
        // Read again: an app may have confirmed a version while the generation was written.
        try extras.make { () throws(GenerationError) in
            try changeTrials { $0 = $0.activating(models, over: current, since: created, bounds: bounds) }
        }
        try onDisk { () throws(DurableError) in
            try CrashPoint.reached("activate.before-rename", currentPath)
            try Durable.makeWay(at: currentPath)
            try Durable.replaceLink(currentPath, destination: place.relativePath)
            try CrashPoint.reached("activate.after-rename", currentPath)
        }
        withExtendedLifetime((leases, own)) {}
        return try ActiveGeneration(place, in: self)
    }

    /// What belongs to a generation and is not it: its way back, and the note of its trials.
    package enum Extras {
        case needed

        /// Where something in the directory is in their way, it is done without them: a version that may not run is
        /// left all the same.
        case ifPossible

        fileprivate func make<Failure: Error>(_ steps: () throws(Failure) -> Void) throws(Failure) {
            do throws(Failure) { try steps() } catch {
                if case .needed = self { throw error }
            }
        }
    }

    /// Opens a version that is about to be active and keeps it from being collected.
    private func leaseOfSound(_ model: GenerationRecord.Model) throws(GenerationError) -> DirectoryLease {
        let directory = "\(path)/\(model.identity.relativePath)"
        guard let lease = try DirectoryLease.shared(directory) else {
            throw .damaged(path: directory, expected: "an installed version", found: "nothing")
        }
        _ = try ActiveModel(model, in: self)
        return lease
    }

    /// Those that can be gone back to: not damaged, unless the generation has the same.
    private func sound(
        _ fallback: [GenerationRecord.Model],
        among next: [GenerationRecord.Model],
        _ leases: inout [DirectoryLease]
    ) throws(GenerationError) -> [GenerationRecord.Model] {
        var sound: [GenerationRecord.Model] = []
        for model in fallback {
            if next.contains(model) {
                sound.append(model)
                continue
            }
            do {
                leases.append(try leaseOfSound(model))
                sound.append(model)
            } catch {
                if case .disk = error { throw error }
            }
        }
        return sound
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
            if try onDisk({ () throws(DurableError) in try Durable.makeNewDirectory(directory) }) {
                if let lease = try DirectoryLease.shared(directory) { return (number, lease) }
            }
            number += 1
        }
    }

    /// Writes a record and the links it names, and puts them on the disk.
    func write(_ record: GenerationRecord, into directory: String) throws(DurableError) {
        for model in record.models {
            try Durable.makeDirectory("\(directory)/\(model.identity.model.namespace)")
            try Durable.makeLink("\(directory)/\(model.identity.model)", destination: model.identity.linkText)
        }
        for namespace in Set(record.models.map(\.identity.model.namespace)) {
            try Durable.synchronizeDirectory("\(directory)/\(namespace)")
        }
        try Durable.writeAtomically("\(directory)/generation.json", record.canonical, mode: 0o444)
        try Durable.synchronizeDirectory(directory)
    }
}
