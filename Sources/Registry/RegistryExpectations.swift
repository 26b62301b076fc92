package import Manifest
package import Names
import RegistryAPI
import Trust

/// What an app told the registry that it needs of a model.
package struct RegisteredExpectation: Sendable, Equatable {
    package let app: AppName
    package let model: ModelName

    /// `sealift/expectation@1`, canonical.
    package let document: [UInt8]

    /// The label of the token.
    package let registeredBy: String
    package let registeredAt: UnixTime

    package init(
        app: AppName,
        model: ModelName,
        document: [UInt8],
        registeredBy: String,
        registeredAt: UnixTime
    ) {
        self.app = app
        self.model = model
        self.document = document
        self.registeredBy = registeredBy
        self.registeredAt = registeredAt
    }
}

/// An expectation that somebody broke by name.
package struct BrokenExpectation: Sendable, Equatable {
    package enum Cause: Sendable, Equatable {
        /// The version came, and the app cannot use it.
        case entered

        /// The version went, and the app can use nothing else on the channel.
        case left(ChannelName)
    }

    package var cause = Cause.entered
    package let app: AppName
    package let model: ModelName
    package let version: ModelVersion
    package let reason: String
}

extension BrokenExpectation {
    /// What is wrong, and what to do.
    var sentence: String {
        switch cause {
        case .entered:
            "\(model) \(version) breaks the app \(app): \(reason); publish what it can use, or name it with "
                + "--breaks \(app)"
        case .left(let channel):
            "without \(version), \(channel) of \(model) has nothing that the app \(app) can use; first put there what "
                + "it can use, or name it with --breaks \(app)"
        }
    }
}

/// Expectations are advice among people: unsigned, kept by token, and checked where a mistake would hurt.
extension Registry {
    /// The most that one model may have.
    private static let mostExpectations = 1_000

    /// Keeps what an app needs, in place of what it said before.
    ///
    /// - Throws: `.badDocument` for an expectation of another model, `.forbidden` outside the token's scope.
    package func register(
        _ expectation: Expectation,
        of app: AppName,
        for model: ModelName,
        by token: Token,
        now: UnixTime
    ) async throws(RegistryError) {
        try check(token, model)
        guard expectation.model == nil || expectation.model == model else {
            throw .badDocument(path: "\(model)/\(app)", reason: "the expectation is for another model")
        }
        let known = try store.expectations(of: model)
        guard known.count < Self.mostExpectations || known.contains(where: { $0.app == app }) else {
            throw .badDocument(
                path: "\(model)/\(app)",
                reason: "\(known.count) apps are registered already; remove those that are gone"
            )
        }
        let entry = RegisteredExpectation(
            app: app,
            model: model,
            document: expectation.canonical,
            registeredBy: token.label,
            registeredAt: now
        )
        try await store.recordExpectation(entry)
    }

    /// Forgets what an app needs.
    ///
    /// - Returns: Whether there was anything.
    package func removeExpectation(
        of app: AppName,
        for model: ModelName,
        by token: Token,
        now: UnixTime
    ) async throws(RegistryError) -> Bool {
        try check(token, model)
        return try await store.removeExpectation(of: app, for: model, by: token.label, now: now)
    }

    package func expectations(of model: ModelName?) throws(RegistryError) -> [RegisteredExpectation] {
        try store.expectations(of: model)
    }

    private func check(_ token: Token, _ model: ModelName) throws(RegistryError) {
        guard case .publish(let namespace) = token.scope, namespace != model.namespace else { return }
        throw .forbidden(role: "\(model)", scope: token.scope.description)
    }
}

extension CommitRule {
    /// Judges every version that enters a channel, and what channels offer no more, by what apps have registered.
    ///
    /// - Returns: What is broken by name.
    /// - Throws: `.breaksApp` for what is broken and not named.
    func checkExpectations(
        _ chain: inout Chain,
        _ documents: DocumentRules,
        _ view: any RegistryView
    ) throws(RegistryError) -> [BrokenExpectation] {
        var broken: [BrokenExpectation] = []
        for case .targets(.live(let model)) in posted.files.map(\.role) {
            let apps = try apps(of: model, view)
            guard !apps.isEmpty, let live = try chain.document(.live(model)),
                let release = try chain.document(.release(model)),
                let now = try documents.channels(of: model, live.document)
            else { continue }
            let before = try previous(.live(model), view)
            let inUse = try before.flatMap { role throws(RegistryError) in
                try documents.channels(of: model, role)
            }
            func manifest(_ version: ModelVersion) throws(RegistryError) -> ModelManifest? {
                let path = TargetPath(ModelManifest.targetPath(model: model, version: version))
                guard let file = release.document.targets[path],
                    let content = try documents.content(path, file)
                else { return nil }
                return try? ModelManifest(canonical: content)
            }
            let released = release.document.targets.compactMap { path, _ in
                ModelManifest.version(at: "\(path)", of: model)
            }
            // What several channels' apps lose is told once.
            var told: Set<String> = []
            for (channel, version) in now.entered(since: inUse) {
                guard let entering = try manifest(version) else { continue }
                let known = AppImpact.versionBefore(version, on: channel, in: inUse, released: released)
                let earlier = try known.flatMap { version throws(RegistryError) in try manifest(version) }
                broken += try check(entering, after: earlier, apps)
                    .filter { told.insert("\($0.app) \($0.version)").inserted }
            }
            for loss in inUse.map({ now.losses(since: $0) }) ?? [] {
                var losses = AppLosses(apps)
                for version in loss.lost {
                    guard let manifest = try manifest(version) else { continue }
                    losses.lose(manifest, isRecalled: loss.recalled.contains(version))
                }
                for version in loss.left where !losses.isEmpty {
                    guard let manifest = try manifest(version) else { continue }
                    losses.keep(manifest)
                }
                broken += try check(losses.all, of: model, on: loss.channel)
            }
        }
        return broken
    }

    /// What apps registered, each read once for all that a commit changes.
    private func apps(
        of model: ModelName,
        _ view: any RegistryView
    ) throws(RegistryError) -> [(name: AppName, expectation: Expectation)] {
        try view.expectations(of: model).compactMap { registered in
            (try? Expectation(canonical: registered.document)).map { (name: registered.app, expectation: $0) }
        }
    }

    /// Refuses what leaves an app with nothing on a channel, unless it is named or was all recalled.
    private func check(
        _ losses: [AppLosses.Loss],
        of model: ModelName,
        on channel: ChannelName
    ) throws(RegistryError) -> [BrokenExpectation] {
        let found = losses.filter { !$0.isRecalled }.map { loss in
            BrokenExpectation(
                cause: .left(channel),
                app: loss.app,
                model: model,
                version: loss.version,
                reason: "\(channel) offers nothing else that it can use"
            )
        }
        if let unnamed = found.first(where: { !request.breaks.contains($0.app) }) {
            throw .breaksApp(unnamed)
        }
        return found
    }

    private func check(
        _ manifest: ModelManifest,
        after before: ModelManifest?,
        _ apps: [(name: AppName, expectation: Expectation)]
    ) throws(RegistryError) -> [BrokenExpectation] {
        let found = apps.compactMap { app -> BrokenExpectation? in
            guard case .breaks(let reasons) = AppImpact(of: manifest, on: app.expectation, after: before)
            else { return nil }
            return BrokenExpectation(
                app: app.name,
                model: manifest.model,
                version: manifest.version,
                reason: reasons.prefix(4).joined(separator: "; ")
            )
        }
        if let unnamed = found.first(where: { !request.breaks.contains($0.app) }) {
            throw .breaksApp(unnamed)
        }
        return found
    }
}
