import CanonicalJSON
import Names
import Publishing

extension Output {
    /// Tells people what must soon be signed again.
    static func warn(of ending: [EndingRole], naming names: [String: String], now: UnixTime) {
        for role in ending { note("warning: \(role.words(naming: names, now: now))") }
    }
}

extension JSONValue {
    /// As in ``Output/warn(of:naming:now:)``, for programs.
    static func list(of ending: [EndingRole]) -> JSONValue {
        .array(
            ending.map { role in
                .members(["role": .text("\(role.role)"), "expires": .text("\(role.expires)")])
            }
        )
    }
}
