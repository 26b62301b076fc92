import Names
import Trust

extension FuzzTarget {
    static let names = [
        FuzzTarget("names", maximumLength: 512) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            if let name = ModelName(text) {
                try hold(ModelName("\(name)") == name, "a model's name is a name")
            }
            if let version = ModelVersion(text) {
                try hold("\(version)".utf8.elementsEqual(text.utf8), "a version has one spelling")
                try hold(!(version < version), "no version comes before itself")
            }
            if let path = FilePath(text) {
                try hold(path.segments.allSatisfy { $0 != ".." && !$0.isEmpty }, "no path leads upwards")
                try hold(path.description.utf8.elementsEqual(text.utf8), "a path has one spelling")
            }
            if let time = UnixTime(text) {
                try hold(UnixTime("\(time)") == time, "a time's text is the time")
            }
            if let role = SealiftRole(name: text) {
                try hold(role.name.utf8.elementsEqual(text.utf8), "a role has one name")
            }
            let file = RoleName(text).fileName
            try hold(!file.contains("/") && !file.utf8.contains(0), "a role's file stays in its folder")
            _ = TargetPath(text).matches("vision/*/?.json")
            _ = TargetPath("vision/detector/1.0.0.json").matches(text)
        }
    ]
}
