import Names
import Support
import Testing
import Trust

@Suite("Mutated files")
struct MutationTests {
    /// Flips, drops, doubles or replaces a few bytes.
    private func mutated(_ bytes: [UInt8], _ random: inout Seeded) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
            let index = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes.remove(at: index)
            case 2: bytes.insert(bytes[index], at: index)
            default: bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
        }
        return bytes
    }

    @Test("a damaged file is refused or says exactly what was signed", arguments: [1, 2, 3, 4] as [UInt64])
    func damaged(seed: UInt64) throws {
        let repository = try SimulatedRepository.sealift(try #require(World.detector), now: World.start)
        var random = Seeded(state: seed)
        let root = try Untrusted<RootDocument>(try #require(repository.files["1.root.json"]))
            .verifiedByItself()
        let genuine = try #require(repository.files["2.targets.json"])
        let quorum = try root.document.quorum(for: .targets)
        let document = try Untrusted<TargetsDocument>(genuine).verified(by: quorum).document
        var refusals = 0
        for _ in 0..<500 {
            let bytes = mutated(genuine, &random)
            do {
                let found = try Untrusted<TargetsDocument>(bytes).verified(by: quorum)
                #expect(found.document == document)
                #expect(found.bytes == bytes)
            } catch {
                refusals += 1
                #expect(!error.description.isEmpty)
            }
        }
        #expect(refusals > 400)
    }
}
