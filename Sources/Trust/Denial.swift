package import CanonicalJSON
package import Names

/// A recall from above the model's own keys: `{model, versions or digest, reason, since}` in a targets role's `deny`.
///
/// It only ever takes away, which is why a device may act on one from a file
/// that it would not accept for anything else.
package struct Denial: Sendable, Hashable {
    package enum Subject: Sendable, Hashable {
        case versions([ModelVersion])

        /// The manifest with this digest.
        case manifest(Digest)
    }

    package let model: ModelName
    package let subject: Subject
    package let reason: String
    package let since: UnixTime

    package init(model: ModelName, subject: Subject, reason: String, since: UnixTime) {
        self.model = model
        self.subject = subject
        self.reason = reason
        self.since = since
    }

    package init?(_ value: JSONValue) {
        guard let model = value["model"]?.string.flatMap({ ModelName($0) }),
            let reason = value["reason"]?.string,
            let since = value["since"]?.string.flatMap({ UnixTime($0) })
        else { return nil }
        switch (value["versions"]?.array, value["digest"]?.string) {
        case (let listed?, nil) where !listed.isEmpty:
            let versions = listed.compactMap { $0.string.flatMap { ModelVersion($0) } }
            guard versions.count == listed.count else { return nil }
            subject = .versions(versions)
        case (nil, let hex?):
            guard let digest = Digest(hex: hex) else { return nil }
            subject = .manifest(digest)
        default: return nil
        }
        self.model = model
        self.reason = reason
        self.since = since
    }

    package var json: JSONValue {
        var object = JSONObject()
        object["model"] = .text(model.description)
        switch subject {
        case .versions(let versions): object["versions"] = .array(versions.map { .text($0.description) })
        case .manifest(let digest): object["digest"] = .text(digest.hex)
        }
        object["reason"] = .text(reason)
        object["since"] = .text(since.description)
        return .object(object)
    }

    /// Whether this recalls `version` of `model`, whose manifest has `manifest` as its digest.
    package func denies(_ model: ModelName, version: ModelVersion, manifest: Digest) -> Bool {
        guard model == self.model else { return false }
        return switch subject {
        case .versions(let versions): versions.contains(version)
        case .manifest(let digest): digest == manifest
        }
    }
}
