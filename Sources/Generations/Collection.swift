import Durable
import Glibc
package import Names

/// What a collection removed, and what it left because somebody uses it.
package struct CollectionReport: Sendable, Equatable {
    package var generations: [UInt64] = []

    /// Paths from the device directory.
    package var removed: [String] = []
    package var leased: [String] = []
}

/// Deleting what nothing needs.
///
/// Kept: the active generation and its fallback, the one before it, every one
/// that was left less than `retain` seconds ago, what those hold, and whatever
/// has a lease.
/// A directory is renamed out of its name before it is emptied, under an
/// exclusive lease, so that no reader ever opens half of one.
extension DeviceDirectory {
    /// Collects.
    ///
    /// - Parameters:
    ///   - now: For `retain`.
    ///   - retain: Seconds that a generation stays after another took its place.
    ///   - isWanted: Whether a file in `incoming/` is part of unfinished work.
    ///   - mode: `.report` removes nothing.
    /// - Returns: What was removed, or would be.
    /// - Throws: `GenerationError`; what was removed until then is consistent.
    package func collect(
        now: UnixTime,
        retain: Int64,
        isWanted: (String) -> Bool,
        mode: CollectionMode = .remove
    ) throws(GenerationError) -> CollectionReport {
        var report = CollectionReport()
        let kept = try keptGenerations(now: now, retain: retain)
        try collectGenerations(keeping: Set(kept.map(\.place)), mode, &report)
        try collectVersions(
            keeping: Set(kept.flatMap(\.record.models).map(\.identity)),
            mode,
            &report
        )
        let manifests = Set(kept.flatMap(\.record.models).map(\.identity.manifest.hex))
        for name in try names(loadingPath) where !manifests.contains(String(name.prefix { $0 != "." })) {
            try remove("loading/\(name)", mode, &report)
        }
        for name in try names(incomingPath) where !isWanted(name) {
            try remove("incoming/\(name)", mode, &report)
        }
        for folder in ["", "fallback/", "trust/", "trust/targets/", "trust/root_history/", "device/"] {
            // What is the agent's alone is its own to clear up: others of its group collect without it.
            let isPrivate = folder == "device/" && access("\(path)/\(folder)", R_OK | X_OK) != 0
            for name in isPrivate ? [] : try names("\(path)/\(folder)")
            where name.hasPrefix(".") && name.hasSuffix(".partial") {
                try remove(folder + name, mode, &report)
            }
        }
        return report
    }

    /// Every version that a generation or fallback on the disk holds: what this device ran, or made ready.
    package func versionsKnown() throws(GenerationError) -> [GenerationRecord.Model] {
        // Fallbacks that cannot be looked at take nothing from what the generations say.
        let places = try generationsPresent() + ((try? fallbacksPresent()) ?? [])
        return places.compactMap { try? ActiveGeneration($0, in: self) }.flatMap(\.record.models)
    }

    /// The bytes of all files below a path of the device directory.
    package func length(of relative: String) -> UInt64 {
        let entry = "\(path)/\(relative)"
        switch (try? Durable.kind(of: entry)) ?? nil {
        case .file(let length, _)?: return length
        case .directory?:
            return ((try? Durable.names(in: entry)) ?? []).reduce(0) { $0 + length(of: "\(relative)/\($1)") }
        case .link?, .other?, nil: return 0
        }
    }

    private func placesPresent() throws(GenerationError) -> [GenerationPlace] {
        try generationsPresent() + fallbacksPresent()
    }

    private func generationsPresent() throws(GenerationError) -> [GenerationPlace] {
        try names(generationsPath).compactMap { GenerationPlace("generations/\($0)") }
    }

    private func fallbacksPresent() throws(GenerationError) -> [GenerationPlace] {
        try names(fallbackPath).compactMap { GenerationPlace("fallback/\($0)") }
    }

    private func keptGenerations(now: UnixTime, retain: Int64) throws(GenerationError) -> [ActiveGeneration] {
        guard let active = try activeGeneration() else { return [] }
        var kept = [active]
        func keep(_ place: GenerationPlace) -> Bool {
            // A damaged one is of no use to anybody.
            guard let generation = try? ActiveGeneration(place, in: self) else { return false }
            kept.append(generation)
            return true
        }
        // While the fallback is active its generation says what was left; else the fallback is the way back.
        _ = keep(active.place.isFallback ? .generation(active.number) : .fallback(active.number))
        var successor = active.record
        var isFirst = true
        while let number = successor.previous {
            let isRecent = now.seconds(since: successor.created) < retain
            guard isFirst || isRecent else { break }
            let isFallback = successor.leftFallback && keep(.fallback(number))
            // What was left for the fallback is no use to anybody but those who opened it lately.
            guard isFallback && !isRecent || keep(.generation(number)), let record = kept.last?.record else {
                break
            }
            successor = record
            isFirst = false
        }
        return kept
    }

