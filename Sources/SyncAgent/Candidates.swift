import Generations
import Manifest
import Names

/// A version that this device may activate.
struct Candidate: Equatable, Sendable {
    let version: ModelVersion
    let manifest: Digest

    /// Why it may be taken, in one line.
    let reason: String
}

/// The versions that a device may activate, by signed documents and its own rules; whether an app can use them comes
/// after.
///
/// | the active version was… | then |
/// |---|---|
/// | held, yanked, or its rollout narrowed | stay; no new installs |
/// | taken off the channel | stay, unless a listed version names it in `replaces` |
/// | recalled or denied | leave now: newest good one, else none |
/// | not what was signed | replace by what was, or the newest good one; until one is there it stays |
/// | quarantined here | replace by the newest good one; until one is there it stays, and `ModelLibrary` loads it no more |
/// | below the floor (signed or local, the higher) | never activate; replace by anything at or above; until one is there the running one stays |
///
/// Precedence: denied and recalled, then floor, quarantine, pin, `replaces`,
/// highest version. A version below the active one is a candidate only when a
/// signature says so (`replaces`, or the recall or denial of the active one),
/// or when its operator asks for it by name and this device ran it before.
struct Candidates {
    /// The highest precedence first; the active version is among them when it is what should run.
    private(set) var ordered: [Candidate] = []

    /// The newest first.
    private(set) var passedOver: [PassedOver] = []

    /// Below the active one, and nothing says to go back to them; the newest first.
    private(set) var lower: [Candidate] = []

    /// Why the active version must be left, whatever can take its place.
    let departure: Obstacle?

    /// Why the active version is to be left for any other that can take its place: it must be, or does not work here.
    private let aversion: Obstacle?

    /// Why the active version runs on although nobody would newly take it; `nil` where somebody would.
    private(set) var stay: String?

    /// What this device's floor or pin asks for that the active version is not; it stays where nothing can be taken.
    private(set) var unmet: String?

    /// Whether the active version is not what was signed.
    private let isForged: Bool

    private let chain: ModelChain
    private let rules: DeviceRules
    private let active: VersionIdentity?

    /// Gathers the candidates of one request.
    ///
    /// - Parameters:
    ///   - request: What is asked for.
    ///   - chain: What is signed.
    ///   - rules: What this device says.
    ///   - active: The version that is active now.
    init(_ request: WantedModel, in chain: ModelChain, _ rules: DeviceRules, active: VersionIdentity?) {
        self.chain = chain
        self.rules = rules
        self.active = active
        departure = active.flatMap { chain.withdrawal(of: $0.version, $0.manifest) }
        let quarantined = active.flatMap { rules.quarantine[$0.manifest] }
        let forgery = active.flatMap { chain.forgery($0) }
        isForged = forgery != nil
        aversion = departure ?? forgery ?? quarantined.map { .quarantined(reason: $0) }
        let floor = Self.floor(request, chain, rules)
        switch request.selection {
        case .channel(let channel):
            var listed = chain.live?.listed(in: channel) ?? []
            if isForged, let active, !listed.contains(where: { $0.version == active.version }),
                let signed = named(active.version)
            {
                listed.append(signed)
            }
            if let pin = rules.pin, considerPinned(pin, floor) {
                for listing in listed where listing.version != pin && listing.manifest != active?.manifest {
                    passOver(listing.version, .pinned(pin))
                }
            } else {
                for listing in listed { consider(listing, floor, on: channel) }
            }
            stay = Self.stay(chain, rules, active, listed, floor, channel)
        case .version(let version):
            if let pin = rules.pin, considerPinned(pin, floor) {
                if version != pin { passOver(version, .pinned(pin)) }
            } else if let listing = named(version) {
                consider(listing, floor, on: nil)
                if ordered.isEmpty, passedOver.isEmpty, let active {
                    passOver(version, .lower(than: active.version))
                }
            }
        }
        unmet = active.flatMap { unmet($0, floor) }
        passedOver.sort { $0.version > $1.version }
        lower.sort { $0.version > $1.version }
    }

    /// The lowest version that may be activated: what is signed or what this device says, the higher.
    ///
    /// A version asked for by name belongs to no channel: it is too low only
    /// where every channel that has a floor says so.
    private static func floor(
        _ request: WantedModel,
        _ chain: ModelChain,
        _ rules: DeviceRules
    ) -> ModelVersion? {
        let signed: ModelVersion?
        switch request.selection {
        case .channel(let channel): signed = chain.live?.channels[channel]?.floor
        case .version: signed = chain.live?.channels.values.compactMap(\.floor).min()
        }
        return [signed, rules.floor].compactMap { $0 }.max()
    }

    // MARK: one version

    /// A version as its operator names it: listed or not, whatever its rollout.
    private func named(_ version: ModelVersion) -> Listing? {
        guard let manifest = chain.releases[version] else { return nil }
        let replaces = rules.hasRun(manifest) ? active.map { [$0.manifest] } ?? [] : []
        return Listing(version: version, manifest: manifest, replaces: replaces)
    }

