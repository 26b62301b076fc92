package import CanonicalJSON
package import Names

/// `POST /api/v1/commit` takes signed role files and the documents that they list, all or nothing.
package struct CommitRequest: APIDocument {
    /// One signed role file.
    package struct Role: Sendable, Equatable {
        /// `vision`, `vision~detector`, `vision~detector~live`, `targets` or `root`.
        package let role: String

        /// The file's bytes as signed: `{"signatures":[…],"signed":…}`.
        package let metadata: [UInt8]

        package init(role: String, metadata: [UInt8]) {
            self.role = role
            self.metadata = metadata
        }
    }

    /// One document that a posted role lists.
    package struct Target: Sendable, Equatable {
        /// `vision/detector/1.0.0.json`, without digest.
        package let path: String
        package let content: [UInt8]

        package init(path: String, content: [UInt8]) {
            self.path = path
            self.content = content
        }
    }

    package let roles: [Role]
    package let targets: [Target]

    /// Apps whose registered expectation the commit may break, by name.
    package var breaks: [AppName]

    /// Whose the roles are to which a posted role delegates, by role.
    package var owners: [String: OwnerName]

    package init(
        roles: [Role],
        targets: [Target],
        breaks: [AppName] = [],
        owners: [String: OwnerName] = [:]
    ) {
        self.roles = roles
        self.targets = targets
        self.breaks = breaks
        self.owners = owners
    }

    package init(_ json: JSONValue) throws(APIError) {
        var roles: [Role] = []
        for element in try json.elements("roles") {
            roles.append(Role(role: try element.text("role"), metadata: try element.base64("metadata")))
        }
        var targets: [Target] = []
        for element in try json.elements("targets") {
            targets.append(Target(path: try element.text("path"), content: try element.base64("content")))
        }
        var breaks: [AppName] = []
        for element in json["breaks"] == nil ? [] : try json.elements("breaks") {
            guard let app = element.string.flatMap({ AppName($0) }) else {
                throw .badMember(name: "breaks", expected: "names of apps")
            }
            breaks.append(app)
        }
        let owners = json["owners"] == nil ? [:] : try json.owners("owners")
        self.init(roles: roles, targets: targets, breaks: breaks, owners: owners)
    }

    package var json: JSONValue {
        var object = JSONObject()
        if !breaks.isEmpty { object["breaks"] = .array(breaks.map { .text($0.description) }) }
        if !owners.isEmpty { object["owners"] = .owners(owners) }
        object["roles"] = .array(
            roles.map { role in
                .members(["role": .text(role.role), "metadata": .text(Base64.text(role.metadata))])
            }
        )
        object["targets"] = .array(
            targets.map { target in
                .members(["path": .text(target.path), "content": .text(Base64.text(target.content))])
            }
        )
        return .object(object)
    }
}

/// What a commit led to.
package struct CommitResponse: APIDocument {
    package enum State: String, Sendable {
        /// Devices see it from now on.
        case published
    }

    /// Versions of the snapshot and the timestamp that show the commit.
    package let snapshot: Int64
    package let timestamp: Int64
    package let state: State

    package init(snapshot: Int64, timestamp: Int64, state: State) {
        self.snapshot = snapshot
        self.timestamp = timestamp
        self.state = state
    }

    package init(_ json: JSONValue) throws(APIError) {
        guard let state = State(rawValue: try json.text("state")) else {
            throw .badMember(name: "state", expected: "published")
        }
        self.init(
            snapshot: try json.number("snapshot"),
            timestamp: try json.number("timestamp"),
            state: state
        )
    }

    package var json: JSONValue {
        .members([
            "snapshot": .integer(snapshot), "timestamp": .integer(timestamp), "state": .text(state.rawValue),
        ])
    }
}
