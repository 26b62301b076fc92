import Checking
import Durable
import Generations
import Manifest
import Names

/// The part of a sync that tries new versions with their golden vectors, before anything of them is active.
extension SyncRun {
    /// Runs the golden vectors of every version that would be activated, each once and in a process of its own.
    ///
    /// A version that does not reproduce them is quarantined and given up; what
    /// was active stays. Without a runtime nothing is known and nothing refused:
    /// that is told.
    func runChecks(
        _ plans: inout [ModelPlan],
        _ quarantine: inout Quarantine,
        _ device: DeviceDirectory
    ) async -> [String] {
        var warnings: [String] = []
        for index in plans.indices {
            guard let record = plans[index].record, plans[index].isMoving,
                plans[index].decision.outcome != .failed
            else { continue }
            do throws(SyncError) {
                guard let told = try await tried(record.identity, plans[index], device) else { continue }
                plans[index].decision.checks = told.line
                if told.isWarning { warnings.append("\(record.identity.words): \(told.line)") }
            } catch {
                if error.errorCode == .checks {
                    let entry = Quarantine.Entry(record.identity, reason: error.message, time: clock)
                    warnings += quarantined(entry, &quarantine, device)
                }
                plans[index].decision.attempted = record.identity
                plans[index].fail(error)
            }
        }
        return warnings
    }

    /// Adds to the note as it is by now: an operator or an app may have changed it meanwhile.
    private func quarantined(
        _ entry: Quarantine.Entry,
        _ quarantine: inout Quarantine,
        _ device: DeviceDirectory
    ) -> [String] {
        quarantine.add(entry)
        do throws(SyncError) {
            return try noting { () throws(GenerationError) in
                try device.changeQuarantine { $0.add(entry) }
            }
        } catch {
            return ["\(entry.model) \(entry.version) could not be quarantined: \(error.message)"]
        }
    }

    /// What came of the golden vectors, for people.
    private struct Told {
        let line: String

        /// Whether a person should know although nothing failed.
        var isWarning = false
    }

    /// - Returns: `nil` where there is nothing to try, or it was tried before.
    /// - Throws: `SyncError` of the code `checks` when a vector is not reproduced; another when the system could not.
    private func tried(
        _ identity: VersionIdentity,
        _ plan: ModelPlan,
        _ device: DeviceDirectory
    ) async throws(SyncError) -> Told? {
        let manifest = try await onDiskThread { () throws(GenerationError) in
            try device.manifest(of: identity)
        }
        guard !manifest.checks.isEmpty, let content = manifest[identity.variant] else { return nil }
        var checked = try onDisk { () throws(GenerationError) in try device.note(CheckedVersions.self) }
        if let outcome = checked[identity]?.outcome { return Told(line: outcome) }
        let words = Counted.words(manifest.checks.count, "golden vector")
        guard content.format == .onnx, let program = configuration.checks else {
            let reason =
                content.format != .onnx
                ? "none of \(content.format.rawValue) can be run here"
                : configuration.checkProgram == nil
                    ? "no program that runs them was named" : "no ONNX Runtime was found for them"
            return Told(line: "its \(words) not run: \(reason); whatever loads it should", isWarning: true)
        }
        if let rest = checked.rest(of: identity, at: clock) {
            throw SyncError(
                .temporary,
                "\(identity.words): its golden vectors were begun \(checked[identity]?.begun ?? 0) times in a row and "
                    + "never came to an end, as when the process is killed, the memory or the power runs out; they "
                    + "are begun once more after \(rest), or at once after ‘sealift quarantine clear \(identity.model)’"
            )
        }
        checked.begin(identity, at: clock)
        try onDisk { () throws(GenerationError) in try device.save(checked) }
        events(.phase(.checking))
        let verdict: CheckProgram.Verdict
        do throws(CheckError) {
            verdict = try await program.verdict(
                on: request(identity, manifest, content, device),
                length: content.length,
                memory: content.memory
            )
        } catch {
            checked.interrupt(identity)
            try onDisk { () throws(GenerationError) in try device.save(checked) }
            throw SyncError(error, identity.words)
        }
        let told: Told
        switch verdict {
        case .passed(let runtime): told = Told(line: "its \(words) reproduced with \(runtime)")
        case .notRun(let reason):
            checked.forget(identity)
            try onDisk { () throws(GenerationError) in try device.save(checked) }
            return Told(line: "its \(words) not run: \(reason)", isWarning: true)
        case .killed(let runtime, let reason):
            checked.forget(identity)
            try onDisk { () throws(GenerationError) in try device.save(checked) }
            return try killed(identity, plan, words, "with \(runtime), \(reason), each time")
        case .failed(let runtime, let reason):
            // Whoever clears the quarantine wants it tried again.
            checked.forget(identity)
            try onDisk { () throws(GenerationError) in try device.save(checked) }
            throw failure(identity, "with \(runtime), \(reason)")
        case .recorded: throw SyncError(.internal, "\(identity.words): its golden vectors were recorded")
        }
        checked.finish(identity, told.line)
        try onDisk { () throws(GenerationError) in try device.save(checked) }
        return told
    }

    /// What becomes of a version whose vectors the system ended: nobody knows whose fault that is.
    ///
    /// Where another version of its model works, that stays, and the next sync
    /// tries again; where none does, an untried one is better than none.
    private func killed(
        _ identity: VersionIdentity,
        _ plan: ModelPlan,
        _ words: String,
        _ reason: String
    ) throws(SyncError) -> Told {
        let standing = plan.recall == nil ? plan.active : plan.refuge
        guard let standing, standing.identity != identity else {
            return Told(line: "its \(words) not run: \(reason); whatever loads it should", isWarning: true)
        }
        throw SyncError(
            .temporary,
            "\(identity.words): its golden vectors could not be run: \(reason). Nothing is known of the version, so "
                + "\(standing.identity.version) stays; see that there is memory for it, as a system ends what takes "
                + "more than is left, or more than its service may. The next sync tries again"
        )
    }

    private func failure(_ identity: VersionIdentity, _ reason: String) -> SyncError {
        SyncError(
            code: .checks,
            "\(identity.words) does not reproduce its golden vectors here and is quarantined: \(reason)"
        )
    }

    private func request(
        _ identity: VersionIdentity,
        _ manifest: ModelManifest,
        _ content: Variant,
        _ device: DeviceDirectory
    ) -> CheckRequest {
        let directory = "\(device.path)/\(identity.relativePath)"
        var files: [FilePath: String] = [:]
        for file in content.files { files[file.path] = "\(directory)/\(file.path)" }
        return CheckRequest(
            runtime: "/",
            entry: "\(directory)/\(content.entry)",
            interface: manifest.interface(of: content),
            checks: manifest.checks,
            files: files,
            parent: 1
        )
    }
}

extension VersionIdentity {
    fileprivate var words: String { "\(model) \(version)" }
}

extension SyncError {
    fileprivate init(_ error: CheckError, _ subject: String) {
        switch error {
        case .cancelled: self.init(code: .cancelled, "the sync was cancelled")
        case .notStarted(let reason), .unreadable(let reason):
            self.init(.temporary, "\(subject): its golden vectors could not be run: \(reason)")
        }
    }
}
