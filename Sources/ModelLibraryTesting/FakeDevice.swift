import Blocking
package import CanonicalJSON
public import Inference
public import ModelLibrary
package import Names

/// A device directory in memory: which version is active, and what is wrong with it.
public final class FakeDevice: Sendable {
    private struct State {
        /// Every version that was activated, the active one last.
        var versions: [ModelName: [LibraryVersion]] = [:]
        var recalled: Set<LibraryVersion> = []
        var quarantined: [LibraryVersion: String] = [:]
        var isReadOnly = false
        var damaged: Set<LibraryVersion> = []
        var lengths: [ModelName: UInt64] = [:]
        var ports: [ModelName: ModelPorts] = [:]
        var checks: [LibraryVersion: [JSONValue]] = [:]
        var changes: Int64 = 0
    }

    private let guarded = Guarded(State())
    private let format: String
    private let ports: ModelPorts

    /// A device on which nothing is active.
    ///
    /// - Parameters:
    ///   - format: Of every model; `fake` is what `FakeRuntime` runs.
    ///   - ports: What every model declares.
    public init(format: String = "fake", ports: ModelPorts = .fake) {
        self.format = format
        self.ports = ports
    }

    /// Switches a model to a version, as a sync does.
    ///
    /// - Throws: `FakeFailure` when either is no name.
    public func activate(_ model: String, _ version: String) throws {
        let new = try Self.version(model, version)
        guarded.withLock { state in
            state.versions[new.model, default: []].removeAll { $0 == new }
            state.versions[new.model, default: []].append(new)
            state.changes += 1
        }
    }

    /// Recalls a version: it must not run any more.
    ///
    /// - Throws: `FakeFailure` when either is no name.
    public func recall(_ model: String, _ version: String) throws {
        let version = try Self.version(model, version)
        guarded.withLock { state in
            state.recalled.insert(version)
            state.changes += 1
        }
    }

    /// Lets nothing be noted on the device from now on.
    public func makeReadOnly() { guarded.withLock { $0.isReadOnly = true } }

    /// Versions that a library found not to work, `vision/detector 1.1.0`, each with the reason.
    public var quarantine: [String: String] {
        guarded.withLock { state in
            Dictionary(
                uniqueKeysWithValues: state.quarantined.map {
                    ("\($0.key.model) \($0.key.version)", $0.value)
                }
            )
        }
    }

    /// Damages the files of a version.
    ///
    /// - Throws: `FakeFailure` when either is no name.
    public func damage(_ model: String, _ version: String) throws {
        let version = try Self.version(model, version)
        guarded.withLock { _ = $0.damaged.insert(version) }
    }

    /// Says how long the files of a model are, which is what it is expected to take.
    ///
    /// - Throws: `FakeFailure` when it is no name.
    public func setLength(_ bytes: UInt64, of model: String) throws {
        guard let name = ModelName(model) else { throw FakeFailure(text: "no name \(model)") }
        guarded.withLock { $0.lengths[name] = bytes }
    }

    /// Says what the versions of a model declare, in place of what every model does.
    ///
    /// - Throws: `FakeFailure` when it is no name.
    public func setPorts(_ ports: ModelPorts, of model: String) throws {
        guard let name = ModelName(model) else { throw FakeFailure(text: "no name \(model)") }
        guarded.withLock { $0.ports[name] = ports }
    }

    package func setChecks(_ checks: [JSONValue], of model: String, _ version: String) throws {
        let version = try Self.version(model, version)
        guarded.withLock { $0.checks[version] = checks }
    }

    package static func version(_ model: String, _ version: String) throws -> LibraryVersion {
        var number: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in "\(model) \(version)".utf8 { number = (number ^ UInt64(byte)) &* 0x100_0000_01b3 }
        let bytes = (0..<32).map { UInt8(truncatingIfNeeded: number >> (($0 % 8) * 8)) }
        guard let name = ModelName(model), let parsed = ModelVersion(version),
            let variant = VariantName("default"), let digest = Digest(bytes: bytes)
        else { throw FakeFailure(text: "no version \(model) \(version)") }
        return LibraryVersion(model: name, version: parsed, variant: variant, manifest: digest)
    }
}

