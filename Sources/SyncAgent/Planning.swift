import Durable
import Generations
import Manifest
import Names
import Signing
import Transfer
import Trust

/// Chooses a version for one model: what may be taken, then the newest of it that can be used.
struct Planning {
    let device: DeviceDirectory
    let machine: Machine

    /// What this device says about the versions of a model.
    let rules: (WantedModel) -> DeviceRules

    /// Versions on the disk that this device ran or made ready.
    let known: [GenerationRecord.Model]

    /// Turns an error of a role into one for people; knows about grace.
    let explain: (UpdateError, String) -> SyncError

    /// Chooses the version to run.
    func settle(_ survey: inout Survey, _ chain: inout RegistryChain) async {
        guard !survey.isOver, let roles = survey.roles, let signed = survey.signed,
            let candidates = survey.candidates
        else { return }
        do throws(SyncError) {
            try await choose(survey.request, signed, candidates, roles, &survey.plan, &chain)
        } catch {
            survey.fail(error)
        }
    }

    private func choose(
        _ request: WantedModel,
        _ signed: ModelChain,
        _ candidates: Candidates,
        _ roles: ModelRoles,
        _ plan: inout ModelPlan,
        _ chain: inout RegistryChain
    ) async throws(SyncError) {
        if let fault = request.fileFault { throw fault }
        let expectation = try request.parsedExpectation()
        let running = runningFormat(plan.active)
        var hasUnusable = false
        for candidate in candidates.ordered {
            let bytes = try await manifest(candidate, request, roles, &chain)
            let manifest = try Self.parsed(bytes, candidate, request)
            let usability = Usability(
                manifest,
                expectation: expectation,
                wanted: request.variant,
                on: machine,
                running: running
            )
            switch usability {
            case .usable(let content, let choice):
                // It may be held.
                if let withheld = signed.withheld, candidate.manifest != plan.active?.identity.manifest {
                    throw withheld
                }
                plan.decision.variants = choice
                return try await take(candidate, request, (bytes, manifest, content), hasUnusable, &plan)
            case .unusable(let reasons):
                hasUnusable = hasUnusable || candidate.manifest != plan.active?.identity.manifest
                plan.passOver(candidate.version, .unusable(reasons))
            }
        }
        let unknown = Self.unknown(request, signed, plan.active)
        let unfit = await unfit(request, expectation, candidates, &plan, roles, &chain)
        plan.takeNone(
            hasUnusable: hasUnusable,
            isUnknown: unknown != nil,
            unfit: candidates.unmet ?? unfit,
            explanation: unknown ?? candidates.stay ?? Self.explanation(request, signed, plan.active)
        )
        try await repairKept(request, roles, &plan, &chain)
    }

    private func take(
        _ candidate: Candidate,
        _ request: WantedModel,
        _ found: (bytes: [UInt8], manifest: ModelManifest, content: Variant),
        _ hasUnusable: Bool,
        _ plan: inout ModelPlan
    ) async throws(SyncError) {
        let identity = VersionIdentity(
            model: request.name,
            version: candidate.version,
            variant: found.content.name,
            manifest: candidate.manifest
        )
        var channel: ChannelName?
        if case .channel(let name) = request.selection { channel = name }
        plan.take(
            candidate,
            identity,
            entry: found.content.entry,
            channel: channel,
            hasUnusable: hasUnusable
        )
        guard try await !isInstalled(identity) else { return }
        if plan.active?.identity == identity {
            plan.decision.reason = "its files were damaged and are put right"
        }
        plan.installation = ModelPlan.Installation(
            identity: identity,
            manifestBytes: found.bytes,
            manifest: found.manifest,
            content: found.content
        )
    }

    /// A version that stays, and whose files are damaged, is fetched again.
    private func repairKept(
        _ request: WantedModel,
        _ roles: ModelRoles,
        _ plan: inout ModelPlan,
        _ chain: inout RegistryChain
    ) async throws(SyncError) {
        guard let kept = plan.record?.identity, try await !isInstalled(kept) else { return }
        let candidate = Candidate(version: kept.version, manifest: kept.manifest, reason: "")
        let bytes = try await manifest(candidate, request, roles, &chain)
        let manifest = try Self.parsed(bytes, candidate, request)
        guard let content = manifest[kept.variant] else { return }
        plan.installation = ModelPlan.Installation(
            identity: kept,
            manifestBytes: bytes,
            manifest: manifest,
            content: content
        )
    }

