import Blocking
import Durable
import Generations
import Manifest
import Names
import Transfer

/// The part of a sync that changes the device.
extension SyncRun {
    /// Fetches, checks and installs; a model that fails keeps what was active.
    ///
    /// When the task is cancelled it ends as soon as it can: what was proved stays.
    func receive(
        _ plans: inout [ModelPlan],
        _ chain: RegistryChain,
        _ device: DeviceDirectory,
        _ course: SyncCourse
    ) async {
        let total = await measure(&plans, device)
        let progress = course.progress
        progress.begin(total: total, of: Set(plans.compactMap(\.installation).map(\.identity.manifest)))
        if total > 0 { events(.phase(.downloading)) }
        for index in plans.indices {
            guard let installation = plans[index].installation else { continue }
            do throws(SyncError) {
                try await install(installation, plans[index], chain, device, course)
                progress.finished(installation.needs.fetched)
            } catch {
                plans[index].fail(error)
                // Of one that was stopped the next round may have more.
                if !Task.isCancelled { progress.failed(installation.needs.fetched) }
            }
        }
    }

    /// Says of each plan what would stop it before its files are there: room, budget, window or metered link.
    ///
    /// - Returns: Warnings: what may stop it, as nobody knows yet how much the device can spare it.
    func preview(_ plans: inout [ModelPlan], _ device: DeviceDirectory) async -> [String] {
        _ = await measure(&plans, device)
        guard let permission = peers.permission else { return [] }
        var warnings: [String] = []
        var wanted: UInt64 = 0
        for index in plans.indices {
            guard let needs = plans[index].installation?.needs, needs.fetched > 0 else { continue }
            do throws(FetchPause) {
                let left = try permission.remaining(atLeast: wanted + needs.unspared)
                wanted += needs.unspared
                if let left, left < wanted - needs.unspared + needs.fetched {
                    warnings.append(
                        "\(plans[index].decision.model) may have to wait: up to \(ByteCount(rawValue: needs.fetched)) of it "
                            + "are fetched, as far as the device has not got them already, and \(ByteCount(rawValue: left)) "
                            + "are left of the budget"
                    )
                }
            } catch {
                let subject = plans[index].decision.model
                plans[index].fail(SyncError(FetchError.paused(error), subject))
            }
        }
        return warnings
    }

    /// Finds what each plan needs; one for which that cannot be had fails.
    ///
    /// - Returns: Bytes to be fetched in all.
    private func measure(_ plans: inout [ModelPlan], _ device: DeviceDirectory) async -> UInt64 {
        var total: UInt64 = 0
        var disk: UInt64 = 0
        for index in plans.indices where plans[index].installation != nil {
            do throws(SyncError) {
                let needs = try await measure(plans[index], device)
                plans[index].installation?.needs = needs
                total += needs.fetched
                disk += needs.disk
            } catch {
                plans[index].fail(error)
            }
        }
        if let error = shortage(of: disk, device) {
            for index in plans.indices where plans[index].installation != nil { plans[index].fail(error) }
        }
        return total
    }

    private func download(
        _ installation: ModelPlan.Installation,
        _ plan: ModelPlan,
        _ device: DeviceDirectory
    )
        -> VariantDownload
    {
        let active = plan.active.flatMap { model in
            try? device.activeModel(model.identity.model)
        }
        return VariantDownload(
            model: installation.identity.model,
            content: installation.content,
            device: device,
            active: active
        )
    }

    private func measure(
        _ plan: ModelPlan,
        _ device: DeviceDirectory
    ) async throws(SyncError) -> VariantDownload.Needs {
        guard let installation = plan.installation else { return VariantDownload.Needs() }
        return try await BlockingPool.shared.run { () throws(SyncError) in
            var download = download(installation, plan, device)
            download.mode = mode
            download.present = device.wholeFiles(of: installation.content, installation.identity)
            download.damaged = device.files(of: installation.content, installation.identity)
            return try download.needs()
        }
    }

    /// Why the disk has no room for `bytes` more; `nil` when it has.
    private func shortage(of bytes: UInt64, _ device: DeviceDirectory) -> SyncError? {
        guard bytes > 0 else { return nil }
        do throws(DurableError) {
            // A dry run may look at a directory that is yet to be made.
            var place = device.path
            while try Durable.kind(of: place) == nil, Durable.parent(of: place) != place {
                place = Durable.parent(of: place)
            }
            let free = try Durable.freeSpace(at: place)
            let (needed, overflow) = bytes.addingReportingOverflow(configuration.reserve)
            guard overflow || free.rawValue < needed else { return nil }
            return SyncError(
                code: .diskFull,
                "not enough room in \(device.path): \(ByteCount(rawValue: bytes)) are needed and "
                    + "\(ByteCount(rawValue: configuration.reserve)) must stay free, but only \(free) are; "
                    + "free some space and try again"
            )
        } catch {
            return SyncError(error)
        }
    }

