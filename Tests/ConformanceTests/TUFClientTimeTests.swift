import CanonicalJSON
import Foundation
import Names
import Support
import Testing
import Trust

@Suite("tuf-client over time", .serialized)
struct TUFClientTimeTests {
    /// `time` as the program `date` reads it, written for a zone so many minutes ahead of UTC.
    private static func text(_ time: UnixTime, minutes: Int64) -> String {
        let local = time.adding(seconds: minutes * 60).description.dropLast().replacing("T", with: " ")
        let (hours, rest) = abs(minutes).quotientAndRemainder(dividingBy: 60)
        let digits = [hours, rest].map { ($0 < 10 ? "0" : "") + "\($0)" }
        return "\(local)\(minutes < 0 ? "-" : "+")\(digits.joined(separator: ":"))"
    }

    @Test("the same moment has the same text in every zone")
    func text() {
        let time = UnixTime(rawValue: 1_796_000_000)
        #expect(Self.text(time, minutes: 0) == "2026-11-30 00:53:20+00:00")
        #expect(Self.text(time, minutes: 330) == "2026-11-30 06:23:20+05:30")
        #expect(Self.text(time, minutes: -210) == "2026-11-29 21:23:20-03:30")
    }

    @Test(
        "under faketime with a date and a zone, expiry is judged at that very moment, whatever zone the machine is in",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/faketime"), "no faketime"),
        arguments: [(0, "UTC"), (330, "UTC"), (-210, "EST5"), (0, "IST-5:30")] as [(Int64, String)]
    )
    func zone(minutes: Int64, zone: String) throws {
        let client = try ClientUnderTest()
        #expect(try client.initialise() == 0)
        client.environment["TZ"] = zone
        let expiry = client.repository.timestamp.expires
        // Less than the least difference of two zones, more than a slow start takes.
        for (seconds, code) in [(-1_500, 0), (1_500, 1)] as [(Int64, Int32)] {
            client.wrapper = ["faketime", Self.text(expiry.adding(seconds: seconds), minutes: minutes)]
            #expect(try client.refresh() == code, "\(seconds) s: \(client.errors)")
            #expect(client.errors.contains("role timestamp: expired at \(expiry)") == (code == 1))
        }
        #expect(try client.trusted["timestamp.json"] == client.repository.files["timestamp.json"])
        // Years back nothing has expired, and plain TUF knows no signed time to compare with.
        client.wrapper = ["faketime", "2015-06-30 23:59:59+00:00"]
        #expect(try client.refresh() == 0, "\(client.errors)")
    }

    @Test("an artifact that changed many times is the newest one, at the price of one change")
    func skipped() throws {
        let client = try ClientUnderTest()
        client.add("models/a", "version 0")
        try client.publish()
        #expect(try client.initialise() == 0)
        #expect(try client.download(["models/a"]) == 0, "\(client.errors)")
        var version = 0
        for skipped in [1, 2, 9] {
            _ = try client.takeRequests()
            for _ in 0..<skipped {
                version += 1
                client.add("models/a", "version \(version)")
                try client.publish([.targets])
            }
            #expect(try client.download(["models/a"]) == 0, "\(client.errors)")
            #expect(try client.downloads == ["models%2Fa": "version \(version)"])
            let targets = try #require(client.repository.roles[.targets])
            let digest = try #require(targets.targets["models/a"]?.sha256?.hex)
            #expect(
                try client.takeRequests() == [
                    "metadata/2.root.json", "metadata/timestamp.json",
                    "metadata/\(client.repository.snapshot.version).snapshot.json",
                    "metadata/\(targets.version).targets.json", "targets/models/\(digest).a",
                ]
            )
            #expect(targets.version == Int64(version) + 2)
        }
        // The old contents again, under a newer version: that is no rollback.
        client.add("models/a", "version 0")
        try client.publish([.targets])
        #expect(try client.download(["models/a"]) == 0, "\(client.errors)")
        #expect(try client.downloads == ["models%2Fa": "version 0"])
    }
}
