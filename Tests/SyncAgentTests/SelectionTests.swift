import Manifest
import Names
import Testing

@testable import SyncAgent

@Suite("Which version runs")
struct SelectionTests {
    private func check(_ selection: Selection) throws {
        let found = try selection.candidates()
        #expect(found.ordered.map(\.version.description) == selection.expected)
        #expect((found.departure != nil) == selection.mustLeave)
        #expect(Set(found.passedOver.map(\.version.description)) == Set(selection.passedOver.keys))
        for passed in found.passedOver {
            let word = selection.passedOver[passed.version.description] ?? "nothing"
            #expect("\(passed.obstacle)".contains(word), "\(passed.version): \(passed.obstacle)")
        }
    }

    @Test("each row of the table", arguments: Selection.rows)
    func row(_ selection: Selection) throws { try check(selection) }

    @Test("each pair of the precedence", arguments: Selection.pairs)
    func pair(_ selection: Selection) throws { try check(selection) }

    @Test(
        "why the active version runs on although nobody would newly take it",
        arguments: [
            (Selection(name: "", active: "1.4.0", held: ["1.4.0"], expected: []), "is held until"),
            (Selection(name: "", active: "1.4.0", states: ["1.4.0": .yanked], expected: []), "was yanked"),
            (Selection(name: "", listed: Selection.list("1.2.0"), expected: []), "does not list 1.3.0"),
            (Selection(name: "", floor: "1.4.0", expected: []), "below the floor 1.4.0"),
            (Selection(name: "", listed: [("1.3.0", 1, [])], expected: []), "was narrowed"),
            (Selection(name: "", pin: "1.3.0", expected: []), "is pinned"),
        ]
    )
    func stay(_ selection: Selection, _ words: String) throws {
        #expect(try selection.candidates().stay?.contains(words) == true)
        #expect(try Selection(name: "", active: "1.4.0", expected: []).candidates().stay == nil)
    }

    @Test("a rollout bucket depends on secret, manifest and channel, and is spread evenly")
    func buckets() throws {
        let (stable, beta) = (try require(ChannelName("stable")), try require(ChannelName("beta")))
        let manifest = try Selection.digest("1.0.0")
        // HMAC-SHA256 with a secret of 32 bytes 0x0b over the digest's bytes and "stable", by Python's hmac.
        let secret = [UInt8](repeating: 0x0B, count: 32)
        let zero = try require(Digest(hex: String(repeating: "00", count: 32)))
        #expect(RolloutBucket.bucket(secret: secret, manifest: zero, channel: stable) == 8861)
        #expect(
            RolloutBucket.bucket(secret: secret, manifest: manifest, channel: stable)
                != RolloutBucket.bucket(secret: secret, manifest: manifest, channel: beta)
        )
        var reached = 0
        for device in 0..<2_000 {
            let secret = [UInt8(device & 0xFF), UInt8(device >> 8)] + [UInt8](repeating: 1, count: 30)
            let bucket = RolloutBucket.bucket(secret: secret, manifest: manifest, channel: stable)
            #expect((0..<10_000).contains(bucket))
            if bucket < 1_000 { reached += 1 }
        }
        // A tenth of 2,000, within five standard deviations.
        #expect((133...267).contains(reached))
    }

    @Test("widening a rollout never removes a device, and narrowing removes none that has the version")
    func widening() throws {
        for bucket in stride(from: 0, to: 10_000, by: 487) {
            var had = false
            for rollout in stride(from: 0, through: 10_000, by: 250) {
                let selection = Selection(
                    name: "",
                    listed: [("1.4.0", rollout, []), ("1.3.0", 10_000, [])],
                    bucket: bucket,
                    expected: []
                )
                let has = try selection.candidates().ordered.first?.version.description == "1.4.0"
                #expect(has == (bucket < rollout) && (!had || has))
                had = has
                var running = selection
                running.active = "1.4.0"
                #expect(try running.candidates().ordered.first?.version.description == "1.4.0")
            }
        }
    }
}
