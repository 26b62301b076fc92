import CanonicalJSON
import Generations
import Names

/// `groups.json` (`sealift/groups@1`): where the models of each group stood when it last moved.
///
/// By it a model that had to be left is told from those whose next version is
/// not there yet.
struct GroupNote: DeviceNote {
    static let type = "sealift/groups@1"
    static let fileName = "groups.json"

    struct Entry: Sendable, Equatable {
        let model: ModelName
        let group: String
        let manifest: Digest
    }

    var entries: [Entry] = []

    init() {}

    /// Where a model stood; `nil` when it was in no such group.
    subscript(model: ModelName, group: String) -> Digest? {
        entries.first { $0.model == model && $0.group == group }?.manifest
    }

    var members: JSONObject {
        .list(
            "models",
            entries.map { entry in
                .members([
                    "group": .text(entry.group), "manifest": .text(entry.manifest.hex),
                    "model": .text(entry.model.description),
                ])
            }
        )
    }

    init?(_ value: JSONValue) {
        let entries = value.list("models") { entry -> Entry? in
            guard let model = entry["model"]?.string.flatMap({ ModelName($0) }),
                let group = entry["group"]?.string,
                let manifest = entry["manifest"]?.string.flatMap({ Digest(hex: $0) })
            else { return nil }
            return Entry(model: model, group: group, manifest: manifest)
        }
        guard let entries else { return nil }
        self.entries = entries
    }
}
