import Durable
import Names

/// What makes the next poll one small request: the tag of the stored timestamp, and when all was last checked.
///
/// Never trusted: a wrong one costs a request, or puts one off for a day at most.
struct PollState {
    private static let name = "poll-state"
    private static let day: Int64 = 86_400

    let etag: String?
    let lastRefresh: UnixTime

    init(etag: String?, lastRefresh: UnixTime) {
        self.etag = etag
        self.lastRefresh = lastRefresh
    }

    /// Reads two lines, a time and a tag; anything else is as good as nothing.
    init?(_ store: any MetadataStore) throws(UpdateError) {
        let bytes: [UInt8]?
        do throws(DurableError) { bytes = try store.load(Self.name) } catch { throw .storage(error) }
        guard let bytes, bytes.count < 1_024, let text = String(validating: bytes, as: UTF8.self) else {
            return nil
        }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 3, let time = UnixTime(lines[0]), !lines[1].isEmpty, lines[2].isEmpty else {
            return nil
        }
        self.init(etag: String(lines[1]), lastRefresh: time)
    }

    /// Whether a conditional request is enough at `now`.
    func allowsShortcut(at now: UnixTime) -> Bool {
        etag != nil && (0...Self.day).contains(now.seconds(since: lastRefresh))
    }

    func save(to store: any MetadataStore) throws(UpdateError) {
        let isPlain = etag?.utf8.allSatisfy { (0x21...0x7E).contains($0) } ?? true
        let line = isPlain ? etag ?? "" : ""
        do throws(DurableError) {
            try store.save(Self.name, Array("\(lastRefresh)\n\(line)\n".utf8))
        } catch {
            throw .storage(error)
        }
    }
}
