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
        var object = JSONObject()
        object["models"] = .array(models)
        return object
    }

    package init?(_ value: JSONValue) {
        guard let models = value["models"]?.array else { return nil }
        for model in models {
            guard let name = model["model"]?.string.flatMap({ ModelName($0) }),
                let version = model["version"]?.string.flatMap({ ModelVersion($0) })
            else { return nil }
            versions[name] = version
        }
    }
}
