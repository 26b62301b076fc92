import Blocking
public import Inference
import Names

/// The one owner of loaded models in a process.
///
/// A model is loaded when it is first asked for, once however many callers ask
/// at the same time, and one after another in the whole process. While lent it
/// is never freed. Each call uses the version that is active on the device at
/// that moment: after a sync the new version is loaded beside the old one,
/// later calls get the new one, and the old one goes when its last lease ends.
///
/// Every version is checked when it is loaded: its files against the verified
/// manifest, recalls, and what the runtime itself sees against the declared
/// inputs and outputs. Nothing blocks a thread of Swift's concurrency pool.
public actor ModelLibrary {
    private let source: any ModelSource
    private let runtimes: [any ModelRuntime]
    private let inputPolicy: InputPolicy
    private let loadOptions: LoadOptions

    var entries: [LibraryVersion: Entry] = [:]
    var latest: [ModelName: LibraryVersion] = [:]
    private var lastWaiter = 0
    var listeners: [Int: AsyncStream<ModelLibraryEvent>.Continuation] = [:]
    var lastListener = 0

    /// Opens a library over a device directory that `sealift sync` keeps current.
    ///
    /// - Parameters:
    ///   - directory: Path of the device directory; it may still be missing.
    ///   - runtimes: Engines in the order of preference.
    ///   - loadOptions: How to load every model.
    ///   - inputPolicy: What callers may send.
    public init(
        directory: String,
        runtimes: [any ModelRuntime],
        loadOptions: LoadOptions = LoadOptions(),
        inputPolicy: InputPolicy = InputPolicy()
    ) {
        self.init(
            source: GenerationSource(directory: directory),
            runtimes: runtimes,
            loadOptions: loadOptions,
            inputPolicy: inputPolicy
        )
    }

    package init(
        source: any ModelSource,
        runtimes: [any ModelRuntime],
        loadOptions: LoadOptions = LoadOptions(),
        inputPolicy: InputPolicy = InputPolicy()
    ) {
        self.source = source
        self.runtimes = runtimes
        self.loadOptions = loadOptions
        self.inputPolicy = inputPolicy
    }

    /// Lends the active version of a model to `body`, loading it first if need be.
    ///
    /// `body` runs where the caller runs. Cancelling the caller ends its wait at
    /// once; a load that others wait for, or may soon, goes on.
    ///
    /// - Parameters:
    ///   - request: Which model.
    ///   - body: Uses the lease, which ends when it returns.
    /// - Returns: What `body` returns.
    /// - Throws: `ModelLibraryError`, `CancellationError`, or what `body` throws.
    public nonisolated func withModel<Result>(
        _ request: ModelRequest,
        _ body: (LoadedModelLease) async throws -> Result
    ) async throws -> Result {
        let lease = try await borrow(request.name)
        do {
            let result = try await body(lease)
            await giveBack(lease)
            return result
        } catch {
            await giveBack(lease)
            throw error
        }
    }
}

// MARK: leases

extension ModelLibrary {
    private func borrow(_ name: ModelName) async throws -> LoadedModelLease {
        let source = source
        // The device may switch between two looks; a device that switches all the time is not waited for.
        for _ in 0..<4 {
            let version = try await BlockingPool.shared.run { () throws(ModelLibraryError) in
                try source.activeVersion(of: name)
            }
            latest[name] = version
            do {
                return LoadedModelLease(try await resident(version), policy: inputPolicy)
            } catch is Superseded {
                continue
            }
        }
        throw ModelLibraryError.notAvailable(
            model: name.description,
            reason: "its active version keeps changing"
        )
    }

