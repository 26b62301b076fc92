package import CanonicalJSON
package import Names

/// How long an app may take to say that a new version works.
package struct TrialBounds: Sendable, Hashable {
    /// Starts of the app, the confirming one included.
    package let starts: Int

    /// Seconds since the version was activated.
    package let seconds: Int64

    /// - Returns: `nil` beyond `1 ... 1000` starts and ten years.
    package init?(starts: Int, seconds: Int64) {
        guard (1...1_000).contains(starts), (1...315_360_000).contains(seconds) else { return nil }
        self.starts = starts
        self.seconds = seconds
    }
}

/// `trials.json` (`sealift/trials@1`): for each active model, whether its version is on trial or confirmed.
///
/// A version that nothing is written about is confirmed: it passed every check
/// before it was activated, and nobody asked for more.
package struct Trials: DeviceNote {
    package static let type = "sealift/trials@1"
    package static let fileName = "trials.json"

    package struct Entry: Sendable, Equatable {
        package enum State: String, Sendable, CaseIterable {
            case trial, confirmed, failed
        }

        package let model: ModelName
        package let version: ModelVersion
        package let manifest: Digest
        package var state: State

        /// When it was activated.
        package let since: UnixTime

        /// How often the app was started with it, as far as anybody counts.
        package private(set) var starts: Int

        /// `nil` where the checks before activation were enough.
        package let bounds: TrialBounds?

        /// Why it failed.
        package private(set) var reason: String?

        /// More than any trial allows.
        private static let mostStarts = 1_000_000

        package mutating func countStart() { starts = min(max(0, starts), Self.mostStarts) + 1 }

        package mutating func takeBackStart() {
            if state == .trial { starts = max(0, starts - 1) }
        }

        package mutating func fail(_ reason: String) {
            state = .failed
            self.reason = reason
        }

        package init(
            _ identity: VersionIdentity,
            since: UnixTime,
            bounds: TrialBounds?
        ) {
            model = identity.model
            version = identity.version
            manifest = identity.manifest
            state = bounds == nil ? .confirmed : .trial
            self.since = since
            starts = 0
            self.bounds = bounds
        }

        /// Why the trial is over and lost; `nil` while it is not.
        ///
        /// - Parameter now: The time; `nil` when no clock can be believed, so that only starts count.
        /// - Returns: The reason, for people.
        package func failure(at now: UnixTime?) -> String? {
            switch state {
            case .confirmed: return nil
            case .failed: return reason ?? "it failed its trial"
            case .trial: break
            }
            guard let bounds else { return nil }
            if starts > bounds.starts {
                let times = bounds.starts == 1 ? "once" : "\(bounds.starts) times"
                return "it was started \(times) and never confirmed"
            }
            if let now, now.seconds(since: since) > bounds.seconds {
                return "it was not confirmed within \(bounds.seconds) seconds of \(since)"
            }
            return nil
        }
    }

    package var entries: [Entry] = []

    package init() {}

    package subscript(manifest: Digest) -> Entry? { entries.first { $0.manifest == manifest } }

    /// Why the trial of a version is lost; `nil` while it is not.
    package func failure(of manifest: Digest, at now: UnixTime?) -> String? {
        self[manifest].flatMap { $0.failure(at: now) }
    }

    package func isConfirmed(_ manifest: Digest) -> Bool {
        self[manifest].map { $0.state == .confirmed } ?? true
    }

    package mutating func change(_ manifest: Digest, _ edit: (inout Entry) -> Void) {
        for index in entries.indices where entries[index].manifest == manifest { edit(&entries[index]) }
    }

    /// What is written when `next` takes the place of `active`: new versions begin their trial, others go on.
    ///
    /// An active version of which nothing is written was good before, as after
    /// going back to it. One that was left with its trial lost, and is taken
    /// again, begins anew. What is active and not in `next` stays on trial: it
    /// is active until the rename that follows.
    func activating(
        _ next: [GenerationRecord.Model],
        over active: [GenerationRecord.Model],
        since: UnixTime,
        bounds: (ModelName) -> TrialBounds?
    ) -> Trials {
        let running = Set(active.map(\.identity.manifest))
        var trials = Trials()
        for model in next {
            let isRunning = running.contains(model.identity.manifest)
            if let old = self[model.identity.manifest],
                isRunning || old.failure(at: since) == nil
            {
                trials.entries.append(old)
            } else {
                let wanted = isRunning ? nil : bounds(model.identity.model)
                trials.entries.append(Entry(model.identity, since: since, bounds: wanted))
            }
        }
        let written = Set(trials.entries.map(\.manifest))
        trials.entries += entries.filter { entry in
            entry.state != .confirmed && running.contains(entry.manifest) && !written.contains(entry.manifest)
        }
        return trials
    }
}

extension Trials {
    package var members: JSONObject {
        let models = entries.map { entry in
            var object = JSONObject()
            object["manifest"] = .text(entry.manifest.hex)
            object["model"] = .text(entry.model.description)
            object["reason"] = entry.reason.map { .text($0) }
            object["since"] = .text(entry.since.description)
            object["starts"] = .integer(Int64(entry.starts))
            object["state"] = .text(entry.state.rawValue)
            object["version"] = .text(entry.version.description)
            if let bounds = entry.bounds {
                object["allowed_seconds"] = .integer(bounds.seconds)
                object["allowed_starts"] = .integer(Int64(bounds.starts))
            }
            return JSONValue.object(object)
        }
        return .list("models", models)
    }

    package init?(_ value: JSONValue) {
        guard let entries = value.list("models", of: { Entry($0) }) else { return nil }
        self.entries = entries
    }
}

extension Trials.Entry {
    fileprivate init?(_ value: JSONValue) {
        guard let model = value["model"]?.string.flatMap({ ModelName($0) }),
            let version = value["version"]?.string.flatMap({ ModelVersion($0) }),
            let manifest = value["manifest"]?.string.flatMap({ Digest(hex: $0) }),
            let state = value["state"]?.string.flatMap(State.init(rawValue:)),
            let since = value["since"]?.string.flatMap({ UnixTime($0) }),
            let starts = value["starts"]?.integer.flatMap({ Int(exactly: $0) })
        else { return nil }
        self.model = model
        self.version = version
        self.manifest = manifest
        self.state = state
        self.since = since
        self.starts = starts
        reason = value["reason"]?.string
        if let seconds = value["allowed_seconds"]?.integer, let allowed = value["allowed_starts"]?.integer {
            guard let bounds = TrialBounds(starts: Int(clamping: allowed), seconds: seconds) else {
                return nil
            }
            self.bounds = bounds
        } else {
            bounds = nil
        }
    }
}
