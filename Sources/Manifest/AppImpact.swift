package import Names

/// What a version means for an app that said what it needs.
package enum AppImpact: Equatable, Sendable {
    /// The app can live with it.
    case serves

    /// The app lives with the version before, and cannot live with this one; with the reasons.
    case breaks([String])

    /// The app can live neither with this version nor with the one before, so that nothing becomes worse.
    case doesNotServe([String])

    /// - Parameters:
    ///   - manifest: Of the version.
    ///   - expectation: What the app needs.
    ///   - before: What apps have had until now; `nil` when there is nothing yet.
    package init(of manifest: ModelManifest, on expectation: Expectation, after before: ModelManifest?) {
        let verdict = Compatibility.verdict(expectation, manifest)
        guard !verdict.allowsUse else {
            self = .serves
            return
        }
        let served = before.map { Compatibility.verdict(expectation, $0).allowsUse } ?? false
        self = served ? .breaks(verdict.reasons) : .doesNotServe(verdict.reasons)
    }

    /// The version that apps have had until now, when another one comes.
    ///
    /// Of what is in use on its channel the greatest below it, or else the
    /// greatest. In use is what a channel offers to all devices, and where it
    /// offers nothing to all what it offers to some: a version that is
    /// withdrawn or has no share serves nobody. Apps follow one channel each,
    /// so what another one has says nothing of them; but while nothing is in
    /// use anywhere, they may have what is released.
    ///
    /// - Parameters:
    ///   - version: The one that comes.
    ///   - channel: Where it comes into use; `nil` for one that is released alone, before which is what is in use on
    ///     any.
    ///   - live: The channels as they are without it.
    ///   - released: All that is released, with it or without.
    /// - Returns: `nil` when there is none.
    package static func versionBefore(
        _ version: ModelVersion,
        on channel: ChannelName?,
        in live: LiveDocument?,
        released: [ModelVersion]
    ) -> ModelVersion? {
        var listed: [ChannelName: [ModelVersion]] = [:]
        for name in live?.channels.keys.sorted() ?? [] {
            let toAll = live?.offeredToAll(in: name) ?? []
            let toSome = live?.eligible(in: name).filter { $0.rollout > 0 } ?? []
            let others = [toAll, toSome].map { $0.map(\.version).filter { $0 != version } }
            listed[name] = others.first { !$0.isEmpty } ?? []
        }
        let inUse = listed.values.flatMap(\.self)
        let known =
            inUse.isEmpty
            ? released.filter { $0 != version } : channel.map { listed[$0] ?? [] } ?? inUse
        return known.filter { $0 < version }.max() ?? known.max()
    }
}

extension LiveDocument {
    /// The versions that stand in some channel and stood in that one under no earlier document, in order.
    package func entered(since before: LiveDocument?) -> [(channel: ChannelName, version: ModelVersion)] {
        var entered: [(channel: ChannelName, version: ModelVersion)] = []
        for (name, channel) in channels {
            let known = Set(before?.channels[name]?.versions.map(\.manifest) ?? [])
            for listed in channel.versions where !known.contains(listed.manifest) {
                entered.append((name, listed.version))
            }
        }
        return entered.sorted { ($0.version, $0.channel) < ($1.version, $1.channel) }
    }
}