    /// The model in memory, its lease counted already.
    private func resident(_ version: LibraryVersion) async throws -> Resident {
        if let resident = entries[version]?.resident {
            entries[version]?.leases += 1
            entries[version]?.retirement = nil
            return resident
        }
        if entries[version] == nil { startLoading(version) }
        entries[version]?.retirement = nil
        lastWaiter += 1
        let waiter = lastWaiter
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(throwing: CancellationError())
                } else {
                    entries[version]?.waiters[waiter] = continuation
                }
            }
        } onCancel: {
            Task { await self.stopWaiting(waiter, for: version) }
        }
    }

    private func stopWaiting(_ waiter: Int, for version: LibraryVersion) {
        entries[version]?.waiters.removeValue(forKey: waiter)?.resume(throwing: CancellationError())
    }

    private func giveBack(_ lease: LoadedModelLease) {
        lease.end()
        let version = lease.resident.opened.version
        entries[version]?.leases -= 1
        retireOthers(of: version.model)
        dropIfIdle(version)
    }
}

// MARK: loading

extension ModelLibrary {
    /// Starts the one load of `version`.
    ///
    /// The task belongs to no caller on purpose: it goes on when a caller is cancelled.
    private func startLoading(_ version: LibraryVersion) {
        entries[version] = Entry()
        Task { await load(version) }
    }

    private func load(_ version: LibraryVersion) async {
        let clock = ContinuousClock()
        let asked = clock.now
        await LoadTurn.shared.take()
        let began = clock.now
        let outcome = await Self.loaded(version, source, runtimes, loadOptions)
        let ended = clock.now
        await LoadTurn.shared.pass()
        settle(version, outcome, waited: asked.duration(to: began), took: began.duration(to: ended))
    }

    /// Hands the outcome to all who wait; a failure is forgotten, so that the next call tries again.
    private func settle(
        _ version: LibraryVersion,
        _ outcome: Result<Resident, any Error>,
        waited: Duration,
        took: Duration
    ) {
        guard let waiters = entries[version]?.waiters.values else { return }
        switch outcome {
        case .success(let resident):
            entries[version]?.resident = resident
            entries[version]?.leases = waiters.count
            entries[version]?.waiters = [:]
            for waiter in waiters { waiter.resume(returning: resident) }
            tell(.loaded(model: version.modelText, version: version.versionText, waited: waited, took: took))
            retireOthers(of: version.model)
            dropIfIdle(version)
        case .failure(let error):
            entries[version] = nil
            for waiter in waiters { waiter.resume(throwing: error) }
            if error is Superseded { return }
            tell(.refused(model: version.modelText, version: version.versionText, reason: "\(error)"))
        }
    }

    /// Opens, checks and loads; runs outside the actor.
    @concurrent
    private static func loaded(
        _ version: LibraryVersion,
        _ source: any ModelSource,
        _ runtimes: [any ModelRuntime],
        _ options: LoadOptions
    ) async -> Result<Resident, any Error> {
        do {
            let opened = try await BlockingPool.shared.run { () throws(ModelLibraryError) in
                try source.open(version.model)
            }
            guard opened.version == version else { return .failure(Superseded()) }
            let model = try await version.model(from: opened, runtimes, options)
            let disagreements = opened.ports.disagreements(withRuntime: model.ports)
            guard disagreements.isEmpty else {
                return .failure(version.refused(disagreements.joined(separator: "; ")))
            }
            return .success(Resident(opened: opened, model: model))
        } catch {
            return .failure(error)
        }
    }
}

extension LibraryVersion {
    var modelText: String { model.description }
    var versionText: String { version.description }

    func refused(_ reason: String) -> ModelLibraryError {
        .refused(model: modelText, version: versionText, reason: reason)
    }

    fileprivate func model(
        from opened: OpenedModel,
        _ runtimes: [any ModelRuntime],
        _ options: LoadOptions
    ) async throws -> any LoadedModel {
        guard let runtime = runtimes.first(where: { $0.runs(format: opened.format) }) else {
            throw ModelLibraryError.noRuntime(model: modelText, version: versionText, format: opened.format)
        }
        do {
            return try await runtime.load(entry: opened.entryPath, options: options)
        } catch {
            throw ModelLibraryError.failed(model: modelText, version: versionText, reason: "\(error)")
        }
    }
}

/// The device switched to another version between two looks; the caller looks again.
private struct Superseded: Error {}
