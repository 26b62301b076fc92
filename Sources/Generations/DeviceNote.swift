package import CanonicalJSON
import Durable
import Names

/// A small file that a device writes for itself, beside `current`: pins, trials, what is quarantined.
///
/// Replaced whole and atomically. One that is damaged counts as empty, so that
/// it is in nobody's way: nothing that it could say makes a wrong byte run.
package protocol DeviceNote: Sendable, Equatable {
    /// `sealift/NAME@1`.
    static var type: String { get }
    static var fileName: String { get }

    /// An empty one.
    init()

    /// Reads the members back; `nil` when one of them is not what ``members`` writes.
    init?(_ value: JSONValue)

    /// All but the type.
    var members: JSONObject { get }
}

extension DeviceNote {
    var canonical: [UInt8] {
        var object = members
        object["type"] = .text(Self.type)
        return JSONValue.object(object).compactJSON
    }

    init?(canonical bytes: [UInt8]) {
        let limit = Int(DeviceDirectory.longestNote.rawValue)
        guard let value = try? JSONParser.parse(bytes, maximumLength: limit, maximumDepth: 8),
            value["type"]?.string == Self.type
        else { return nil }
        self.init(value)
    }
}

extension JSONObject {
    /// The members of a note that is one list.
    package static func list(_ key: String, _ elements: [JSONValue]) -> JSONObject {
        var object = JSONObject()
        object[key] = .array(elements)
        return object
    }
}

extension JSONValue {
    /// Reads the list back; `nil` when it is none, or one of its elements cannot be read.
    package func list<Element>(_ key: String, of element: (JSONValue) -> Element?) -> [Element]? {
        guard let values = self[key]?.array else { return nil }
        let elements = values.compactMap(element)
        return elements.count == values.count ? elements : nil
    }
}

extension DeviceDirectory {
    static let longestNote = ByteCount.mebibytes(4)

    /// Reads a note; an empty one where there is none or what is there is damaged.
    ///
    /// - Throws: `GenerationError.disk` when the disk cannot be read.
    package func note<Note: DeviceNote>(_: Note.Type = Note.self) throws(GenerationError) -> Note {
        let bytes: [UInt8]?
        do {
            bytes = try contents("\(path)/\(Note.fileName)", maximum: Self.longestNote)
        } catch {
            guard case .disk(let reason) = error, reason.isOfContent else { throw error }
            return Note()
        }
        return bytes.flatMap { Note(canonical: $0) } ?? Note()
    }

    /// Whether a note of what this says could be read back.
    package func holds(_ note: some DeviceNote) -> Bool {
        note.canonical.count <= Int(Self.longestNote.rawValue)
    }

    /// Replaces a note, if it says something new.
    package func save(_ note: some DeviceNote) throws(GenerationError) {
        let file = "\(path)/\(type(of: note).fileName)"
        let bytes = note.canonical
        if try self.note(type(of: note)) == note { return }
        try onDisk { () throws(DurableError) in
            try Durable.makeWay(at: file)
            try Durable.writeAtomically(file, bytes)
        }
    }
}
