package import CanonicalJSON
package import Names

/// `pins.json` (`sealift/pins@1`): models that the operator keeps at one version.
package struct Pins: DeviceNote {
    package static let type = "sealift/pins@1"
    package static let fileName = "pins.json"

    package var versions: [ModelName: ModelVersion] = [:]

    package init() {}

    package var members: JSONObject {
        let models = versions.sorted { $0.key < $1.key }.map { model, version in
            JSONValue.members(["model": .text(model.description), "version": .text(version.description)])
        }
        return .list("models", models)
    }

    package init?(_ value: JSONValue) {
        let pins = value.list("models") { pin -> (ModelName, ModelVersion)? in
            guard let name = pin["model"]?.string.flatMap({ ModelName($0) }),
                let version = pin["version"]?.string.flatMap({ ModelVersion($0) })
            else { return nil }
            return (name, version)
        }
        guard let pins else { return nil }
        for (name, version) in pins { versions[name] = version }
    }
}
