import Durable
package import Names

/// What an app that loads models found out about a version: it does not work here.
extension DeviceDirectory {
    /// Takes a version into the quarantine, and makes the one before it active where there is one.
    ///
    /// Whatever comes after the note is a courtesy to other readers: a version in
    /// the quarantine is lent to nobody by `ModelLibrary`, and no sync takes it again.
    ///
    /// - Parameters:
    ///   - identity: The version that could not be used.
    ///   - reason: What happened, for people.
    ///   - now: When.
    /// - Throws: `GenerationError.disk` when the note cannot be written, as on a read-only disk; nothing changed then.
    package func condemn(
        _ identity: VersionIdentity,
        reason: String,
        at now: UnixTime
    ) throws(GenerationError) {
        try changeQuarantine { $0.add(Quarantine.Entry(identity, reason: reason, time: now)) }
        guard let active = try activeGeneration(),
            active.record.models.contains(where: { $0.identity == identity })
        else { return }
        let unwanted = Set(try note(Quarantine.self).entries.map(\.manifest))
            .union(try trustState()?.recalled ?? [])
        let earlier = generations(before: active).lazy.compactMap { $0.record.model(identity.model) }
            .first { $0.identity != identity && !unwanted.contains($0.identity.manifest) }
        guard let earlier else { return }
        let models = active.record.models.map { model in
            guard model.identity == identity else { return model }
            return GenerationRecord.Model(
                identity: earlier.identity,
                entry: earlier.entry,
                channel: earlier.channel,
                reason: "\(identity.version) is quarantined on this device: \(reason)"
            )
        }
        _ = try? leave(for: models, from: active, at: now) { unwanted.contains($0) }
    }

    /// What of `models` was taken into the quarantine although `known` does not say so: meanwhile, by an app.
    private func condemned(
        among models: [GenerationRecord.Model],
        except known: Set<Digest>
    ) throws(GenerationError) -> [(identity: VersionIdentity, reason: String)] {
        let quarantine = try note(Quarantine.self)
        return models.map(\.identity).compactMap { identity in
            guard !known.contains(identity.manifest) else { return nil }
            return quarantine[identity.manifest].map { (identity, $0.reason) }
        }
    }

    /// Activates what a sync chose, unless an app has condemned some of it since.
    ///
    /// An app writes its note and then looks at what is active; here it is the
    /// other way round, once more after the switch. So one of the two sees what
    /// the other did, and without a lock no condemned version stays active
    /// where another stands behind it.
    ///
    /// - Parameters:
    ///   - models: The complete set.
    ///   - place: What was active when they were chosen.
    ///   - created: Written into the record.
    ///   - forbidden: What is recalled, denied or quarantined, as far as the sync knows.
    ///   - bounds: For a model that its app has to confirm, within what.
    /// - Returns: The new generation; `nil` when another became active meanwhile.
    /// - Throws: `GenerationError`, as of `activate`; `.condemned` for the first that was condemned, once it is left.
    package func activate(
        _ models: [GenerationRecord.Model],
        chosenOver place: GenerationPlace?,
        created: UnixTime,
        forbidden: Set<Digest>,
        bounds: (ModelName) -> TrialBounds?
    ) throws(GenerationError) -> ActiveGeneration? {
        guard (try? activeGeneration())?.place == place else { return nil }
        if let first = try condemned(among: models, except: forbidden).first {
            throw .condemned(first.identity, reason: first.reason)
        }
        let generation = try activate(
            models,
            created: created,
            forbidden: { forbidden.contains($0) },
            bounds: bounds
        )
        let late = (try? condemned(among: models, except: forbidden)) ?? []
        for (identity, reason) in late { try condemn(identity, reason: reason, at: created) }
        if let first = late.first { throw .condemned(first.identity, reason: first.reason) }
        return generation
    }

    /// Leaves versions that may not run, each for the best of its `ways` that no app has condemned; else for none.
    ///
    /// What apps condemned is looked at before the switch and once more after it, as by `activate`.
    ///
    /// - Parameters:
    ///   - ways: For each model that has to leave, what can take its place, the best first.
    ///   - active: The active generation.
    ///   - now: Written into the record.
    ///   - forbidden: What is recalled, denied or quarantined, as far as the sync knows.
    ///   - bounds: For a model that its app has to confirm, within what.
    /// - Returns: What is active then.
    /// - Throws: `GenerationError`, as of `leave`.
    package func leave(
        for ways: [ModelName: [GenerationRecord.Model]],
        from active: ActiveGeneration,
        at now: UnixTime,
        forbidden: Set<Digest>,
        bounds: (GenerationRecord.Model) -> TrialBounds?
    ) throws(GenerationError) -> ActiveGeneration {
        let left = active.record.models.filter { ways[$0.identity.model] != nil }
        var refused = forbidden.union(left.map(\.identity.manifest))
        var standing = active
        while true {
            // A note that cannot be read holds nothing up.
            refused.formUnion(((try? note(Quarantine.self))?.entries ?? []).map(\.manifest))
            let taken = ways.mapValues { way in way.first { !refused.contains($0.identity.manifest) } }
            let models = active.record.models.compactMap { model in taken[model.identity.model] ?? model }
            standing = try leave(
                for: models,
                from: standing,
                at: now,
                forbidden: { refused.contains($0) },
                bounds: { name in models.first { $0.identity.model == name }.flatMap(bounds) }
            )
            let chosen = taken.values.compactMap { $0 }
            let late = (try? condemned(among: chosen, except: refused)) ?? []
            guard !late.isEmpty else { return standing }
        }
    }

    /// Changes the note about what is not taken again, one writer after the other.
    ///
    /// Its lock is a courtesy between writers; where it cannot be had, a lost change costs one more try of a version.
    package func changeQuarantine(_ change: (inout Quarantine) -> Void) throws(GenerationError) {
        let lock = quarantineLock()
        defer { withExtendedLifetime(lock) {} }
        var quarantine = try note(Quarantine.self)
        change(&quarantine)
        try save(quarantine)
    }

    /// The same, once what the active fallback says of the versions that were left is noted.
    ///
    /// - Parameters:
    ///   - active: The active generation.
    ///   - now: The time; `nil` when no clock can be believed.
    ///   - time: When it is noted.
    ///   - change: What is changed after that.
    /// - Throws: `GenerationError.disk` when a note cannot be read or written.
    package func settleQuarantine(
        _ active: ActiveGeneration?,
        at now: UnixTime?,
        noted time: UnixTime,
        then change: (inout Quarantine) -> Void = { _ in }
    ) throws(GenerationError) {
        let lock = quarantineLock()
        defer { withExtendedLifetime(lock) {} }
        var quarantine = try self.quarantine(active, at: now, noted: time)
        change(&quarantine)
        try save(quarantine)
    }

    private func quarantineLock() -> DirectoryLock? {
        try? DirectoryLock("\(path)/quarantine.lock", waiting: 2)
    }
}
