import CLinux
import Durable
import Glibc
package import Names

/// Room that is kept for leaving a recalled version when the disk is full.
///
/// A recall waits for nobody, and a generation without the recalled version
/// takes a few blocks. So a file holds some, and is given up when it matters.
extension DeviceDirectory {
    static let ballastLength: off_t = 512 << 10

    var ballastPath: String { "\(path)/ballast" }

    /// Puts the ballast in place where there is room to spare; what cannot be had is done without.
    func keepBallast() {
        guard case .none = try? Durable.kind(of: ballastPath),
            let free = try? Durable.freeSpace(at: path), free.rawValue > UInt64(Self.ballastLength) * 4
        else { return }
        let file = clinux_open(ballastPath, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        if clinux_reserve(file, Self.ballastLength) != 0 { unlink(ballastPath) }
    }

    /// Writes what must not be lost, also on a full disk: the ballast goes for it, and comes back with the next sync
    /// that has room.
    package func withRoomForNotes(_ write: () throws(GenerationError) -> Void) throws(GenerationError) {
        do throws(GenerationError) { try write() } catch {
            guard case .disk(let reason) = error, reason.isOutOfSpace else { throw error }
            try make(.withoutBallast, at: UnixTime(rawValue: 0))
            try write()
        }
    }

    /// Leaves versions that may not run any more, also on a full disk.
    ///
    /// Without room, the ballast goes; then everything that can be collected;
    /// and then the fallback is taken, if it holds none of them. What else is wrong
    /// in the directory costs the new generation its way back, and no more.
    ///
    /// - Parameters:
    ///   - models: What stays; the complete set.
    ///   - active: The active generation.
    ///   - now: Written into the record.
    ///   - forbidden: What may not run.
    ///   - bounds: For a model that its app has to confirm, within what.
    /// - Returns: What is active then.
    /// - Throws: `GenerationError`; the old generation is active then.
    package func leave(
        for models: [GenerationRecord.Model],
        from active: ActiveGeneration?,
        at now: UnixTime,
        forbidden: (Digest) -> Bool,
        bounds: (ModelName) -> TrialBounds? = { _ in nil }
    ) throws(GenerationError) -> ActiveGeneration {
        var failure = GenerationError.unfit(reason: "nothing was tried")
        for room in Room.allCases {
            do throws(GenerationError) {
                try make(room, at: now)
                return try activate(models, created: now, forbidden: forbidden, bounds: bounds)
            } catch {
                failure = error
                guard case .disk(let reason) = error, reason.isOutOfSpace else {
                    return try activate(
                        models,
                        created: now,
                        forbidden: forbidden,
                        bounds: bounds,
                        extras: .ifPossible
                    )
                }
            }
        }
        guard let active, let fallback = fallback(of: active), !active.place.isFallback,
            fallback.record.models.allSatisfy({ !forbidden($0.identity.manifest) })
        else { throw failure }
        return try fallBack(from: active)
    }

    /// Ways to get room, the mildest first.
    private enum Room: CaseIterable {
        case asItIs, withoutBallast, collected
    }

    private func make(_ room: Room, at now: UnixTime) throws(GenerationError) {
        switch room {
        case .asItIs: break
        case .withoutBallast:
            try onDisk { () throws(DurableError) in try Durable.removeFile(ballastPath) }
        case .collected: _ = try collect(now: now, retain: 0) { _ in false }
        }
    }
}
