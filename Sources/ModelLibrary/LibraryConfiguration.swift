public import Inference

/// How a library decides; each value is a usual choice, to be changed where an app knows better.
public struct LibraryConfiguration: Sendable {
    /// How to load every model that no rung or request loads in another way.
    public var loadOptions = LoadOptions()

    /// What callers may send.
    public var inputPolicy = InputPolicy()

    /// How much models may give.
    public var outputPolicy = OutputPolicy()

    /// Which idle models stay in memory.
    public var residency = ResidencyPolicy.everything

    /// An idle model that nobody used for this long is freed; pinned ones are not.
    public var idleTimeout: Duration?

    /// How much memory models may take.
    public var memory = MemoryPolicy()

    /// What happens to the version in memory while the next one loads.
    public var swap = SwapPolicy.beside

    /// What a memory warning and the way to the background free.
    public var background = BackgroundPolicy.keepPinned

    /// The longest that a request waits for its model, turn and memory included.
    ///
    /// An earlier version that is to answer in place of one that was not ready,
    /// or failed, has five seconds from then on, where less is left.
    public var deadline = Duration.seconds(60)

    /// A load that takes longer than this lets others load beside it, as far as the budget allows, so that a runtime
    /// that never comes back holds up its own model alone; it is told as an event.
    public var longLoad = Duration.seconds(120)

    /// A lease held longer than this is told as an event, once; it is never taken away.
    public var longLease = Duration.seconds(300)

    /// For how long a look at the device holds, so that a call on a resident model asks no disk.
    ///
    /// A switch or a recall is seen this much later at the most.
    public var recheck = Duration.milliseconds(100)

    /// When a version that failed, and for which an earlier one answers, is tried again.
    public var retryAfter = Duration.seconds(60)

    /// Where measured costs and use are kept between runs; `nil` keeps them in memory alone.
    ///
    /// It is written after each load, half a minute after a use at the latest,
    /// when the app goes to the background, and when the library goes. An app
    /// that ends its process calls `saveRecord()` before. A file that is no
    /// record of a library is neither read nor replaced; an event says so. A
    /// lock stays beside it, under its name with `.lock`.
    public var recordFile: String?

    /// Whether a version that cannot be loaded here goes into the quarantine of the device, for every app and sync.
    ///
    /// A tool for looking, which may have another runtime than the device's
    /// apps, sets it to `false`: it then goes by what it saw itself, and leaves
    /// the device as it is.
    public var quarantinesFailures = true

    /// The usual choices.
    public init() {}

    /// With no time beyond what sums of times can hold.
    var held: LibraryConfiguration {
        var held = self
        held.idleTimeout = idleTimeout?.held
        held.memory.patience = memory.patience.held
        held.deadline = deadline.held
        held.longLoad = longLoad.held
        held.longLease = longLease.held
        held.recheck = recheck.held
        held.retryAfter = retryAfter.held
        return held
    }
}

/// Which idle models stay in memory.
public enum ResidencyPolicy: Equatable, Sendable {
    /// All, until memory, an idle time-out or the app says otherwise.
    case everything

    /// The one that was used last.
    case onlyActive

    /// This many, those used last; pinned ones come on top.
    case mostRecent(Int)

    /// How many stay; `nil` for all.
    var count: Int? {
        switch self {
        case .everything: nil
        case .onlyActive: 1
        case .mostRecent(let count): max(0, count)
        }
    }
}

/// What happens to the version in memory while the next one loads.
public enum SwapPolicy: Equatable, Sendable {
    /// The new one is loaded beside the old where memory allows both; no call waits for less than it must.
    case beside

    /// The old one is freed first, so that there is never more than one in memory, except where somebody still uses it.
    case oldFirst

    /// As `beside`, and calls get the old one until the new one is ready.
    case besideWithoutWaiting
}

/// What goes when the app leaves the foreground.
public enum BackgroundPolicy: Equatable, Sendable {
    /// Nothing.
    case keepAll

    /// Idle models, except those that are pinned.
    case keepPinned

    /// Every idle model.
    case keepNone
}

/// How much a model matters when not all can stay.
public enum ModelPriority: Int, Comparable, Sendable, CaseIterable {
    /// Goes first, and makes nobody else go.
    case low

    /// The usual one.
    case normal

    /// Goes last, and its load comes before others.
    case high

    /// By how much they matter.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
