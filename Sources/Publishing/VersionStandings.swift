package import Manifest
package import Names
package import Trust

/// Where the versions of a model stand by all that is signed: channels, withdrawals, denials and holds.
package struct VersionStandings: Sendable {
    private let live: LiveDocument
    private let released: [ModelVersion: Digest]
    private let denials: [Denial]
    private let holds: [Digest: Hold]

    package init(
        live: LiveDocument,
        released: [ModelVersion: Digest],
        denials: [Denial],
        holds: [Digest: Hold]
    ) {
        self.live = live
        self.released = released
        self.denials = denials.filter { $0.model == live.model }
        self.holds = holds
    }

    /// The version that a channel offers to all devices; `nil` when there is none.
    package func version(of channel: ChannelName) -> ModelVersion? {
        live.offeredToAll(in: channel).map(\.version).first { withdrawal(of: $0) == nil }
    }

    /// Why no device newly takes a version; `nil` when one may.
    package func withdrawal(of version: ModelVersion) -> String? {
        let manifest = released[version]
        let denial = denials.first { denial in
            switch denial.subject {
            case .versions(let versions): versions.contains(version)
            case .manifest(let digest): digest == manifest
            }
        }
        if let denial { return "denied since \(denial.since): \(denial.reason)" }
        if let state = live.state(of: version) {
            return "\(state.kind.rawValue) since \(state.time): \(state.reason)"
        }
        if let hold = manifest.flatMap({ holds[$0] }) { return "held until \(hold.until): \(hold.reason)" }
        return nil
    }

    /// Why a channel does not offer a version that it lists to all devices, in words.
    private func obstacle(_ listing: Listing, on channel: ChannelName) -> String? {
        if let withdrawal = withdrawal(of: listing.version) { return "\(listing.version) is \(withdrawal)" }
        if let floor = live.channels[channel]?.floor, listing.version < floor {
            return "\(listing.version) is below \(floor), the floor"
        }
        guard listing.rollout != Listing.fullRollout else { return nil }
        return "\(listing.version) goes to \(Share.words(listing.rollout)) devices"
    }

    /// What a channel lists above the version that it stands for, and why it stands for none of these.
    ///
    /// - Returns: All that it lists, where it stands for none.
    package func passedOver(on channel: ChannelName) -> [String] {
        let version = version(of: channel)
        return live.listed(in: channel).filter { listing in version.map { listing.version > $0 } ?? true }
            .compactMap { obstacle($0, on: channel) }
    }
}

extension VerifiedRegistry {
    /// Where the versions of a model stand.
    ///
    /// Holds that have ended apply to nobody, as on devices.
    package mutating func standings(
        of model: ModelName,
        on state: RegistryState,
        at now: UnixTime
    ) async throws(PublishingError) -> VersionStandings {
        let denials = [SealiftRole.targets, .namespace(model.namespace)].flatMap { role in
            state.roles[role]?.document.deny ?? []
        }
        return VersionStandings(
            live: try state.live(of: model),
            released: state.released(of: model),
            denials: denials,
            holds: try await holds(on: model, at: now)
        )
    }

    private mutating func holds(
        on model: ModelName,
        at now: UnixTime
    ) async throws(PublishingError) -> [Digest: Hold] {
        let path = HoldDocument.targetPath(model: model)
        guard let bytes = try await content(of: path, in: try await holdRole()),
            let document = try? HoldDocument(canonical: bytes, at: path)
        else { return [:] }
        return document.effect(at: now).holds
    }
}
