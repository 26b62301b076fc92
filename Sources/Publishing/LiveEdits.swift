package import Manifest
package import Names
import Trust

extension RegistryDraft {
    /// Changes the channels of a model; signed by whoever may put its versions into use.
    ///
    /// - Throws: `PublishingError.unpublishable` when the edit breaks a rule of live documents.
    package mutating func editLive(
        _ model: ModelName,
        _ note: String,
        _ change: (LiveDocument) throws(ManifestError) -> LiveDocument
    ) throws(PublishingError) {
        do {
            let before = try live(of: model)
            let after = try change(before)
            guard after != before else { return }
            try list(LiveDocument.targetPath(model: model), try after.encoded(), in: .live(model), note)
        } catch let error as PublishingError { throw error } catch { throw .unpublishable("\(error)") }
    }

    /// Lists one more version on a channel, which may be new.
    package mutating func add(
        _ listed: ListedVersion,
        to channel: ChannelName,
        of model: ModelName,
        rollout: Int
    ) throws(PublishingError) {
        let before = try live(of: model)
        let share = Share.words(rollout)
        try editLive(model, "\(channel) of \(model) offers \(listed.version) to \(share) devices") {
            live throws(ManifestError) in
            try live.adding(listed, to: channel, rollout: rollout)
        }
        noteNew(channel, of: model, before)
        if let floor = before.channels[channel]?.floor, listed.version < floor {
            note(
                "\(listed.version) is below \(floor), the floor of \(channel), so no device will newly take it"
            )
        }
    }

    /// Changes the share of devices that take a version from a channel that lists it.
    package mutating func setRollout(
        _ rollout: Int,
        of listed: ListedVersion,
        on channel: ChannelName,
        of model: ModelName
    ) throws(PublishingError) {
        let present = try existing(channel, of: model)
        guard present.versions.contains(where: { $0.version == listed.version }) else {
            throw .unpublishable(
                "\(channel) of \(model) does not list \(listed.version); ‘sealift channel add \(model) \(channel) "
                    + "\(listed.version) --rollout …’ puts it there"
            )
        }
        try add(listed, to: channel, of: model, rollout: rollout)
    }

    /// Makes a channel list exactly some versions; devices above them go back.
    package mutating func set(
        _ channel: ChannelName,
        of model: ModelName,
        to wanted: [ListedVersion],
        history: [ListedVersion],
        reason: String
    ) throws(PublishingError) {
        let before = try live(of: model)
        if let floor = before.channels[channel]?.floor, wanted.allSatisfy({ $0.version < floor }) {
            throw .unpublishable(
                "\(wanted.map(\.version).areOrIs) below \(floor), the floor of \(channel), so no device would take "
                    + "anything; first ‘sealift floor \(model) \(channel) none’, or a lower one"
            )
        }
        let names = wanted.map(\.version.description).joined(separator: ", ")
        try editLive(model, "\(channel) of \(model) lists exactly \(names): \(reason)") {
            live throws(ManifestError) in
            try live.setting(channel, to: wanted, history: history)
        }
        noteNew(channel, of: model, before)
        if let floor = before.channels[channel]?.floor {
            let low = wanted.filter { $0.version < floor }
            if !low.isEmpty {
                note(
                    "\(low.map(\.version).areOrIs) below \(floor), the floor of \(channel), so no device will newly "
                        + "take \(low.count == 1 ? "it" : "them")"
                )
            }
        }
    }

    /// Takes versions off a channel.
    package mutating func remove(
        _ versions: [ModelVersion],
        from channel: ChannelName,
        of model: ModelName
    ) throws(PublishingError) {
        _ = try existing(channel, of: model)
        let names = versions.map(\.description).joined(separator: ", ")
        try editLive(model, "\(channel) of \(model) no longer lists \(names)") { live throws(ManifestError) in
            try live.removing(versions, from: channel)
        }
        if try live(of: model).channels[channel]?.versions.isEmpty == true {
            note(
                "\(channel) of \(model) then lists nothing: devices keep what they have, and new ones get nothing"
            )
        }
    }

    /// Sets or lifts the lowest version that devices may activate from a channel.
    package mutating func setFloor(
        _ floor: ModelVersion?,
        of channel: ChannelName,
        of model: ModelName
    ) throws(PublishingError) {
        let present = try existing(channel, of: model)
        let words = floor.map { "activates nothing below \($0)" } ?? "has no lowest version any more"
        try editLive(model, "\(channel) of \(model) \(words)") { live in live.flooring(channel, at: floor) }
        if let floor, present.floor != floor, !present.versions.contains(where: { $0.version >= floor }) {
            note(
                "\(channel) of \(model) lists nothing from \(floor) on: devices keep what they have, and new ones get "
                    + "nothing, until it does"
            )
        }
    }

    /// A released version by name.
    package func listed(_ version: ModelVersion, of model: ModelName) throws(PublishingError) -> ListedVersion
    {
        guard let digest = base.released(of: model)[version] else {
            throw .unpublishable(
                "\(model) \(version) is not released; ‘sealift history \(model)’ lists what is"
            )
        }
        return ListedVersion(version: version, manifest: digest)
    }

    /// The channels of a model as they result.
    func live(of model: ModelName) throws(PublishingError) -> LiveDocument {
        guard hasModel(model) else {
            throw .unpublishable("there is no model \(model) here; ‘sealift publish’ or ‘model add’ adds one")
        }
        let path = LiveDocument.targetPath(model: model)
        guard let bytes = contents[path] else { return try base.live(of: model) }
        do { return try LiveDocument(canonical: bytes, at: path) } catch { throw .unpublishable("\(error)") }
    }

    /// A channel that is there already: a mistyped name must not become a new one.
    private func existing(_ name: ChannelName, of model: ModelName) throws(PublishingError) -> Channel {
        let channels = try live(of: model).channels
        guard let channel = channels[name] else {
            let known = channels.keys.sorted().map(\.description).joined(separator: ", ")
            throw .unpublishable(
                "\(model) has no channel \(name); it has \(known.isEmpty ? "none" : known); ‘sealift channel add’ "
                    + "makes a new one"
            )
        }
        return channel
    }

    private mutating func noteNew(_ channel: ChannelName, of model: ModelName, _ before: LiveDocument) {
        guard before.channels[channel] == nil else { return }
        let known = before.channels.keys.sorted().map(\.description).joined(separator: ", ")
        note("\(channel) is a new channel of \(model)\(known.isEmpty ? "" : "; it had \(known)")")
    }
}
