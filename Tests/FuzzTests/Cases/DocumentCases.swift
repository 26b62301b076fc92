import CanonicalJSON
import Manifest
import Names

extension FuzzTarget {
    static let documents = [
        document("manifest", ModelManifest.self),
        document("expectation", Expectation.self),
        document("live", LiveDocument.self),
        document("settings", SettingsDocument.self),
        document("holds", HoldDocument.self),
        FuzzTarget("card") { bytes in
            let card = try Card(bytes: bytes)
            let value = try must("a card is JSON") {
                try JSONParser.parse(bytes, maximumLength: bytes.count)
            }
            let again = try must("a card in compact form is a card") {
                try Card(bytes: value.compactJSON)
            }
            try hold(again == card, "a card's spacing says nothing")
        },
        FuzzTarget("interface") { bytes in
            let interface = try Interface(json: try JSONParser.parse(bytes, maximumLength: bytes.count))
            let again = try must("what an interface writes is one") { try Interface(json: interface.json) }
            try hold(again == interface, "what an interface writes says the same")
            let expectation = Expectation(inputs: interface.inputs, outputs: interface.outputs)
            _ = Compatibility.verdict(expectation, interface)
        },
    ]

    /// A document with one written form.
    private static func document<Document: CanonicalDocument>(
        _ name: String,
        _: Document.Type
    ) -> FuzzTarget {
        FuzzTarget(name) { bytes in
            // Also what is not canonical, or mutations would seldom get past the first check.
            let value = try JSONParser.parse(bytes, maximumLength: bytes.count)
            let document = try Document(json: value)
            let written = document.canonical
            let again = try must("what a document writes is one") { try Document(canonical: written) }
            try hold(again == document, "what a document writes says the same")
            if let received = try? Document(canonical: bytes) {
                try hold(received.canonical == bytes, "a document has one form")
            }
        }
    }
}
