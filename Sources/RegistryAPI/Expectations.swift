package import CanonicalJSON
package import Names

/// An app's expectation as the registry keeps it: advisory, unsigned.
package struct ExpectationEntry: APIDocument {
    package let app: AppName
    package let model: ModelName

    /// `sealift/expectation@1`.
    package let document: JSONValue

    /// The label of the token that registered it.
    package let registeredBy: String
    package let registeredAt: UnixTime

    package init(
        app: AppName,
        model: ModelName,
        document: JSONValue,
        registeredBy: String,
        registeredAt: UnixTime
    ) {
        self.app = app
        self.model = model
        self.document = document
        self.registeredBy = registeredBy
        self.registeredAt = registeredAt
    }

    package init(_ json: JSONValue) throws(APIError) {
        guard let app = AppName(try json.text("app")) else {
            throw .badMember(name: "app", expected: "an app's name")
        }
        guard let model = ModelName(try json.text("model")) else {
            throw .badMember(name: "model", expected: "NAMESPACE/MODEL")
        }
        guard let document = json["document"], document.object != nil else {
            throw .badMember(name: "document", expected: "an expectation")
        }
        guard let time = UnixTime(try json.text("registered_at")) else {
            throw .badMember(name: "registered_at", expected: "a time")
        }
        self.init(
            app: app,
            model: model,
            document: document,
            registeredBy: try json.text("registered_by"),
            registeredAt: time
        )
    }

    package var json: JSONValue {
        .members([
            "app": .text(app.description), "model": .text(model.description), "document": document,
            "registered_by": .text(registeredBy), "registered_at": .text(registeredAt.description),
        ])
    }
}

/// `GET /api/v1/expectations` and below: what is registered.
package struct ExpectationList: APIDocument {
    package let expectations: [ExpectationEntry]

    package init(expectations: [ExpectationEntry]) { self.expectations = expectations }

    package init(_ json: JSONValue) throws(APIError) {
        var expectations: [ExpectationEntry] = []
        for element in try json.elements("expectations") {
            expectations.append(try ExpectationEntry(element))
        }
        self.expectations = expectations
    }

    package var json: JSONValue { .members(["expectations": .array(expectations.map(\.json))]) }
}
