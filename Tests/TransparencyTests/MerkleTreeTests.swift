import CanonicalJSON
import Foundation
import Names
import Signing
import Testing
import Transparency

/// The published vectors; see `Tests/Fixtures/tlog/README.md`.
struct Vectors {
    let value: JSONValue

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../Fixtures/tlog/tlog.json")
        let bytes = Array(try Data(contentsOf: file))
        value = try JSONParser.parse(bytes, maximumLength: bytes.count)
    }
}

@Suite("Merkle tree")
struct MerkleTreeTests {
    @Test(
        "leaf hashes and every root agree with the vectors",
        arguments: ["small_log", "rfc6962_reference_log"]
    )
    func published(log: String) throws {
        let vectors = try #require(try Vectors().value[log])
        let entries = try #require(vectors["entries_hex"]?.array).map {
            try #require(Hex.bytes($0.string ?? "-"))
        }
        let leaves = try #require(vectors["leaf_hashes"]?.array).map(\.string)
        var tree = MerkleTree()
        #expect(tree.root.hex == vectors["roots"]?["0"]?.string)
        for (index, entry) in entries.enumerated() {
            let leaf = MerkleTree.leafHash(entry)
            #expect(leaf.hex == leaves[index])
            tree.append(leafHash: leaf)
            #expect(tree.size == UInt64(index + 1))
            #expect(tree.root.hex == vectors["roots"]?["\(index + 1)"]?.string)
        }
        #expect(entries.count == 8)
    }

    @Test("the roots of a log of 300 entries agree with the vectors")
    func big() throws {
        let roots = try #require(try Vectors().value["big_log"]?["roots"]?.object)
        for member in roots.members {
            let size = try #require(Int(member.key.string))
            let tree = MerkleTree(
                leafHashes: (0..<size).map { MerkleTree.leafHash(Array("entry-\($0)".utf8)) }
            )
            #expect(tree.root.hex == member.value.string, "size \(size)")
        }
        #expect(roots.members.count >= 4)
    }
}

@Suite("Note verifier key")
struct NoteVerifierKeyTests {
    @Test("the key of the vectors is written and read as published")
    func published() throws {
        let vectors = try Vectors().value
        let note = try #require(vectors["signed_note"])
        let raw = try #require(Hex.bytes(note["public_key_hex"]?.string ?? "-"))
        let key = try #require(PublicKey(rawEd25519: raw))
        let verifier = try #require(NoteVerifierKey(name: "registry.example/log", publicKey: key))
        #expect(verifier.description == note["vkey"]?.string)
        #expect(Hex.text(verifier.keyID) == note["key_id_hex"]?.string)
        #expect(NoteVerifierKey(verifier.description) == verifier)
        let other = try #require(vectors["c2sp_vkey"]?.string)
        #expect(NoteVerifierKey(other)?.description == other)
    }

    @Test(
        "a key with another ID, type, length or name is refused",
        arguments: [
            "registry.example/log+952bc5e8+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4",
            "registry.example/log+952BC5E7+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4",
            "registry.example/other+952bc5e7+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4",
            "registry.example/log+952bc5e7+BAOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQSVTG4",
            "registry.example/log+952bc5e7+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UNXx3chmQS",
            "registry.example/log+952bc5e7", "", "++",
        ]
    )
    func refused(text: String) {
        #expect(NoteVerifierKey(text) == nil)
    }
}