    /// Takes the pinned version, if the pin counts.
    ///
    /// - Returns: Whether it counts. It is set aside when the pinned version is withdrawn or below the floor,
    ///   and when it cannot be taken and the active one may not stay: all of these come before a pin.
    private mutating func considerPinned(_ pin: ModelVersion, _ floor: ModelVersion?) -> Bool {
        let mustMove = aversion != nil || isBelow(floor)
        guard let listing = named(pin) else {
            if !mustMove { passOver(pin, .unknown) }
            return !mustMove
        }
        guard let obstacle = obstacle(to: listing, floor, on: nil) else {
            let isBack = active.map { pin < $0.version } ?? false
            if isBack, aversion == nil, !rules.hasRun(listing.manifest), let active {
                passOver(pin, .lower(than: active.version))
            } else {
                ordered = [Candidate(version: pin, manifest: listing.manifest, reason: "it is pinned")]
            }
            return true
        }
        switch obstacle {
        case .denied, .recalled, .withdrawn, .belowFloor:
            if active?.manifest != listing.manifest { passOver(pin, obstacle) }
            return false
        default:
            if !mustMove { passOver(pin, obstacle) }
            return !mustMove
        }
    }

    private func unmet(_ active: VersionIdentity, _ floor: ModelVersion?) -> String? {
        if let floor, active.version < floor { return Self.below(floor, active) }
        guard let pin = rules.pin, pin != active.version, chain.releases[pin] == nil else { return nil }
        return
            "it is pinned to \(pin), and no such version is released; \(active.version) stays. Pin another, or let it "
            + "move again: ‘sealift unpin \(active.model)’"
    }

    private static func below(_ floor: ModelVersion, _ active: VersionIdentity) -> String {
        "\(active.version) is below the floor \(floor) and runs on until a version from there up can be taken"
    }

    private func isBelow(_ floor: ModelVersion?) -> Bool {
        guard let floor, let active else { return false }
        return active.version < floor
    }

    private mutating func consider(_ listing: Listing, _ floor: ModelVersion?, on channel: ChannelName?) {
        let isActive = active?.manifest == listing.manifest
        if let obstacle = obstacle(to: listing, floor, on: channel) {
            // What lies below the running version is of no interest, unless that has to be left.
            let isLower =
                aversion == nil && !isActive && active.map { listing.version < $0.version } ?? false
            return isLower && channel != nil ? () : passOver(listing.version, obstacle)
        }
        var reason = "the highest version that may be taken"
        if let active, !isActive, aversion == nil {
            if listing.version < active.version {
                guard listing.replaces.contains(active.manifest) else {
                    lower.append(
                        Candidate(
                            version: listing.version,
                            manifest: listing.manifest,
                            reason: "it would fit"
                        )
                    )
                    return
                }
                reason =
                    channel == nil
                    ? "it is asked for, and this device ran it before" : "it replaces \(active.version)"
            }
        } else if let aversion, let active {
            reason = "\(active.version) had to be left (\(aversion))"
        }
        ordered.append(Candidate(version: listing.version, manifest: listing.manifest, reason: reason))
    }

    /// What is in the way of a version, the weightiest first.
    private func obstacle(
        to listing: Listing,
        _ floor: ModelVersion?,
        on channel: ChannelName?
    ) -> Obstacle? {
        if let withdrawal = chain.withdrawal(of: listing.version, listing.manifest) { return withdrawal }
        if let floor, listing.version < floor { return .belowFloor(floor) }
        guard chain.releases[listing.version] == listing.manifest else { return .notReleased }
        if let reason = rules.quarantine[listing.manifest] { return .quarantined(reason: reason) }
        guard active?.manifest != listing.manifest else { return nil }
        // Not newly taken, but put right.
        if isForged, active?.version == listing.version { return nil }
        // A recall was found above.
        if let state = chain.live?.state(of: listing.version) { return .yanked(state) }
        if let hold = chain.holds[listing.manifest] { return .held(hold) }
        guard let channel, listing.rollout < Listing.fullRollout,
            rules.bucket(listing.manifest, channel) >= listing.rollout
        else { return nil }
        return .rollout
    }

    private mutating func passOver(_ version: ModelVersion, _ obstacle: Obstacle) {
        passedOver.append(PassedOver(version: version, obstacle: obstacle))
    }

    // MARK: the active version

    private static func stay(
        _ chain: ModelChain,
        _ rules: DeviceRules,
        _ active: VersionIdentity?,
        _ listed: [Listing],
        _ floor: ModelVersion?,
        _ channel: ChannelName
    ) -> String? {
        guard let active else { return nil }
        if let floor, active.version < floor { return below(floor, active) }
        if let forgery = chain.forgery(active) {
            return "\(active.version) is \(forgery), and nothing else can take its place"
        }
        if let reason = rules.quarantine[active.manifest] {
            return
                "\(active.version) is quarantined on this device (\(reason)), and nothing else can take its place"
        }
        if let state = chain.live?.state(of: active.version), state.kind == .yanked {
            return "\(active.version) was yanked at \(state.time) (\(state.reason)) and stays where it runs"
        }
        if let hold = chain.holds[active.manifest] {
            return "\(active.version) is held until \(hold.until) (\(hold.reason)) and stays where it runs"
        }
        if rules.pin == active.version { return "\(active.version) is pinned on this device" }
        guard let listing = listed.first(where: { $0.manifest == active.manifest }) else {
            return
                "\(channel) does not list \(active.version) any more, which stays until something replaces it"
        }
        guard rules.bucket(active.manifest, channel) >= listing.rollout else { return nil }
        return "the rollout of \(active.version) was narrowed, and it stays where it runs"
    }
}
