import CanonicalJSON
import Durable
import Foundation
import Names
import Support
import Testing
import Transfer
import Trust

/// Answers from a folder, as a plain web server would.
private struct FolderFetcher: Fetching {
    static let base = "https://folder.test/"
    let folder: String

    func fetch(_ request: FetchRequest) async throws(FetchError) -> FetchOutcome {
        // A file server undoes the escapes of a URL once: `%2F` in a role's name leads into a folder.
        let path = String(request.url.dropFirst(Self.base.count)).removingPercentEncoding ?? ""
        do throws(DurableError) {
            let bytes = try Durable.readFileIfPresent("\(folder)/\(path)", maximum: request.maximumLength)
            return bytes.map { .bytes($0, etag: nil) } ?? .absent
        } catch {
            throw .storage(error)
        }
    }
}

@Suite(
    "our client against python-tuf's repository",
    .enabled(if: PythonPeer.python != nil, PythonPeer.isAbsent)
)
struct PythonTUFRepositoryTests {
    private func updater(_ scratch: Scratch, _ store: MemoryMetadataStore) throws -> MetadataUpdater {
        MetadataUpdater(
            anchor: try scratch.read("metadata/1.root.json"),
            store: store,
            fetcher: FolderFetcher(folder: scratch.path),
            mirrors: Mirrors([RepositoryLocation(base: FolderFetcher.base)]),
            now: UnixTime(rawValue: Int64(Date().timeIntervalSince1970)),
            policy: .plainTUF
        )
    }

    @Test("it follows roots, delegations and digests", arguments: ["consistent", "plain"])
    func follows(kind: String) async throws {
        let scratch = Scratch()
        let expected = try #require(try PythonPeer.run("tuf_repository.py", [scratch.path, kind]).object)
        let store = MemoryMetadataStore()
        var updater = try updater(scratch, store)
        try await updater.refresh()
        #expect(updater.root?.document.version == 3)
        #expect(updater.roots.count == 3)
        for member in expected.members {
            let file = try await updater.target(TargetPath(member.key.string))
            #expect(file?.sha256?.hex == member.value.string, "\(member.key.string)")
            #expect(file?.describes(Array("content".utf8)) == true)
        }
        #expect(expected.members.count == 7)
        #expect(try await updater.target("team/ünï/sheep.bin") == nil)
        #expect(store.contents["team%2Finner.json"] != nil)
        #expect(store.contents["root.json"] == (try scratch.read("metadata/3.root.json")))
    }

    @Test("both take the same paths as covered by the same patterns", arguments: [11, 12, 13] as [UInt64])
    func patterns(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        let alphabet = [
            "a", "b", "c", "-", "!", "]", "[", "^", "*", "?", "/", "\\", "&", "~", "|", "é", "😀", ".",
        ]
        func text(_ letters: [String], upTo length: Int) -> String {
            (0..<Int.random(in: 0...length, using: &random)).map { _ in
                letters.randomElement(using: &random) ?? ""
            }.joined()
        }
        var pairs = (0..<4_000).map { _ in
            (path: text(alphabet.filter { $0 != "*" }, upTo: 4), pattern: text(alphabet, upTo: 5))
        }
        // Sets as people write them are rare among those.
        pairs += (0..<4_000).map { _ in
            (
                path: text(["a", "b", "c", "-", "]", "[", "!", "^", "é"], upTo: 2),
                pattern: "[" + text(["a", "b", "c", "-", "-", "!", "]", "^", "é"], upTo: 7) + "]"
                    + text(["*", "?", "a", ""], upTo: 1)
            )
        }
        let scratch = Scratch()
        let table = JSONValue.array(pairs.map { .array([.text($0.path), .text($0.pattern)]) })
        try Durable.writeAtomically("\(scratch.path)/pairs.json", table.compactJSON)
        let answers = try #require(
            try PythonPeer.run("path_patterns.py", ["\(scratch.path)/pairs.json"]).array
        )
        #expect(answers.count == pairs.count)
        #expect(answers.contains(.bool(true)) && answers.contains(.bool(false)))
        for (pair, answer) in zip(pairs, answers) {
            #expect(
                TargetPath(pair.path).matches(pair.pattern) == answer.bool,
                "‘\(pair.path)’ and ‘\(pair.pattern)’"
            )
        }
    }

    @Test("a Sealift device does not follow it: it has none of Sealift's shapes")
    func policy() async throws {
        let scratch = Scratch()
        _ = try PythonPeer.run("tuf_repository.py", [scratch.path, "consistent"])
        var updater = MetadataUpdater(
            anchor: try scratch.read("metadata/1.root.json"),
            store: MemoryMetadataStore(),
            fetcher: FolderFetcher(folder: scratch.path),
            mirrors: Mirrors([RepositoryLocation(base: FolderFetcher.base)]),
            now: UnixTime(rawValue: Int64(Date().timeIntervalSince1970)),
            policy: .sealift
        )
        let error = await #expect(throws: UpdateError.self) { try await updater.refresh() }
        guard case .refused(.shape(role: .root, _)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
