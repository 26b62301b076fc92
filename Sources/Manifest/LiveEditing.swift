package import Names

/// Edits, each of which gives a new document that obeys every rule.
extension LiveDocument {
    /// Lists one more version on `channel`, and keeps all else.
    ///
    /// A version that is listed already, with the same manifest, gets the new
    /// rollout. The manifest is taken out of every `replaces` of the channel,
    /// since a version cannot be in use and left at the same time.
    ///
    /// - Throws: `ManifestError.editRefused` when the channel lists that version with another manifest,
    ///   or the version has been withdrawn.
    package func adding(
        _ added: ListedVersion,
        to name: ChannelName,
        rollout: Int = Listing.fullRollout
    ) throws(ManifestError) -> LiveDocument {
        try checkAdmissible(added)
        var channel = channels[name] ?? Channel()
        if let index = channel.versions.firstIndex(where: { $0.version == added.version }) {
            guard channel.versions[index].manifest == added.manifest else {
                throw refused(
                    "\(name) lists \(added.version) as \(channel.versions[index].manifest), not \(added.manifest)"
                )
            }
            channel.versions[index].rollout = rollout
        } else {
            channel.versions.append(
                Listing(version: added.version, manifest: added.manifest, rollout: rollout)
            )
        }
        for index in channel.versions.indices {
            channel.versions[index].replaces.removeAll { $0 == added.manifest }
        }
        return try replacing(name, by: channel)
    }

    /// Makes `channel` list exactly `versions`.
    ///
    /// Each replaces every version of higher precedence that the channel ever
    /// listed, so that devices go back to it. What the channel lists and
    /// replaces now is known from this document; the versions of replaced
    /// manifests, and what was removed earlier, come from `history`. A
    /// replaced manifest whose version is unknown stays replaced, which at
    /// worst names an older one that devices leave anyway.
    ///
    /// - Parameters:
    ///   - name: The channel.
    ///   - versions: What the channel lists from now on; the rollout of those listed already is kept.
    ///   - history: Other versions that the channel listed once.
    /// - Returns: The edited document.
    /// - Throws: `ManifestError.editRefused` for a version twice, or one that has been withdrawn.
    package func setting(
        _ name: ChannelName,
        to versions: [ListedVersion],
        history: [ListedVersion] = []
    ) throws(ManifestError) -> LiveDocument {
        var channel = channels[name] ?? Channel()
        let kept = Set(versions.map(\.manifest))
        var versionOf: [Digest: ModelVersion] = [:]
        for known in history + channel.versions.map(\.identity) { versionOf[known.manifest] = known.version }
        let past = Set(versionOf.keys).union(channel.versions.flatMap(\.replaces)).subtracting(kept)
        var listings: [Listing] = []
        for version in versions {
            try checkAdmissible(version)
            let old = channel.versions.first { $0.identity == version }
            let replaced = past.filter { digest in versionOf[digest].map { $0 > version.version } ?? true }
            listings.append(
                Listing(
                    version: version.version,
                    manifest: version.manifest,
                    rollout: old?.rollout ?? Listing.fullRollout,
                    replaces: replaced.sorted()
                )
            )
        }
        channel.versions = listings
        return try replacing(name, by: channel)
    }

    /// Takes versions off `channel`; devices that have them keep them.
    ///
    /// - Throws: `ManifestError.editRefused` for a version that the channel does not list.
    package func removing(
        _ versions: [ModelVersion],
        from name: ChannelName
    ) throws(ManifestError) -> LiveDocument {
        var channel = channels[name] ?? Channel()
        for version in versions {
            guard channel.versions.contains(where: { $0.version == version }) else {
                throw refused("\(name) does not list \(version)")
            }
            channel.versions.removeAll { $0.version == version }
        }
        return try replacing(name, by: channel)
    }

    /// Takes a withdrawal back.
    ///
    /// - Throws: `ManifestError.editRefused` for a version that was not withdrawn.
    package func restoring(_ version: ModelVersion) throws(ManifestError) -> LiveDocument {
        guard states[version] != nil else { throw refused("\(version) is neither yanked nor recalled") }
        var edited = self
        edited.states[version] = nil
        return edited
    }

    /// Withdraws a version.
    package func withdrawing(_ version: ModelVersion, _ state: VersionState) -> LiveDocument {
        var edited = self
        edited.states[version] = state
        return edited
    }

    /// Sets or lifts the floor of a channel.
    package func flooring(_ name: ChannelName, at floor: ModelVersion?) -> LiveDocument {
        var edited = self
        edited.channels[name, default: Channel()].floor = floor
        return edited
    }

    private func checkAdmissible(_ version: ListedVersion) throws(ManifestError) {
        guard let state = states[version.version] else { return }
        throw refused("\(version.version) is \(state.kind.rawValue) since \(state.time): \(state.reason)")
    }

    private func replacing(_ name: ChannelName, by channel: Channel) throws(ManifestError) -> LiveDocument {
        if let broken = channel.brokenRule {
            throw refused("\(name) must have \(broken.expected), found \(broken.found)")
        }
        guard channel.versions.allSatisfy({ (0...Listing.fullRollout).contains($0.rollout) }) else {
            throw refused("a rollout is from 0 to \(Listing.fullRollout)")
        }
        var edited = self
        edited.channels[name] = channel
        return edited
    }

    private func refused(_ reason: String) -> ManifestError {
        .editRefused(.live, reason: "\(model): \(reason)")
    }
}
