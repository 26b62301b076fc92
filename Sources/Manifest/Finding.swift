package import CanonicalJSON

/// One thing that stands between an app and a model, in words for people.
///
/// It names what it is about, both sides, why they do not meet, and what to do.
package struct Finding: Equatable, Sendable {
    /// The row of the table that decides it; `nil` for the range of versions, which stands before the table.
    package let row: ContractRow?

    /// ``input `x` ``.
    package let subject: String

    /// What the app does: `sends float32[1, 4]`.
    package let app: String

    /// What the model does: `takes float32[1, 8]`.
    package let model: String
    package let why: String?

    /// What somebody can do about it.
    package let remedy: String

    init(
        _ row: ContractRow?,
        _ subject: String,
        app: String,
        model: String,
        why: String? = nil,
        remedy: String
    ) {
        self.row = row
        self.subject = subject
        self.app = app
        self.model = model
        self.why = why
        self.remedy = remedy
    }

    package var json: JSONValue {
        var object = JSONObject()
        object.set("row", row.map { .integer(Int64($0.rawValue)) })
        object["subject"] = .text(subject)
        object["app"] = .text(app)
        object["model"] = .text(model)
        object.set("why", text: why)
        object["remedy"] = .text(remedy)
        return .object(object)
    }
}

extension Finding: CustomStringConvertible {
    package var description: String {
        let sides = "\(subject): the app \(app), the model \(model)"
        return sides + (why.map { ": \($0)" } ?? "") + "; \(remedy)"
    }
}