    /// Only numbers below the active one: a higher one may be in the making.
    private func collectGenerations(
        keeping kept: Set<GenerationPlace>,
        _ mode: CollectionMode,
        _ report: inout CollectionReport
    ) throws(GenerationError) {
        guard let active = kept.map(\.number).max() else { return }
        for name in try names(generationsPath) {
            let place = GenerationPlace("generations/\(name)")
            if let place, place.number >= active || kept.contains(place) { continue }
            let removed = try removeDirectory("generations/\(name)", mode, &report)
            if removed, let place { report.generations.append(place.number) }
        }
        // The ready links first, so that nobody goes back to half of one.
        let fallbacks = try names(fallbackPath)
        let links = fallbacks.filter { $0.hasSuffix(Self.readySuffix) }
        for name in links + fallbacks.filter({ !$0.hasSuffix(Self.readySuffix) }) {
            let isLink = name.hasSuffix(Self.readySuffix)
            let number = isLink ? String(name.dropLast(Self.readySuffix.count)) : name
            let place = GenerationPlace("fallback/\(number)")
            if let place, place.number >= active || kept.contains(place) { continue }
            _ = try removeDirectory("fallback/\(name)", mode, &report)
        }
    }

    private func collectVersions(
        keeping kept: Set<VersionIdentity>,
        _ mode: CollectionMode,
        _ report: inout CollectionReport
    ) throws(GenerationError) {
        let wanted = Set(kept.flatMap { [$0.relativePath, $0.manifestRelativePath] })
        for namespace in try names(versionsPath) {
            for model in try names("\(versionsPath)/\(namespace)") {
                let folder = "versions/\(namespace)/\(model)"
                let present = try names("\(path)/\(folder)")
                for name in present where !name.hasSuffix(".json") && !wanted.contains("\(folder)/\(name)") {
                    let directory = "\(folder)/\(name)"
                    guard try removeDirectory(directory, mode, &report) else { continue }
                    if present.contains("\(name).json") { try remove("\(directory).json", mode, &report) }
                }
                for name in present where name.hasSuffix(".json") && !wanted.contains("\(folder)/\(name)") {
                    let directory = String("\(folder)/\(name)".dropLast(".json".count))
                    guard !present.contains(String(name.dropLast(".json".count))) else { continue }
                    guard !report.leased.contains(directory) else { continue }
                    try remove("\(folder)/\(name)", mode, &report)
                }
            }
        }
    }

    /// Removes a directory that nobody uses.
    ///
    /// - Returns: Whether it is gone, or would be.
    private func removeDirectory(
        _ relative: String,
        _ mode: CollectionMode,
        _ report: inout CollectionReport
    ) throws(GenerationError) -> Bool {
        let directory = "\(path)/\(relative)"
        let kind = try onDisk { () throws(DurableError) in try Durable.kind(of: directory) }
        guard kind == .directory else {
            try remove(relative, mode, &report)
            return true
        }
        guard let lease = try DirectoryLease.exclusive(directory) else {
            report.leased.append(relative)
            return false
        }
        defer { withExtendedLifetime(lease) {} }
        guard mode == .remove else {
            report.removed.append(relative)
            return true
        }
        let random = String(UInt64.random(in: 0 ... .max), radix: 16)
        let aside = "\(Durable.parent(of: directory))/.collected-\(random)"
        try onDisk { () throws(DurableError) in
            try CrashPoint.reached("collect", directory)
            try Durable.replace(aside, by: directory)
            try CrashPoint.reached("collect.renamed", directory)
            try Durable.removeTree(aside)
        }
        report.removed.append(relative)
        return true
    }

    private func remove(
        _ relative: String,
        _ mode: CollectionMode,
        _ report: inout CollectionReport
    ) throws(GenerationError) {
        report.removed.append(relative)
        guard mode == .remove else { return }
        try onDisk { () throws(DurableError) in try Durable.removeTree("\(path)/\(relative)") }
    }

    private func names(_ directory: String) throws(GenerationError) -> [String] {
        try onDisk { () throws(DurableError) in
            guard try Durable.kind(of: directory) == .directory else { return [] }
            return try Durable.names(in: directory)
        }
    }
}

/// Whether a collection removes, or only says what it would.
package enum CollectionMode: Sendable {
    case remove, report
}
