import CanonicalJSON
import Names

/// What a root says about its log and about the online roles: the member `sealift` of a root.
///
/// `{"lifetimes": {ROLE: seconds}, "log": {"keys": [{"from": index, "to": index?,
/// "vkey": text}], "origin": text, "policy": text?}}`
package struct SealiftRootPolicy: Sendable, Equatable {
    /// A key of the log, and the checkpoints it may sign.
    package struct LogKey: Sendable, Equatable {
        /// The verifier key of C2SP signed-note: `NAME+ID+BASE64`.
        package var verifierKey: String

        /// The first tree size that it may sign.
        package var from: UInt64

        /// The last one; `nil` while it is in use.
        package var to: UInt64?

        package init(verifierKey: String, from: UInt64, to: UInt64? = nil) {
            self.verifierKey = verifierKey
            self.from = from
            self.to = to
        }
    }

    package var logOrigin: String
    package var logKeys: [LogKey]

    /// A C2SP tlog-policy text: which witnesses must have cosigned.
    package var witnessPolicy: String?

    /// The greatest lives in seconds of the online roles timestamp, snapshot and `sealift~hold`; under
    /// `targets`, that of every role that people sign, for those who sign.
    ///
    /// Devices hold the online roles to it, which say when they were signed.
    package var maximumLifetimes: [RoleName: Int64]

    package init(
        logOrigin: String,
        logKeys: [LogKey],
        witnessPolicy: String? = nil,
        maximumLifetimes: [RoleName: Int64]
    ) {
        self.logOrigin = logOrigin
        self.logKeys = logKeys
        self.witnessPolicy = witnessPolicy
        self.maximumLifetimes = maximumLifetimes
    }

    /// - Returns: `nil` unless every member above is there and of its kind.
    init?(_ value: JSONValue) {
        guard let log = value["log"], let origin = log["origin"]?.string, !origin.isEmpty,
            let keys = log["keys"]?.array, !keys.isEmpty,
            let lifetimes = value["lifetimes"]?.object
        else { return nil }
        logOrigin = origin
        logKeys = []
        for key in keys {
            guard let verifierKey = key["vkey"]?.string, let from = key["from"]?.integer, from >= 0 else {
                return nil
            }
            var last: UInt64?
            if let to = key["to"] {
                guard let to = to.integer, to >= from else { return nil }
                last = UInt64(to)
            }
            logKeys.append(LogKey(verifierKey: verifierKey, from: UInt64(from), to: last))
        }
        if let policy = log["policy"] {
            guard let text = policy.string else { return nil }
            witnessPolicy = text
        }
        maximumLifetimes = [:]
        for member in lifetimes.members {
            guard let seconds = member.value.integer, seconds > 0 else { return nil }
            maximumLifetimes[RoleName(member.key.string)] = seconds
        }
    }

    var json: JSONValue {
        var log = JSONObject()
        log["origin"] = .text(logOrigin)
        log["keys"] = .array(
            logKeys.map { key in
                var object = JSONObject()
                object["vkey"] = .text(key.verifierKey)
                object["from"] = .integer(Int64(clamping: key.from))
                object["to"] = key.to.map { .integer(Int64(clamping: $0)) }
                return .object(object)
            }
        )
        log["policy"] = witnessPolicy.map { .text($0) }
        var lifetimes = JSONObject()
        for (role, seconds) in maximumLifetimes { lifetimes[role.description] = .integer(seconds) }
        return .members(["log": .object(log), "lifetimes": .object(lifetimes)])
    }
}
