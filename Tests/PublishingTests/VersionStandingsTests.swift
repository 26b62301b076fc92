import Manifest
import Names
import Testing
import Trust

@testable import Publishing

@Suite("Where versions stand")
struct VersionStandingsTests {
    private let model: ModelName
    private let stable: ChannelName
    private let time = UnixTime(rawValue: 1_700_000_000)
    private let digests: [ModelVersion: Digest]

    init() throws {
        model = try #require(ModelName("vision/detector"))
        stable = try #require(ChannelName("stable"))
        var digests: [ModelVersion: Digest] = [:]
        for (index, text) in ["1.0.0", "1.0.1", "1.0.2"].enumerated() {
            let hex = String(repeating: "0\(index)", count: 32)
            digests[try #require(ModelVersion(text))] = Digest(hex: hex)
        }
        self.digests = digests
    }

    private func version(_ text: String) throws -> ModelVersion { try #require(ModelVersion(text)) }

    private func live(_ shares: [String: Int] = [:]) throws -> LiveDocument {
        var live = LiveDocument(model: model)
        for (version, digest) in digests {
            let listed = ListedVersion(version: version, manifest: digest)
            live = try live.adding(listed, to: stable, rollout: shares["\(version)"] ?? 10_000)
        }
        return live
    }

    private func standings(
        _ live: LiveDocument,
        _ denials: [Denial] = [],
        held: String? = nil
    ) throws
        -> VersionStandings
    {
        var holds: [Digest: Hold] = [:]
        if let held, let digest = digests[try version(held)] {
            holds[digest] = Hold(
                manifest: digest,
                reason: "slow",
                since: time,
                until: time.adding(seconds: 60)
            )
        }
        return VersionStandings(live: live, released: digests, denials: denials, holds: holds)
    }

    @Test("a channel stands for the newest version that all its devices may take")
    func newest() throws {
        #expect(try standings(try live()).version(of: stable) == (try version("1.0.2")))
        let narrow = try standings(try live(["1.0.2": 0, "1.0.1": 2_500]))
        #expect(narrow.version(of: stable) == (try version("1.0.0")))
        #expect(
            narrow.passedOver(on: stable) == [
                "1.0.2 goes to 0 % of devices", "1.0.1 goes to 25 % of devices",
            ]
        )
        let floored = try standings(try live().flooring(stable, at: try version("2.0.0")))
        #expect(floored.version(of: stable) == nil && floored.passedOver(on: stable).count == 3)
    }

    @Test("what is recalled, yanked, denied or held is not what a channel stands for, and says so")
    func withdrawn() throws {
        let last = try version("1.0.2")
        let denial = Denial(model: model, subject: .versions([last]), reason: "bad", since: time)
        let byDigest = Denial(
            model: model,
            subject: .manifest(try #require(digests[last])),
            reason: "bad",
            since: time
        )
        for (kind, word) in [(VersionState.Kind.recalled, "recalled since"), (.yanked, "yanked since")] {
            let state = VersionState(kind: kind, reason: "bad", time: time)
            let found = try standings(try live().withdrawing(last, state))
            #expect(found.version(of: stable) == (try version("1.0.1")))
            #expect(found.withdrawal(of: last)?.hasPrefix(word) == true)
        }
        for denial in [denial, byDigest] {
            let found = try standings(try live(), [denial])
            #expect(found.version(of: stable) == (try version("1.0.1")))
            #expect(found.withdrawal(of: last) == "denied since \(time): bad")
        }
        let held = try standings(try live(), held: "1.0.2")
        #expect(held.version(of: stable) == (try version("1.0.1")))
        #expect(held.withdrawal(of: last)?.contains("held until") == true)
        #expect(held.withdrawal(of: try version("1.0.0")) == nil)
        let other = Denial(
            model: try #require(ModelName("vision/other")),
            subject: .versions([last]),
            reason: "bad",
            since: time
        )
        #expect(try standings(try live(), [other]).withdrawal(of: last) == nil)
    }
}
