package import Names

/// One generation, read back and checked: its record, and that every link says what the record says.
package struct ActiveGeneration: Sendable {
    package let device: DeviceDirectory
    package let record: GenerationRecord

    /// Whether it is a generation or the fallback of one.
    package let place: GenerationPlace

    package var number: UInt64 { place.number }

    /// The generation's own directory.
    package var path: String { "\(device.path)/\(place.relativePath)" }

    init(_ place: GenerationPlace, in device: DeviceDirectory) throws(GenerationError) {
        let number = place.number
        let directory = "\(device.path)/\(place.relativePath)"
        let file = "\(directory)/generation.json"
        guard let bytes = try device.contents(file, maximum: GenerationRecord.maximumLength) else {
            throw .damaged(path: file, expected: "the record of generation \(number)", found: "nothing")
        }
        guard let record = GenerationRecord(canonical: bytes), record.number == number else {
            throw .damaged(
                path: file,
                expected: "the record of generation \(number)",
                found: "something else"
            )
        }
        for model in record.models {
            let link = "\(directory)/\(model.identity.model)"
            let text = try device.linkText(link)
            guard text == model.identity.linkText else {
                throw .damaged(
                    path: link,
                    expected: "a link to \(model.identity.linkText)",
                    found: text ?? "nothing"
                )
            }
        }
        self.device = device
        self.place = place
        self.record = record
    }

    /// Opens one of its models.
    ///
    /// - Throws: `GenerationError.notActive`, or `.damaged` with the first thing that is wrong.
    package func model(_ name: ModelName) throws(GenerationError) -> ActiveModel {
        guard let model = record.model(name) else {
            throw .notActive(model: name, active: record.models.map(\.identity.model))
        }
        return try ActiveModel(model, in: device)
    }
}
