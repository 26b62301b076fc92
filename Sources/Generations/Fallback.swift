import CLinux
import Durable
import Glibc
package import Names

/// The way back, made ready when a generation is made and taken by one rename.
///
///     fallback/000042/…                            a whole generation of its own
///     fallback/000042.current -> fallback/000042   renamed onto `current`, which works on a full disk
extension DeviceDirectory {
    /// What is gone back to from a generation; the fallback itself when that is active.
    ///
    /// - Returns: `nil` when there is none, or it is not whole.
    package func fallback(of active: ActiveGeneration) -> ActiveGeneration? {
        active.place.isFallback ? active : try? ActiveGeneration(.fallback(active.number), in: self)
    }

    /// What the generation holds that its active fallback does not: the versions that were left.
    ///
    /// - Returns: Nothing where a generation is active, or its record cannot be read any more.
    package func versionsLeft(_ active: ActiveGeneration) -> [GenerationRecord.Model] {
        guard active.place.isFallback,
            let generation = try? ActiveGeneration(.generation(active.number), in: self)
        else { return [] }
        return FallbackRule.left(generation.record.models, for: active.record.models)
    }

    /// The versions that were left and are to blame, each with the reason.
    package func failedVersions(
        _ active: ActiveGeneration,
        at now: UnixTime?
    ) throws(GenerationError) -> [(model: GenerationRecord.Model, reason: String)] {
        FallbackRule.failed(among: versionsLeft(active), try note(Trials.self), at: now)
    }

    /// What is not taken again, with the versions that were left and are to blame, unless that is noted already.
    ///
    /// - Parameters:
    ///   - active: The active generation.
    ///   - now: The time; `nil` when no clock can be believed.
    ///   - time: When it is noted.
    /// - Returns: The note as it is to be; nothing is written.
    /// - Throws: `GenerationError.disk` when a note cannot be read.
    package func quarantine(
        _ active: ActiveGeneration?,
        at now: UnixTime?,
        noted time: UnixTime
    ) throws(GenerationError) -> Quarantine {
        var quarantine = try note(Quarantine.self)
        guard let active, active.place.isFallback, quarantine.settled != active.number else {
            return quarantine
        }
        for (model, reason) in try failedVersions(active, at: now) {
            quarantine.add(Quarantine.Entry(model.identity, reason: reason, time: time))
        }
        quarantine.settled = active.number
        return quarantine
    }

    /// Goes back from the active generation to its fallback, by one rename.
    ///
    /// - Parameter active: The generation that failed, as the caller saw it.
    /// - Returns: The fallback, which is active now.
    /// - Throws: `GenerationError.unfit` when there is no way back, or something else became active
    ///   meanwhile; nothing changed then.
    @discardableResult
    package func fallBack(from active: ActiveGeneration) throws(GenerationError) -> ActiveGeneration {
        let place = GenerationPlace.fallback(active.number)
        guard !active.place.isFallback else {
            throw .unfit(reason: "\(path) is on the fallback of generation \(active.number) already")
        }
        guard try activePointer() == active.place else {
            throw .unfit(reason: "another generation than \(active.number) became active; look again")
        }
        let fallback: ActiveGeneration
        do {
            fallback = try ActiveGeneration(place, in: self)
            for model in fallback.record.models where !active.record.models.contains(model) {
                _ = try ActiveModel(model, in: self)
            }
        } catch {
            throw .unfit(reason: "generation \(active.number) has no whole fallback: \(error)")
        }
        try onDisk { () throws(DurableError) in
            try CrashPoint.reached("fall-back.before-rename", currentPath)
            try Durable.replace(currentPath, by: readyLink(active.number))
            try CrashPoint.reached("fall-back.after-rename", currentPath)
            try Durable.synchronizeDirectory(path)
            try Durable.synchronizeDirectory(fallbackPath)
        }
        return fallback
    }

    /// Takes what may no longer run out of the fallback of the active generation.
    ///
    /// Where that fails, the way back is closed: nobody goes back to a version that was recalled.
    ///
    /// - Parameters:
    ///   - active: The active generation.
    ///   - forbidden: What is recalled, denied or quarantined.
    /// - Throws: `GenerationError`, with the way back closed.
    package func purgeFallback(
        of active: ActiveGeneration,
        forbidden: (Digest) -> Bool
    ) throws(GenerationError) {
        guard !active.place.isFallback,
            let fallback = try? ActiveGeneration(.fallback(active.number), in: self),
            fallback.record.models.contains(where: { forbidden($0.identity.manifest) })
        else { return }
        let record = GenerationRecord(
            number: active.number,
            previous: fallback.record.previous,
            leftFallback: fallback.record.leftFallback,
            created: fallback.record.created,
            models: fallback.record.models.filter { !forbidden($0.identity.manifest) }
        )
        do throws(GenerationError) {
            guard let record else { return }
            try onDisk { () throws(DurableError) in try writeFallback(record) }
        } catch {
            try onDisk { () throws(DurableError) in try Durable.removeFile(readyLink(active.number)) }
            throw error
        }
    }

    static let readySuffix = ".current"

    func readyLink(_ number: UInt64) -> String {
        "\(path)/\(GenerationPlace.fallback(number).relativePath)\(Self.readySuffix)"
    }

    /// Writes a fallback under a hidden name and gives it its place, then the ready link.
    func writeFallback(_ record: GenerationRecord) throws(DurableError) {
        let place = GenerationPlace.fallback(record.number)
        let directory = "\(path)/\(place.relativePath)"
        let random = String(UInt64.random(in: 0 ... .max), radix: 16)
        let stage = "\(fallbackPath)/.staging-\(random)"
        try Durable.makeDirectory(stage)
        do throws(DurableError) {
            try write(record, into: stage)
            try CrashPoint.reached("fallback.staged", stage)
            try Durable.exchange(stage, directory)
            try Durable.synchronizeDirectory(fallbackPath)
            try Durable.makeWay(at: readyLink(record.number))
            try Durable.replaceLink(readyLink(record.number), destination: place.relativePath)
        } catch {
            try? Durable.removeTree(stage)
            throw error
        }
        // What an exchange left under the hidden name was the old one.
        try Durable.removeTree(stage)
    }
}