extension FakeDevice: ModelSource {
    package func stamp() -> SourceStamp? { SourceStamp([guarded.withLock { $0.changes }]) }

    package func activeVersion(of model: ModelName) throws(ModelLibraryError) -> LibraryVersion {
        let (version, isRecalled) = guarded.withLock { state in
            let version = state.versions[model]?.last
            return (version, version.map { state.recalled.contains($0) } ?? false)
        }
        guard let version else { throw .notAvailable(model: model.description, reason: "nothing is active") }
        guard !isRecalled else { throw version.refused("it is recalled") }
        guard let reason = guarded.withLock({ $0.quarantined[version] }) else { return version }
        guard let earlier = try earlierVersion(of: model, than: version) else {
            throw version.refused("it is quarantined: \(reason)")
        }
        return earlier
    }

    package func earlierVersion(
        of model: ModelName,
        than version: LibraryVersion
    ) throws(ModelLibraryError) -> LibraryVersion? {
        guarded.withLock { state in
            let kept = state.versions[model]?.suffix(2).reversed() ?? []
            return kept.first { other in
                other != version && !state.recalled.contains(other) && state.quarantined[other] == nil
            }
        }
    }

    package func mayRun(_ version: LibraryVersion) throws(ModelLibraryError) -> Bool {
        guarded.withLock { !$0.recalled.contains(version) && $0.quarantined[version] == nil }
    }

    package func condemn(
        _ version: LibraryVersion,
        _ reason: String
    ) throws(ModelLibraryError) -> QuarantinePlace {
        guarded.withLock { state in
            state.quarantined[version] = reason
            if state.isReadOnly { return .memory("the device is read-only") }
            state.changes += 1
            return .device
        }
    }

    package func open(_ version: LibraryVersion) throws(ModelLibraryError) -> OpenedModel? {
        let (isThere, isDamaged, length, checks) = guarded.withLock { state in
            (
                state.versions[version.model]?.suffix(2).contains(version) ?? false,
                state.damaged.contains(version), state.lengths[version.model] ?? 0,
                state.checks[version] ?? []
            )
        }
        guard isThere else { return nil }
        guard !isDamaged else { throw version.refused("its files are damaged") }
        var opened = OpenedModel(
            version: version,
            directory: "/models",
            entryPath: "/models/\(version.model)/\(version.version)",
            format: format,
            ports: guarded.withLock { $0.ports[version.model] } ?? ports
        )
        opened.labels = ["a", "b"]
        opened.length = length
        opened.checks = checks
        return opened
    }
}

extension ModelLibrary {
    /// A library over fakes, for tests of an app's own lifecycle.
    ///
    /// Its loads wait for no other library's, since what they take is not this machine's.
    ///
    /// - Parameters:
    ///   - device: Which versions are active.
    ///   - runtimes: As a rule one `FakeRuntime`.
    ///   - configuration: How it decides.
    ///   - memory: How much there is; a machine that says nothing unless given.
    ///   - clock: What it takes the time from.
    ///   - delivery: Called for a model that is asked for and not there.
    public init(
        device: FakeDevice,
        runtimes: [any ModelRuntime],
        configuration: LibraryConfiguration = LibraryConfiguration(),
        memory: any MemoryProbe = FakeMemory(limit: nil),
        clock: any LibraryClock = SystemClock(),
        delivery: (@Sendable (String) async throws -> Void)? = nil
    ) {
        self.init(
            source: device,
            runtimes: runtimes,
            configuration: configuration,
            probe: memory,
            clock: clock,
            turn: LoadTurn(),
            delivery: delivery
        )
    }
}
