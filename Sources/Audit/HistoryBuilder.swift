import Manifest
import Names
import Trust

/// What a denial names.
private enum DeniedVersion: Hashable, Comparable {
    case version(ModelVersion)
    case manifest(Digest)
}

/// Turns one snapshot after the other into what changed.
struct HistoryBuilder {
    let model: ModelName
    private(set) var events: [HistoryEvent] = []
    private(set) var states: [ModelHistory.State] = []
    private var released: Set<TargetPath> = []
    private var releaseVersion: Int64 = 0
    private var liveVersion: Int64 = 0
    private var live: LiveDocument
    private var liveSigners: [String] = []
    private var versionOf: [Digest: ModelVersion] = [:]

    /// By role.
    private var denials: [String: [DeniedVersion: Denial]] = [:]
    private var holds: [Digest: Hold] = [:]

    /// Who could sign, by role.
    private var quorums: [SealiftRole: Quorum] = [:]

    init(model: ModelName) {
        self.model = model
        live = LiveDocument(model: model)
    }

    mutating func add(_ snapshot: SnapshotDocument, _ files: inout RetainedFiles) async throws(AuditError) {
        if let release = try await files.role(.release(model), in: snapshot),
            release.document.version > releaseVersion
        {
            releaseVersion = release.document.version
            addReleases(release, snapshot)
        }
        for role in [SealiftRole.namespace(model.namespace), .release(model), .live(model)] {
            guard let delegator = role.delegator, let file = try await files.role(delegator, in: snapshot)
            else { continue }
            addKeys(of: role, namedBy: file, snapshot)
        }
        let told = events.count
        try await addLive(snapshot, &files)
        for role in [SealiftRole.targets, .namespace(model.namespace)] {
            if let file = try await files.role(role, in: snapshot) { addDenials(file, of: role, snapshot) }
        }
        if let hold = try await files.role(.hold, in: snapshot) { try await addHolds(hold, snapshot, files) }
        guard liveVersion > 0, events.count > told || states.isEmpty else { return }
        states.append(
            ModelHistory.State(
                snapshot: snapshot.version,
                time: snapshot.issued,
                live: live,
                denials: deniedVersions,
                holds: Dictionary(holds.compactMap { digest, hold in versionOf[digest].map { ($0, hold) } }) {
                    first,
                    _ in first
                },
                signers: liveSigners
            )
        )
    }

    private var deniedVersions: [ModelVersion: [String]] {
        var denied: [ModelVersion: [String]] = [:]
        for (role, entries) in denials.sorted(by: { $0.key < $1.key }) {
            for entry in entries.keys {
                if let version = version(of: entry) { denied[version, default: []].append(role) }
            }
        }
        return denied
    }

    private mutating func addLive(
        _ snapshot: SnapshotDocument,
        _ files: inout RetainedFiles
    ) async throws(AuditError) {
        guard let role = try await files.role(.live(model), in: snapshot), role.document.version > liveVersion
        else { return }
        liveVersion = role.document.version
        let path = LiveDocument.targetPath(model: model)
        guard let bytes = try await files.content(of: path, in: role.document) else { return }
        let document: LiveDocument
        do { document = try LiveDocument(canonical: bytes, at: path) } catch {
            throw .document(path: path, error)
        }
        addChanges(from: live, to: document, role, snapshot)
        live = document
        liveSigners = role.signers
    }

    /// Tells another set of keys; not the first, which comes with the model.
    private mutating func addKeys(
        of role: SealiftRole,
        namedBy file: Verified<TargetsDocument>,
        _ snapshot: SnapshotDocument
    ) {
        guard let now = try? file.document.quorum(for: role.roleName, named: file.role) else { return }
        guard let before = quorums.updateValue(now, forKey: role), before != now else { return }
        let change = HistoryEvent.KeyChange(
            role: role.name,
            added: Set(now.keys.keys).subtracting(before.keys.keys).sorted(),
            revoked: Set(before.keys.keys).subtracting(now.keys.keys).sorted(),
            threshold: now.threshold
        )
        events.append(event(snapshot, nil, .keys(change), file.signers))
    }

    private mutating func addDenials(
        _ file: Verified<TargetsDocument>,
        of role: SealiftRole,
        _ snapshot: SnapshotDocument
    ) {
        var now: [DeniedVersion: Denial] = [:]
        for denial in file.document.deny where denial.model == model {
            switch denial.subject {
            case .versions(let versions): for version in versions { now[.version(version)] = denial }
            case .manifest(let digest): now[.manifest(digest)] = denial
            }
        }
        let before = denials[role.name] ?? [:]
        for (entry, denial) in now.sorted(by: { $0.key < $1.key }) where before[entry] == nil {
            events.append(
                event(
                    snapshot,
                    version(of: entry),
                    .denied(by: role.name, reason: denial.reason),
                    file.signers
                )
            )
        }
        for entry in before.keys.sorted() where now[entry] == nil {
            events.append(event(snapshot, version(of: entry), .denialLifted(by: role.name), file.signers))
        }
        denials[role.name] = now
    }

