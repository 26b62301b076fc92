/// Something that a library did, for logs and metrics.
public enum ModelLibraryEvent: Equatable, Sendable {
    /// A version is in memory.
    case loaded(LoadRecord)

    /// A version was not loaded, because it must not run, could not or does not fit.
    case refused(model: String, version: String, reason: String)

    /// A version left the library; its memory is freed.
    case evicted(model: String, version: String, reason: EvictionReason)

    /// An earlier version answers, because the active one cannot.
    case fellBack(model: String, from: String, to: String, reason: String)

    /// A version that does not work here is not tried again, by this process and, where it could be noted on the
    /// device, by no other and by no sync.
    case quarantined(model: String, version: String, reason: String, place: QuarantinePlace)

    /// A load has had its turn for longer than the configuration finds usual, since a disk or a runtime does not come
    /// back; others go on.
    case longLoad(model: String, version: String, after: Duration)

    /// A call of a model failed in its runtime.
    case inferenceFailed(model: String, version: String, reason: String)

    /// A lease is held for longer than the configuration finds usual; the model stays for it.
    case longLease(model: String, version: String, held: Duration)

    /// The level of memory pressure changed.
    case pressure(MemoryPressure)

    /// The record is not kept, because the file cannot be written or is something else.
    case recordNotKept(file: String, reason: String)

    /// A rung of a ladder could not answer, and the next is tried.
    case steppedDown(rung: String, reason: String)
}

/// Where it is kept that a version is not tried again.
public enum QuarantinePlace: Equatable, Sendable {
    /// On the device: `sealift quarantine list` has it, and `sealift quarantine clear` ends it.
    case device

    /// In this library's memory alone, since the device directory cannot be written, and why.
    case memory(String)
}

/// What one load took.
public struct LoadRecord: Equatable, Sendable {
    /// The name, `vision/detector`.
    public let model: String

    /// The version, `1.4.0`.
    public let version: String

    /// The runtime and its version, `onnxruntime 1.28.0`.
    public let runtime: String

    /// The time until its turn and until there was memory.
    public let waited: Duration

    /// The load itself, with all checks.
    public let took: Duration

    /// The part of `took` in the runtime's own load.
    public let inRuntime: Duration

    /// What this process held before, where the system says.
    public let before: MemoryFootprint?

    /// What it held afterwards.
    public let after: MemoryFootprint?
}

/// Why a model left the library.
public enum EvictionReason: Equatable, Sendable {
    /// Another version is active and loaded.
    case replaced

    /// The app asked for it.
    case requested

    /// The app asked for all to go, and said why.
    case all(String)

    /// Another model needed the memory.
    case memory

    /// Nobody used it for the idle time-out.
    case idle

    /// The residency policy keeps others.
    case residency

    /// Memory became scarce.
    case pressure(MemoryPressure)

    /// The app went to the background.
    case background

    /// Whether a new lease leaves it at that, so that the model goes with its last one.
    var isFinal: Bool {
        switch self {
        case .requested, .all, .pressure(.critical): true
        case .replaced, .memory, .idle, .residency, .pressure, .background: false
        }
    }

    /// For events and metrics, one word.
    public var name: String {
        switch self {
        case .replaced: "replaced"
        case .requested: "requested"
        case .all: "all"
        case .memory: "memory"
        case .idle: "idle"
        case .residency: "residency"
        case .pressure: "pressure"
        case .background: "background"
        }
    }
}
