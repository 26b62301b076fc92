import Generations
import Manifest
import Names

/// A version that signed documents allow this device to activate.
struct Candidate: Equatable, Sendable {
    let version: ModelVersion
    let manifest: Digest

    /// Why it may be taken, in one line.
    let reason: String
}

/// The versions that a device may activate, by signed documents alone; whether it can use them comes after.
///
/// | the active version was… | then |
/// |---|---|
/// | held, yanked, or its rollout narrowed | stay; no new installs |
/// | taken off the channel | stay, unless a listed version names it in `replaces` |
/// | recalled or denied | leave now: newest good one, else none |
/// | below the floor | never activate; replace by anything at or above; until one is there the running one stays |
///
/// A version below the active one is a candidate only when a signature says
/// so: `replaces`, or the recall or denial of the active one.
struct Candidates: Equatable, Sendable {
    /// The highest precedence first; the active version is among them when it may stay.
    private(set) var ordered: [Candidate] = []

    /// The newest first.
    private(set) var skipped: [SkippedVersion] = []

    /// Why the active version must be left, whatever can take its place.
    let recall: String?

    /// Gathers the candidates of one request.
    ///
    /// - Parameters:
    ///   - request: What is asked for.
    ///   - chain: What is signed.
    ///   - active: The version that is active now.
    ///   - hasRun: Whether this device ran a manifest before; only then may an exact version go back.
    ///   - bucket: This device's place in a rollout, `0 ..< 10_000`.
    init(
        _ request: WantedModel,
        in chain: ModelChain,
        active: VersionIdentity?,
        hasRun: (Digest) -> Bool = { _ in false },
        bucket: (Digest, ChannelName) -> Int = { _, _ in 0 }
    ) {
        recall = active.flatMap { chain.recall(of: $0.version, $0.manifest) }
        switch request.selection {
        case .channel(let channel):
            let floor = chain.live?.channels[channel]?.floor
            for listing in chain.live?.listed(in: channel) ?? [] {
                consider(listing, in: chain, active, floor: floor) {
                    guard listing.rollout < Listing.fullRollout,
                        bucket(listing.manifest, channel) >= listing.rollout
                    else { return nil }
                    return "its rollout has not reached this device"
                }
            }
        case .version(let version):
            guard let manifest = chain.releases[version] else { return }
            // A version asked for by name belongs to no channel: it is too low only where every floor says so.
            let floor = chain.live?.channels.values.compactMap(\.floor).min()
            let replaces = hasRun(manifest) ? active.map { [$0.manifest] } ?? [] : []
            let listing = Listing(version: version, manifest: manifest, replaces: replaces)
            consider(listing, in: chain, active, floor: floor) { nil }
            if ordered.isEmpty, skipped.isEmpty, let active {
                skip(
                    version,
                    "lower than the active \(active.version), and nothing signed says to go back to it"
                )
            }
        }
    }

    private mutating func consider(
        _ listing: Listing,
        in chain: ModelChain,
        _ active: VersionIdentity?,
        floor: ModelVersion?,
        rollout: () -> String?
    ) {
        let isActive = active?.manifest == listing.manifest
        var obstacle = chain.recall(of: listing.version, listing.manifest)
        if obstacle == nil, let floor, listing.version < floor { obstacle = "below the floor \(floor)" }
        if obstacle == nil, chain.releases[listing.version] != listing.manifest {
            obstacle = "the release role does not list this manifest"
        }
        if obstacle == nil, !isActive {
            if let state = chain.live?.state(of: listing.version) {
                obstacle = "yanked at \(state.time): \(state.reason)"
            } else if let hold = chain.holds[listing.manifest] {
                obstacle = "held until \(hold.until): \(hold.reason)"
            } else {
                obstacle = rollout()
            }
        }
        if let obstacle {
            // What lies below the running version is of no interest, unless that has to be left.
            let isLower = recall == nil && !isActive && active.map { listing.version < $0.version } ?? false
            return isLower ? () : skip(listing.version, obstacle)
        }
        var reason = "the highest version that may be taken"
        if let active, !isActive, recall == nil {
            if listing.version == active.version {
                return skip(listing.version, "the same version with another manifest than the active one")
            }
            if listing.version < active.version {
                guard listing.replaces.contains(active.manifest) else { return }
                reason = "it replaces \(active.version)"
            }
        } else if let recall, let active {
            reason = "\(active.version) had to be left (\(recall))"
        }
        ordered.append(Candidate(version: listing.version, manifest: listing.manifest, reason: reason))
    }

    private mutating func skip(_ version: ModelVersion, _ reason: String) {
        skipped.append(SkippedVersion(version: version.description, reason: reason))
    }
}