    private mutating func addHolds(
        _ file: Verified<TargetsDocument>,
        _ snapshot: SnapshotDocument,
        _ files: RetainedFiles
    ) async throws(AuditError) {
        let path = HoldDocument.targetPath(model: model)
        var now: [Digest: Hold] = [:]
        if let bytes = try await files.content(of: path, in: file.document) {
            do {
                for hold in try HoldDocument(canonical: bytes, at: path).holds { now[hold.manifest] = hold }
            } catch { throw .document(path: path, error) }
        }
        for (digest, hold) in now.sorted(by: { $0.key < $1.key }) where holds[digest] != hold {
            let kind = HistoryEvent.Kind.held(until: hold.until, reason: hold.reason)
            events.append(event(snapshot, versionOf[digest], kind, file.signers))
        }
        for (digest, hold) in holds.sorted(by: { $0.key < $1.key }) where now[digest] == nil {
            // One that had ended was cleared away, which changes nothing for anybody.
            guard let time = snapshot.issued, time < hold.until else { continue }
            events.append(event(snapshot, versionOf[digest], .unheld, file.signers))
        }
        holds = now
    }

    private func version(of denied: DeniedVersion) -> ModelVersion? {
        switch denied {
        case .version(let version): version
        case .manifest(let digest): versionOf[digest]
        }
    }

    private mutating func addReleases(_ release: Verified<TargetsDocument>, _ snapshot: SnapshotDocument) {
        let prefix = "\(model)/"
        for path in release.document.targets.keys.sorted() where !released.contains(path) {
            released.insert(path)
            guard let version = ModelVersion(path.description.dropFirst(prefix.count).dropLast(5)) else {
                continue
            }
            if let digest = release.document.targets[path]?.sha256 { versionOf[digest] = version }
            events.append(event(snapshot, version, .released, release.signers))
        }
    }

    private mutating func addChanges(
        from old: LiveDocument,
        to new: LiveDocument,
        _ role: Verified<TargetsDocument>,
        _ snapshot: SnapshotDocument
    ) {
        for channel in Set(old.channels.keys).union(new.channels.keys).sorted() {
            let before = old.listed(in: channel)
            let after = new.listed(in: channel)
            for listing in before where !after.contains(where: { $0.identity == listing.identity }) {
                events.append(event(snapshot, listing.version, .unlisted(channel), role.signers))
            }
            for listing in after.reversed() {
                let earlier = before.first { $0.identity == listing.identity }
                if earlier?.rollout != listing.rollout {
                    let kind = HistoryEvent.Kind.listed(channel, rollout: listing.rollout)
                    events.append(event(snapshot, listing.version, kind, role.signers))
                }
                let left = Set(listing.replaces).subtracting(earlier?.replaces ?? [])
                    .compactMap { versionOf[$0] }
                guard !left.isEmpty else { continue }
                events.append(
                    event(snapshot, listing.version, .replacing(channel, left.sorted()), role.signers)
                )
            }
            addFloor(of: channel, from: old, to: new, role, snapshot)
        }
        for version in Set(old.states.keys).union(new.states.keys).sorted() {
            let state = new.states[version]
            guard state != old.states[version] else { continue }
            let kind: HistoryEvent.Kind = state.map { .withdrawn($0.kind, reason: $0.reason) } ?? .restored
            events.append(event(snapshot, version, kind, role.signers))
        }
    }

    private mutating func addFloor(
        of channel: ChannelName,
        from old: LiveDocument,
        to new: LiveDocument,
        _ role: Verified<TargetsDocument>,
        _ snapshot: SnapshotDocument
    ) {
        let (before, after) = (old.channels[channel]?.floor, new.channels[channel]?.floor)
        guard before != after else { return }
        let kind: HistoryEvent.Kind = after == nil ? .floorLifted(channel) : .floor(channel)
        events.append(event(snapshot, after ?? before, kind, role.signers))
    }

    private func event(
        _ snapshot: SnapshotDocument,
        _ version: ModelVersion?,
        _ kind: HistoryEvent.Kind,
        _ signers: [String]
    ) -> HistoryEvent {
        HistoryEvent(
            time: snapshot.issued,
            snapshot: snapshot.version,
            version: version,
            kind: kind,
            signers: signers
        )
    }
}
