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
    /// Of what is in use on any channel, and without that of what is released,
    /// the greatest below it, or else the greatest.
    ///
    /// - Parameters:
    ///   - version: The one that comes.
    ///   - live: The channels as they are without it.
    ///   - released: All that is released, with it or without.
    /// - Returns: `nil` when there is none.
    package static func versionBefore(
        _ version: ModelVersion,
        in live: LiveDocument?,
        released: [ModelVersion]
    ) -> ModelVersion? {
        let listed = (live?.channels ?? [:]).values.flatMap { $0.versions.map(\.version) }
        let inUse = listed.filter { $0 != version }
        let known = inUse.isEmpty ? released.filter { $0 != version } : inUse
        return known.filter { $0 < version }.max() ?? known.max()
    }
}
