package import Manifest
import Names
import Trust

extension RegistryDraft {
    /// What the administrators ask of devices now.
    package func settings() throws(PublishingError) -> SettingsDocument {
        guard let bytes = contents[SettingsDocument.targetPath] else { return try base.settings() }
        return try RegistryState.settings(bytes)
    }

    /// Changes what the administrators ask of devices; signed by them.
    ///
    /// - Throws: `PublishingError` for values that devices would refuse, and for an oldest root that is not there.
    package mutating func changeSettings(
        _ change: (inout SettingsDocument) -> Void
    ) throws(PublishingError) {
        let before = try settings()
        var after = before
        change(&after)
        guard after != before else { return }
        let bytes: [UInt8]
        do { bytes = try after.encoded() } catch { throw .usage("\(error)") }
        guard after.oldestRoot <= root.version else {
            throw .usage(
                "no device can be pinned to root \(after.oldestRoot): the newest is \(root.version); "
                    + "--oldest-root is at most that"
            )
        }
        for line in before.differences(to: after) { note(line) }
        try list(SettingsDocument.targetPath, bytes, in: .targets)
    }
}

extension SettingsDocument {
    /// What it asks, a line for each setting.
    var facts: [String] {
        [
            "devices poll every \(WrittenTime.text(pollSeconds))",
            "what is active runs on for \(WrittenTime.text(grace)) after the signed chain has ended; then: \(afterGrace.rawValue)",
            "a bundle may be \(WrittenTime.text(bundleMaximumAge)) old",
            "a rollout stops when \(halt.failedPercent) % of at least \(halt.minimum) reports failed",
            "devices may be pinned to root \(oldestRoot) or a later one",
        ]
    }

    fileprivate func differences(to after: SettingsDocument) -> [String] {
        var lines: [String] = []
        func compare(_ name: String, _ one: String, _ other: String) {
            if one != other { lines.append("\(name): \(other) instead of \(one)") }
        }
        compare("poll_seconds", WrittenTime.text(pollSeconds), WrittenTime.text(after.pollSeconds))
        compare("grace", WrittenTime.text(grace), WrittenTime.text(after.grace))
        compare("after_grace", afterGrace.rawValue, after.afterGrace.rawValue)
        compare(
            "bundle_max_age",
            WrittenTime.text(bundleMaximumAge),
            WrittenTime.text(after.bundleMaximumAge)
        )
        compare(
            "halt",
            "\(halt.failedPercent) % of at least \(halt.minimum)",
            "\(after.halt.failedPercent) % of at least \(after.halt.minimum)"
        )
        compare("oldest_root", "\(oldestRoot)", "\(after.oldestRoot)")
        if after.oldestRoot > oldestRoot {
            lines.append(
                "a device or an app that is pinned to a root below \(after.oldestRoot) is no longer promised to "
                    + "follow; give it a newer root first"
            )
        }
        return lines
    }
}
