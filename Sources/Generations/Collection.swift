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
/// Kept: the active generation, the one before it, every one that was left
/// less than `retain` seconds ago, what those hold, and whatever has a lease.
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
        try collectGenerations(keeping: Set(kept.map(\.number)), mode, &report)
        try collectVersions(keeping: Set(kept.flatMap(\.models).map(\.identity)), mode, &report)
        for name in try names(incomingPath) where !isWanted(name) {
            try remove("incoming/\(name)", mode, &report)
        }
        for folder in ["", "trust/", "trust/targets/", "trust/root_history/", "device/"] {
            for name in try names("\(path)/\(folder)") where name.hasPrefix(".") && name.hasSuffix(".partial")
            {
                try remove(folder + name, mode, &report)
            }
        }
        return report
    }

    /// The manifests of every generation that is still on the disk: what this device ran.
    package func manifestsRun() throws(GenerationError) -> Set<Digest> {
        let numbers = try names(generationsPath).compactMap { Self.number(ofGeneration: $0) }
        let models = numbers.compactMap { record(ofGeneration: $0) }.flatMap(\.models)
        return Set(models.map(\.identity.manifest))
    }

    private func keptGenerations(now: UnixTime, retain: Int64) throws(GenerationError) -> [GenerationRecord] {
        guard let active = try activeGeneration()?.record else { return [] }
        var kept = [active]
        var successor = active
        while let number = successor.previous {
            let isRecent = now.seconds(since: successor.created) < retain
            guard kept.count == 1 || isRecent, let record = record(ofGeneration: number) else { break }
            kept.append(record)
            successor = record
        }
        return kept
    }

    /// The record of a generation, if it is whole; a damaged one is of no use to anybody.
    private func record(ofGeneration number: UInt64) -> GenerationRecord? {
        try? ActiveGeneration(number: number, in: self).record
    }

    /// Only numbers below the active one: a higher one may be in the making.
    private func collectGenerations(
        keeping kept: Set<UInt64>,
        _ mode: CollectionMode,
        _ report: inout CollectionReport
    ) throws(GenerationError) {
        guard let active = kept.max() else { return }
        for name in try names(generationsPath) {
            let number = Self.number(ofGeneration: name)
            if let number, number >= active || kept.contains(number) { continue }
            let removed = try removeDirectory("generations/\(name)", mode, &report)
            if removed, let number { report.generations.append(number) }
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
            guard Glibc.rename(directory, aside) == 0 else { throw .system("rename", directory) }
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