    func manifest(
        _ candidate: Candidate,
        _ request: WantedModel,
        _ roles: ModelRoles,
        _ chain: inout RegistryChain
    ) async throws(SyncError) -> [UInt8] {
        let bytes = try await chain.manifest(of: candidate.version, request.name, roles)
        guard SHA256.digest(of: bytes) == candidate.manifest else {
            throw SyncError(
                .refused,
                "the release role signs another manifest for \(request.model) \(candidate.version) than "
                    + "\(candidate.manifest), which was chosen"
            )
        }
        return bytes
    }

    private func isInstalled(_ identity: VersionIdentity) async throws(SyncError) -> Bool {
        try await onDiskThread { [device] () throws(GenerationError) in try device.isInstalled(identity) }
    }

    static func parsed(
        _ bytes: [UInt8],
        _ candidate: Candidate,
        _ request: WantedModel
    ) throws(SyncError) -> ModelManifest {
        let path = ModelManifest.targetPath(model: request.name, version: candidate.version)
        do { return try ModelManifest(canonical: bytes, at: path) } catch {
            throw SyncError(error, "the manifest of \(request.model) \(candidate.version)")
        }
    }

    /// What to say of a channel or version that nobody ever named; a mistyped one must not look like one that is up to
    /// date.
    private static func unknown(
        _ request: WantedModel,
        _ chain: ModelChain,
        _ active: GenerationRecord.Model?
    ) -> String? {
        if case .version(let version) = request.selection {
            let isKnown = chain.releases[version] != nil || active?.identity.version == version
            return isKnown ? nil : "no version \(version) of \(request.model) is released"
        }
        guard case .channel(let channel) = request.selection, let live = chain.live,
            live.channels[channel] == nil
        else { return nil }
        let names = live.channels.keys.sorted().map(\.description).joined(separator: ", ")
        return "there is no channel \(channel) of \(request.model); its channels are "
            + (names.isEmpty ? "none" : names)
    }

    private static func explanation(
        _ request: WantedModel,
        _ chain: ModelChain,
        _ active: GenerationRecord.Model?
    ) -> String {
        if case .channel(let channel) = request.selection {
            guard let live = chain.live else { return "no version of \(request.model) was put into use yet" }
            guard live.channels[channel]?.versions.isEmpty == false else {
                return "the channel \(channel) of \(request.model) lists nothing now"
            }
        }
        return active == nil
            ? "no version of \(request.model) may be taken and can be used here"
            : "nothing newer may be taken"
    }
}

extension WantedModel {
    func parsedExpectation() throws(SyncError) -> Expectation? {
        guard let expectation else { return nil }
        let parsed: Expectation
        do { parsed = try Expectation(bytes: expectation) } catch {
            throw unknownExpectation(.usage, "the expectation for \(name) is not sound: \(error)")
        }
        guard parsed.model == nil || parsed.model == name else {
            throw unknownExpectation(.usage, "the expectation given for \(name) is one for another model")
        }
        return parsed
    }

    /// Reads the file that says what the app sends and reads.
    ///
    /// One that cannot be had is this model's misfortune alone: it must not keep
    /// a run from learning what is recalled, nor the others from going on.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - place: Where it is named, for people.
    package mutating func readExpectation(_ path: String, namedBy place: String) {
        do throws(DurableError) { expectation = try Durable.readFile(path, maximum: Limits.manifest) } catch {
            expectation = nil
            let code = error.isAbsent ? .place : error.code
            fileFault = unknownExpectation(code, "\(place): \(error)")
        }
    }

    /// Why this model takes no other version, before anybody is asked for one; `nil` when nothing is in the way.
    package var fault: SyncError? {
        if let fileFault { return fileFault }
        do throws(SyncError) { _ = try parsedExpectation() } catch { return error }
        return nil
    }

    private func unknownExpectation(_ code: ErrorCode, _ found: String) -> SyncError {
        SyncError(
            code: code,
            "\(found). Until that is put right \(name) takes no other version; ‘sealift inspect FILE --expectation’ "
                + "writes one, ‘sealift schema expectation’ describes it"
        )
    }
}