    private func install(
        _ installation: ModelPlan.Installation,
        _ plan: ModelPlan,
        _ chain: RegistryChain,
        _ device: DeviceDirectory,
        _ course: SyncCourse
    ) async throws(SyncError) {
        let download = VariantDownload(
            model: installation.identity.model,
            content: installation.content,
            device: device,
            active: nil
        )
        let sources = try await download.run(
            installation.needs,
            from: chain.locations,
            blobs: peers.blobs,
            received: { course.count($0) },
            progress: { course.progress.report($0) }
        )
        events(.phase(.checking))
        let model = ReceivedModel(installation.content, of: installation.manifest, sources: sources)
        try await model.check(by: configuration.reader)
        try await onDiskThread { () throws(GenerationError) in
            try device.install(
                installation.identity,
                manifest: installation.manifestBytes,
                sources: sources
            )
        }
    }

    /// Takes the names of received files away that are installed by now.
    ///
    /// A file with a second name could be changed through it, and readers of some formats refuse it.
    func releaseReceived(_ plans: [ModelPlan], _ device: DeviceDirectory) throws(SyncError) {
        do throws(DurableError) {
            for digest in plans.compactMap(\.installation).flatMap(\.content.blobs) {
                try Durable.removeTree("\(device.incomingPath)/\(digest.hex)")
            }
        } catch {
            throw SyncError(error)
        }
    }

    /// Switches to the planned set and what stays beside it, if that is another than the active one.
    ///
    /// - Returns: The generation that is active then.
    func activate(
        _ plans: [ModelPlan],
        _ lingering: [GenerationRecord.Model],
        over active: ActiveGeneration?,
        _ forbidden: Set<Digest>,
        _ device: DeviceDirectory,
        _ report: inout SyncReport
    ) async throws(SyncError) -> UInt64? {
        let records = (plans.compactMap(\.record) + lingering).sorted {
            $0.identity.model < $1.identity.model
        }
        let isNew = records != active?.record.models ?? [] || active == nil && !records.isEmpty
        // A fallback is only for the time until the next sync.
        guard isNew || active?.place.isFallback ?? false else {
            try await purge(active, forbidden, device)
            return active?.number
        }
        events(.phase(.activating))
        let now = clock
        let bounds = trialBounds()
        let place = active?.place
        let generation = try await onDiskThread { () throws(GenerationError) -> ActiveGeneration? in
            try device.activate(
                records,
                chosenOver: place,
                created: now,
                forbidden: forbidden,
                bounds: { bounds[$0] }
            )
        }
        guard let generation else {
            // The plan is for what was active when it was made: who went back meanwhile must not be undone.
            throw SyncError(
                .temporary,
                "\(device.path): another generation became active while this sync ran, as after a rollback; nothing "
                    + "was activated. Sync again"
            )
        }
        report.outcome = .activated
        return generation.number
    }

    /// What was recalled may not be gone back to either.
    func purge(
        _ active: ActiveGeneration?,
        _ forbidden: Set<Digest>,
        _ device: DeviceDirectory
    ) async throws(SyncError) {
        guard let active else { return }
        try await onDiskThread { () throws(GenerationError) in
            try device.purgeFallback(of: active) { forbidden.contains($0) }
        }
    }

    /// Removes what nothing needs; a failure is only worth a warning.
    ///
    /// - Returns: Warnings.
    func collect(_ device: DeviceDirectory, _ chain: RegistryChain, _ plans: [ModelPlan]) async -> [String] {
        events(.phase(.collecting))
        let unfinished = plans.filter { $0.decision.outcome == .failed }.map(\.wanted)
        let (now, retain) = (clock, configuration.retain)
        do throws(SyncError) {
            _ = try await onDiskThread { () throws(GenerationError) in
                // A plan that failed before it knew its files may want any of them.
                try device.collect(now: now, retain: retain) { name in
                    unfinished.contains { $0?.contains(name) ?? true }
                }
            }
            guard unfinished.isEmpty else { return [] }
            let used = Set(chain.used.map { TargetContents.name(of: $0) })
            do throws(DurableError) {
                let folder = "\(device.trustPath)/targets"
                guard try Durable.kind(of: folder) == .directory else { return [] }
                for name in try Durable.names(in: folder) where !used.contains("targets/\(name)") {
                    try Durable.removeFile("\(folder)/\(name)")
                }
            } catch {
                throw SyncError(error)
            }
            return []
        } catch {
            return ["what is no longer needed could not be removed: \(error.message)"]
        }
    }
}
