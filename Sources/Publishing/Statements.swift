import CanonicalJSON
import Manifest
import Names
import RegistryAPI
package import Trust

/// What is signed, in words: one fact a line, read from the very bytes that are signed.
extension Proposal {
    /// What a role would say once it is signed.
    ///
    /// - Parameters:
    ///   - role: One of ``roles``.
    ///   - state: What is published; with it, only what changes is said.
    /// - Returns: Lines for whoever signs or publishes. Nothing that the file says of itself is among them.
    package func statements(of role: Role, beside state: RegistryState? = nil) -> [String] {
        // What is published already need not be in the file; each is held to the digest that is signed.
        var contents = state?.contents ?? [:]
        for target in targets { contents[target.path] = target.content }
        let after = Facts(role.role, role.signed, contents)
        guard let state, let before = Facts(publishedAs: role.role, in: state) else { return after.lines }
        let known = Set(before.lines)
        let remaining = Set(after.lines)
        let changes =
            before.lines.filter { !remaining.contains($0) }.map { "no longer: \($0)" }
            + after.lines.filter { !known.contains($0) }.map { "from now on: \($0)" }
        guard changes.isEmpty else { return changes }
        return role.isRenewed(from: state)
            ? ["says what is published, with a new life"]
            : ["it changes what these words do not tell; do not sign it unless you know what"]
    }
}

extension Proposal.Role {
    /// Whether it is what is published, but for version and end.
    ///
    /// The words show digests and key IDs by their beginnings, and nothing of
    /// lengths and custom members, so that they may agree where the bytes do not.
    fileprivate func isRenewed(from state: RegistryState) -> Bool {
        let published =
            role == .root
            ? state.roots.last?.document.signed
            : SealiftRole(role).flatMap { state.roles[$0]?.document.signed }
        func lasting(_ signed: JSONValue?) -> [UInt8]? {
            guard var object = signed?.object else { return nil }
            object["version"] = nil
            object["expires"] = nil
            return JSONValue.object(object).olpcCanonical
        }
        return lasting(signed) == lasting(published)
    }
}

/// The facts of one role, each of which can be compared with those of another version of it.
private struct Facts {
    private(set) var lines: [String] = []

    init(_ role: RoleName, _ signed: JSONValue, _ contents: [String: [UInt8]]) {
        if role == .root, let root = try? RootDocument(signed: signed, role: role) {
            add(root)
            addUnknown(signed, root.signed)
        } else if let document = try? TargetsDocument(signed: signed, role: role) {
            add(document, contents)
            addUnknown(signed, document.signed)
        } else {
            lines = ["it cannot be read; do not sign it"]
        }
    }

    init?(publishedAs role: RoleName, in state: RegistryState) {
        if role == .root {
            guard let root = state.roots.last?.document else { return nil }
            add(root)
        } else {
            guard let document = SealiftRole(role).flatMap({ state.roles[$0]?.document }) else { return nil }
            add(document, state.contents)
        }
    }

    private mutating func add(_ root: RootDocument) {
        for (name, keys) in root.roles.sorted(by: { $0.key < $1.key }) { add("\(name)", keys) }
        guard let policy = root.sealift, root.consistentSnapshot else {
            return lines.append("it lacks what devices ask of a root; do not sign it")
        }
        lines.append("the log is \(policy.logOrigin)")
        for key in policy.logKeys {
            lines.append(
                "the log's checkpoints are signed by \(key.verifierKey), from size \(key.from)"
                    + (key.to.map { " to \($0)" } ?? " on")
            )
        }
        if let witnesses = policy.witnessPolicy {
            lines.append("witnesses must cosign by this policy: \(witnesses)")
        }
        for (role, seconds) in policy.maximumLifetimes.sorted(by: { $0.key < $1.key }) {
            lines.append(
                "\(role == .targets ? "what people sign" : "\(role)") lives at most "
                    + (seconds % 86_400 == 0 ? "\(seconds / 86_400) days" : "\(seconds) seconds")
            )
        }
    }

