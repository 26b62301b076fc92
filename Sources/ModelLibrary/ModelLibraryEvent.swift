/// Something that a library did, for logs and metrics.
public enum ModelLibraryEvent: Equatable, Sendable {
    /// A version is in memory; `waited` is the time until its turn, `took` the load itself.
    case loaded(model: String, version: String, waited: Duration, took: Duration)

    /// A version was not loaded, because it must not run or could not.
    case refused(model: String, version: String, reason: String)

    /// A version left the library; its memory is freed.
    case evicted(model: String, version: String, reason: EvictionReason)
}

/// Why a model left the library.
public enum EvictionReason: Equatable, Sendable {
    /// Another version is active and loaded.
    case replaced

    /// The app asked for it.
    case requested

    /// The app asked for all to go, and said why.
    case all(String)
}
