package import Names

/// One generation, read back and checked: its record, and that every link says what the record says.
package struct ActiveGeneration: Sendable {
    package let device: DeviceDirectory
    package let record: GenerationRecord

    package var number: UInt64 { record.number }

    /// The generation's own directory.
    package var path: String { "\(device.generationsPath)/\(DeviceDirectory.name(ofGeneration: number))" }

    init(number: UInt64, in device: DeviceDirectory) throws(GenerationError) {
        let directory = "\(device.generationsPath)/\(DeviceDirectory.name(ofGeneration: number))"
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