    private mutating func add(_ document: TargetsDocument, _ contents: [String: [UInt8]]) {
        for delegation in document.delegations?.roles ?? [] { add(delegation.name, delegation.roleKeys) }
        for (path, file) in document.targets.sorted(by: { $0.key < $1.key }) {
            lines.append("\(path) is \(file.sha256.map { "\($0.hex.prefix(16))…" } ?? "without digest")")
            // Never the words of a document that is another than the one listed.
            if let content = contents["\(path)"], file.describes(content) { add(content, at: "\(path)") }
        }
        for denial in document.deny { lines.append(denial.words) }
    }

    private mutating func add(_ name: String, _ keys: RoleKeys) {
        lines.append(
            "\(name) is signed by \(keys.threshold) of "
                + keys.keyIDs.sorted().map { KeyID.short($0) }.joined(separator: ", ")
        )
    }

    private mutating func add(_ content: [UInt8], at path: String) {
        if let live = try? LiveDocument(canonical: content, at: path) {
            lines += live.facts
        } else if let manifest = try? ModelManifest(canonical: content, at: path) {
            lines += manifest.facts
        } else if let settings = try? SettingsDocument(canonical: content) {
            lines += settings.facts
        } else {
            lines.append("\(path) cannot be read; do not sign it")
        }
    }

    /// Members of the signed bytes that the lines above do not speak of.
    private mutating func addUnknown(_ signed: JSONValue, _ known: JSONValue) {
        guard signed.olpcCanonical != known.olpcCanonical else { return }
        lines.append("it holds members that this program does not know; do not sign it unless you do")
    }
}

extension Denial {
    /// What is denied, and why.
    package var words: String {
        let what =
            switch subject {
            case .versions(let versions): versions.map(\.description).joined(separator: ", ")
            case .manifest(let digest): "manifest \(digest.hex.prefix(16))…"
            }
        return "\(model) \(what) denied since \(since): \(reason)"
    }
}

extension LiveDocument {
    fileprivate var facts: [String] {
        var lines: [String] = []
        for (name, channel) in channels.sorted(by: { $0.key < $1.key }) {
            if channel.versions.isEmpty { lines.append("\(name) of \(model) lists nothing") }
            if let floor = channel.floor {
                lines.append("\(name) of \(model) activates nothing below \(floor)")
            }
            for listing in listed(in: name) {
                let share = Share.words(listing.rollout)
                lines.append(
                    "\(name) of \(model) offers \(listing.version), manifest \(listing.manifest.hex.prefix(16))…, "
                        + "to \(share) devices"
                )
                for replaced in listing.replaces {
                    lines.append(
                        "devices on \(name) of \(model) leave manifest \(replaced.hex.prefix(16))… for "
                            + "\(listing.version)"
                    )
                }
            }
        }
        for (version, state) in states.sorted(by: { $0.key < $1.key }) {
            lines.append(
                "\(model) \(version) is \(state.kind.rawValue) since \(state.time): \(state.reason)"
            )
        }
        return lines
    }
}

/// Shares of devices, in ten-thousandths.
package enum Share {
    /// `all` or `12.5 % of`.
    package static func words(_ rollout: Int) -> String {
        guard rollout != Listing.fullRollout else { return "all" }
        let rest = rollout % 100
        let fraction =
            rest == 0 ? "" : rest % 10 == 0 ? ".\(rest / 10)" : rest < 10 ? ".0\(rest)" : ".\(rest)"
        return "\(rollout / 100)\(fraction) % of"
    }
}

extension ModelManifest {
    fileprivate var facts: [String] {
        let name = "\(model) \(version)"
        let license = description.license.map { "licence \($0)" } ?? "no licence is stated"
        var lines = ["\(name) was made at \(created), \(license)"]
        if !checks.isEmpty {
            lines.append("\(name) must reproduce \(Counted.words(checks.count, "golden vector"))")
        }
        return lines
            + variants.map { variant in
                let length = ByteCount(rawValue: variant.files.reduce(0) { $0 &+ $1.length })
                var files = Counted.words(variant.files.count, "file")
                if !variant.folders.isEmpty {
                    let most = variant.folders.prefix(8).map { "\($0)" }.joined(separator: ", ")
                    files +=
                        " and \(Counted.words(variant.folders.count, "empty folder")) (\(most)"
                        + (variant.folders.count > 8 ? " and others)" : ")")
                }
                return "\(name), variant \(variant.name): \(variant.format.rawValue), \(files), \(length), "
                    + "opened by \(variant.entry)"
            }
    }
}
