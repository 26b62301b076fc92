import Names

/// What the library knows of one version: it loads until `resident` is there.
struct Entry {
    var resident: Resident?
    var leases = 0

    /// Why it goes as soon as nobody uses it; `nil` while it may stay.
    var retirement: EvictionReason?

    var waiters: [Int: CheckedContinuation<Resident, any Error>] = [:]
}

/// A model that a library holds in memory now.
public struct ResidentModel: Equatable, Sendable {
    /// The name, `vision/detector`.
    public let model: String

    /// The version, `1.4.0`.
    public let version: String

    /// The variant, `default`.
    public let variant: String

    /// Calls that use it now.
    public let leases: Int

    /// Whether it goes when the last of those ends.
    public let isLeaving: Bool
}

// MARK: residency

extension ModelLibrary {
    /// What is in memory now, in the order of names.
    public var residents: [ResidentModel] {
        entries.compactMap { version, entry in
            guard entry.resident != nil else { return nil }
            return ResidentModel(
                model: version.modelText,
                version: version.versionText,
                variant: version.variant.description,
                leases: entry.leases,
                isLeaving: entry.retirement != nil
            )
        }
        .sorted { ($0.model, $0.version, $0.variant) < ($1.model, $1.version, $1.variant) }
    }

    /// Frees every version of one model: at once when idle, else when its last lease ends.
    ///
    /// A version that is still loading goes when those who wait for it are
    /// done. A later request loads the model again.
    public func unload(_ request: ModelRequest) {
        for version in entries.keys where version.model == request.name { retire(version, .requested) }
    }

    /// Frees every model, as `unload` does.
    ///
    /// - Parameter reason: For the events: `memory warning`, `background`.
    public func unloadAll(reason: String) {
        for version in entries.keys { retire(version, .all(reason)) }
    }

    /// What the library does from now on.
    ///
    /// - Returns: A stream for one listener; of those that it is slow to take
    ///   the newest 256 are kept.
    public func events() -> AsyncStream<ModelLibraryEvent> {
        lastListener += 1
        let listener = lastListener
        let (stream, continuation) = AsyncStream.makeStream(
            of: ModelLibraryEvent.self,
            bufferingPolicy: .bufferingNewest(256)
        )
        continuation.onTermination = { _ in Task { await self.forget(listener) } }
        listeners[listener] = continuation
        return stream
    }

    private func forget(_ listener: Int) { listeners[listener] = nil }

    func tell(_ event: ModelLibraryEvent) {
        for listener in listeners.values { listener.yield(event) }
    }

    func retire(_ version: LibraryVersion, _ reason: EvictionReason) {
        entries[version]?.retirement = reason
        dropIfIdle(version)
    }

    /// Retires every loaded version of `model` but the one that the device named last, once that is loaded.
    func retireOthers(of model: ModelName) {
        guard let newest = latest[model], entries[newest]?.resident != nil else { return }
        for (version, entry) in entries
        where version.model == model && version != newest && entry.retirement == nil {
            retire(version, .replaced)
        }
    }

    func dropIfIdle(_ version: LibraryVersion) {
        guard let entry = entries[version], entry.resident != nil, entry.leases == 0,
            let reason = entry.retirement
        else { return }
        entries[version] = nil
        tell(.evicted(model: version.modelText, version: version.versionText, reason: reason))
    }
}
