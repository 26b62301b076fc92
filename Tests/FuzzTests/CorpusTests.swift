import Foundation
import FuzzCases
import Testing

@Suite("Fuzzed readers")
struct CorpusTests {
    private static let corpora = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Corpora")

    private static func files(_ name: String) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: corpora.appending(path: name),
            includingPropertiesForKeys: nil
        ).sorted { $0.path < $1.path }
    }

    @Test("everything that is kept of a reader's corpus holds", arguments: FuzzTarget.all.map(\.name))
    func replay(_ name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let files = try Self.files(name)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = Array(try Data(contentsOf: file))
            let finding = target.finding(in: bytes)
            #expect(finding == nil, "\(file.lastPathComponent)")
            // Its beginnings too: a reader meets every place where a file can end.
            for end in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 64)) {
                let finding = target.finding(in: Array(bytes[..<end]))
                #expect(finding == nil, "\(file.lastPathComponent), the first \(end) bytes")
            }
        }
    }

    @Test("every corpus belongs to a reader that is fuzzed")
    func complete() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpora.path).sorted()
        #expect(folders == FuzzTarget.all.map(\.name).sorted())
        #expect(Set(folders).count == FuzzTarget.all.count)
    }
}
