import CanonicalJSON
import Durable
import Generations
import Names

/// Receipts that wait in `receipts/` until a registry takes them, the oldest first.
///
/// A device that is offline for a year keeps the newest few: what it runs now
/// counts, and no queue may fill a disk.
struct ReceiptQueue {
    static let longest = 32
    private static let maximumLength = ByteCount.kibibytes(256)

    let device: DeviceDirectory

    private var folder: String { "\(device.path)/receipts" }

    /// Adds a receipt, as a file of its own.
    func add(_ receipt: [UInt8], at time: UnixTime) throws(SyncError) {
        do throws(DurableError) {
            try Durable.makeDirectory(folder)
            let waiting = try names()
            for name in waiting.dropLast(Self.longest - 1) { try Durable.removeFile("\(folder)/\(name)") }
            // After the newest, whatever the clock does.
            let last = waiting.last.flatMap { Int64($0.prefix(12)) } ?? 0
            let number = String(max(last + 1, min(max(time.rawValue, 0), 99_999_999_999)))
            let name = String(repeating: "0", count: max(0, 12 - number.count)) + number
            try Durable.writeAtomically("\(folder)/\(name).json", receipt)
        } catch { throw SyncError(error) }
    }

    /// The files, the oldest first.
    func names() throws(DurableError) -> [String] {
        guard try Durable.kind(of: folder) == .directory else { return [] }
        return try Durable.names(in: folder).filter { name in
            name.utf8.count == 17 && name.hasSuffix(".json")
                && name.utf8.prefix(12).allSatisfy { (0x30...0x39).contains($0) }
        }
    }

    /// A receipt's bytes; `nil` for what is none, which is removed.
    func receipt(_ name: String) throws(DurableError) -> [UInt8]? {
        do throws(DurableError) {
            return try Durable.readFileIfPresent("\(folder)/\(name)", maximum: Self.maximumLength)
        } catch {
            guard case .system = error else {
                try Durable.removeTree("\(folder)/\(name)")
                return nil
            }
            throw error
        }
    }

    func remove(_ name: String) throws(DurableError) { try Durable.removeFile("\(folder)/\(name)") }
}

/// `receipts/state.json` (`sealift/receipts@1`): what was told last, and when to tell it again.
struct ReceiptState: DeviceNote {
    static let type = "sealift/receipts@1"
    static let fileName = "receipts/state.json"

    /// Of ``Receipt/state``.
    var last: Digest?
    var next: UnixTime?

    init() {}

    init?(_ value: JSONValue) {
        guard let last = value["last"]?.string.flatMap({ Digest(hex: $0) }),
            let next = value["next"]?.string.flatMap({ UnixTime($0) })
        else { return nil }
        self.last = last
        self.next = next
    }

    var members: JSONObject {
        var object = JSONObject()
        object["last"] = last.map { .text($0.hex) }
        object["next"] = next.map { .text($0.description) }
        return object
    }
}
