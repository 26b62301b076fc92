import Names

/// A device directory, and the one that the app brought with it for as long as the first has nothing.
///
/// What the app brought is never written, and trusted as part of the app: its
/// chain may have expired since the app was built. What the device learned of
/// recalls since, what it quarantined, and loads that a process did not survive
/// count for it too. It also answers where the active version does not work and
/// nothing was active before.
struct BundledSource: ModelSource {
    private let device: GenerationSource
    private let bundle: GenerationSource

    init(directory: String, bundled: String, isNoting: Bool) {
        device = GenerationSource(directory: directory, isNoting: isNoting)
        bundle = GenerationSource(directory: bundled, isBundle: true)
    }

    func stamp() -> SourceStamp? { device.stamp() }

    func activeVersion(of model: ModelName) throws(ModelLibraryError) -> LibraryVersion {
        do throws(ModelLibraryError) {
            let (version, quarantine) = try device.choice(of: model)
            guard let quarantine else { return version }
            if let bundled = try earlierVersion(of: model, than: version) { return bundled }
            throw version.refused(quarantine)
        } catch {
            guard case .notAvailable = error else { throw error }
            guard let version = try bundledVersion(of: model) else { throw error }
            return version
        }
    }

    func earlierVersion(
        of model: ModelName,
        than version: LibraryVersion
    ) throws(ModelLibraryError) -> LibraryVersion? {
        let earlier = try Self.unlessMissing { () throws(ModelLibraryError) in
            try device.earlierVersion(of: model, than: version)
        }
        if let earlier = earlier ?? nil { return earlier }
        guard let bundled = try? bundledVersion(of: model), bundled != version else { return nil }
        return bundled
    }

    func mayRun(_ version: LibraryVersion) throws(ModelLibraryError) -> Bool {
        let isFine = try Self.unlessMissing { () throws(ModelLibraryError) in try bundle.mayRun(version) }
        guard isFine ?? true else { return false }
        return try Self.unlessMissing { () throws(ModelLibraryError) in try device.mayRun(version) } ?? true
    }

    func open(_ version: LibraryVersion) throws(ModelLibraryError) -> OpenedModel? {
        let opened = try Self.unlessMissing { () throws(ModelLibraryError) in try device.open(version) }
        if let opened = opened ?? nil { return opened }
        let brought = try Self.unlessMissing { () throws(ModelLibraryError) in try bundle.open(version) }
        guard var bundled = brought ?? nil else { return nil }
        device.watchLoads(of: &bundled)
        return bundled
    }

    func condemn(
        _ version: LibraryVersion,
        _ reason: String
    ) throws(ModelLibraryError) -> QuarantinePlace {
        _ = try Self.unlessMissing { () throws(ModelLibraryError) in try bundle.verify(version) }
        let place = try Self.unlessMissing { () throws(ModelLibraryError) in
            try device.condemn(version, reason)
        }
        if let place { return place }
        return bundle.remember(version, reason, "there is no device directory yet")
    }

    /// What the app brought.
    ///
    /// - Returns: `nil` when it brought none.
    /// - Throws: `ModelLibraryError.refused` when it must not run any more.
    private func bundledVersion(of model: ModelName) throws(ModelLibraryError) -> LibraryVersion? {
        let version = try Self.unlessMissing { () throws(ModelLibraryError) in
            try bundle.activeVersion(of: model)
        }
        guard let version else { return nil }
        guard try mayRun(version) else {
            throw version.refused("the app brought it, and it must not run any more")
        }
        return version
    }

    /// - Returns: `nil` when there is no device directory, or nothing of the model in it.
    private static func unlessMissing<Value>(
        _ body: () throws(ModelLibraryError) -> Value
    ) throws(ModelLibraryError) -> Value? {
        do throws(ModelLibraryError) { return try body() } catch {
            guard case .notAvailable = error else { throw error }
            return nil
        }
    }
}
