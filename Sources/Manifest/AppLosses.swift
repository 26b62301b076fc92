package import Names

/// What a channel offered before a change and offers no more.
package struct ChannelLoss: Equatable, Sendable {
    package let channel: ChannelName

    /// Highest precedence first.
    package let lost: [ModelVersion]

    /// Those of them that devices leave at once, which nothing may hold up.
    package let recalled: Set<ModelVersion>

    /// What it still offers to all devices, or newly, highest precedence first.
    package let left: [ModelVersion]
}

extension LiveDocument {
    /// The channels from which devices may newly install less than under an earlier document, in order.
    ///
    /// A version is lost as soon as fewer devices may take it than before: one
    /// that is withdrawn, taken off, below the floor, or of a smaller share.
    /// One that no device could take is no loss. Only what all devices may
    /// take makes up for a loss: whichever device is outside a share must be
    /// left with something, and shares of two versions are of different devices.
    package func losses(since before: LiveDocument) -> [ChannelLoss] {
        before.channels.keys.sorted().compactMap { channel in
            let shares = Dictionary(eligible(in: channel).map { ($0.version, $0.rollout) }) { first, _ in
                first
            }
            let left = offeredToAll(in: channel).map(\.version)
            let lost = before.eligible(in: channel).filter { $0.rollout > shares[$0.version] ?? 0 }
                .map(\.version)
            guard !lost.isEmpty else { return nil }
            let recalled = Set(lost.filter { states[$0]?.kind == .recalled })
            return ChannelLoss(channel: channel, lost: lost, recalled: recalled, left: left)
        }
    }
}

/// The apps that a channel leaves with nothing which they can use, though it had something.
///
/// First told what is lost, then what is left, and only until nobody is in
/// need any more: of a channel with many versions few must be read.
package struct AppLosses {
    /// What an app could use until now.
    package struct Loss: Equatable, Sendable {
        package let app: AppName
        package let version: ModelVersion

        /// Whether all that it could use was recalled.
        package let isRecalled: Bool
    }

    private let apps: [(name: AppName, expectation: Expectation)]
    private var open: [Int: Loss] = [:]

    package init(_ apps: [(name: AppName, expectation: Expectation)]) { self.apps = apps }

    /// Whether no app has lost anything that is not made up for.
    package var isEmpty: Bool { open.isEmpty }

    /// In the order of the apps.
    package var all: [Loss] { open.sorted { $0.key < $1.key }.map(\.value) }

    /// Tells a version that is offered no more.
    package mutating func lose(_ manifest: ModelManifest, isRecalled: Bool) {
        for (index, app) in apps.enumerated() where open[index]?.isRecalled ?? true {
            guard open[index] == nil || !isRecalled, serves(manifest, app.expectation) else { continue }
            open[index] = Loss(app: app.name, version: manifest.version, isRecalled: isRecalled)
        }
    }

    /// Tells a version that is offered.
    package mutating func keep(_ manifest: ModelManifest) {
        open = open.filter { !serves(manifest, apps[$0.key].expectation) }
    }

    private func serves(_ manifest: ModelManifest, _ expectation: Expectation) -> Bool {
        Compatibility.verdict(expectation, manifest).allowsUse
    }
}
