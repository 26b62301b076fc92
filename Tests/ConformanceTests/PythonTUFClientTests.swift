import CanonicalJSON
import Durable
import Foundation
import Names
import Signing
import Support
import Testing
import Trust

/// A repository that Sealift wrote, as static files, and the state of a python-tuf client.
private struct Publication {
    let scratch = Scratch()
    var repository: SimulatedRepository
    var contents: [TargetPath: [UInt8]] = [:]

    init() throws {
        let now = UnixTime(rawValue: Int64(Date().timeIntervalSince1970))
        let model = try #require(ModelName("vision/detector"))
        repository = try SimulatedRepository.sealift(model, now: now)
    }

    /// Lets `role` list `content` at `path`, from the next publication on.
    mutating func add(_ path: TargetPath, _ content: String, to role: SealiftRole) {
        contents[path] = Array(content.utf8)
        repository.roles[role.roleName]?.targets[path] = TargetFile(of: Array(content.utf8))
    }

    func write() throws {
        for (name, bytes) in repository.files { try scratch.write("repository/metadata/\(name)", bytes) }
        for (path, content) in contents {
            var parts = path.description.split(separator: "/").map(String.init)
            let file = "\(SHA256.digest(of: content).hex).\(parts.removeLast())"
            try scratch.write("repository/targets/" + (parts + [file]).joined(separator: "/"), content)
        }
        try scratch.write("root.json", repository.files["1.root.json"] ?? [])
    }

    /// What the client says after it has refreshed and downloaded `targets`.
    func refreshed(_ targets: TargetPath...) throws -> JSONValue {
        try write()
        return try PythonPeer.run(
            "tuf_client.py",
            [scratch.path("repository"), scratch.path("state"), scratch.path("root.json")]
                + targets.map(\.description)
        )
    }
}

@Suite(
    "python-tuf's client against our repository",
    .enabled(if: PythonPeer.python != nil, PythonPeer.isAbsent)
)
struct PythonTUFClientTests {
    private func published() throws -> Publication {
        let model = try #require(ModelName("vision/detector"))
        var publication = try Publication()
        publication.add("sealift/settings.json", "settings", to: .targets)
        publication.add("vision/detector/1.0.0.json", "manifest one", to: .release(model))
        publication.add("vision/detector/live.json", "live one", to: .live(model))
        try publication.repository.publish()
        return publication
    }

    @Test("it follows the delegations and downloads what they list")
    func delegations() throws {
        let publication = try published()
        let answer = try publication.refreshed(
            "vision/detector/1.0.0.json",
            "vision/detector/live.json",
            "sealift/settings.json",
            "vision/detector/9.9.9.json"
        )
        #expect(answer["refused"] == nil, "\(answer["reason"]?.string ?? "")")
        #expect(answer["targets"]?["vision/detector/1.0.0.json"]?.string == "manifest one")
        #expect(answer["targets"]?["vision/detector/live.json"]?.string == "live one")
        #expect(answer["targets"]?["sealift/settings.json"]?.string == "settings")
        #expect(answer["targets"]?["vision/detector/9.9.9.json"] == .null)
    }

    @Test("it follows rotated root keys to P-256 and a threshold of two")
    func rotation() throws {
        var publication = try published()
        try publication.repository.rotate(.root, to: .ecdsaP256, count: 3, threshold: 2)
        try publication.repository.rotate(.targets, to: .ecdsaP256, count: 2, threshold: 2)
        try publication.repository.publishRoot()
        try publication.repository.rotate(.timestamp)
        try publication.repository.publishRoot()
        try publication.repository.publish()
        let answer = try publication.refreshed("vision/detector/1.0.0.json")
        #expect(answer["refused"] == nil, "\(answer["reason"]?.string ?? "")")
        #expect(answer["versions"]?["root.json"]?.integer == 3)
        #expect(answer["targets"]?["vision/detector/1.0.0.json"]?.string == "manifest one")
    }

    @Test("it takes the next publication from where it stands")
    func second() throws {
        let model = try #require(ModelName("vision/detector"))
        var publication = try published()
        _ = try publication.refreshed("vision/detector/live.json")
        publication.add("vision/detector/live.json", "live two", to: .live(model))
        try publication.repository.publish([.delegated("vision~detector~live")])
        let answer = try publication.refreshed("vision/detector/live.json")
        #expect(answer["targets"]?["vision/detector/live.json"]?.string == "live two")
        #expect(answer["versions"]?["vision~detector~live.json"]?.integer == 3)
    }

    @Test(
        "it refuses a tampered file, as our client does",
        arguments: [
            ("timestamp.json", "UnsignedMetadataError"), ("3.snapshot.json", "LengthOrHashMismatchError"),
            ("3.targets.json", "UnsignedMetadataError"), ("2.vision~detector.json", "UnsignedMetadataError"),
        ]
    )
    func tampered(name: String, refusal: String) throws {
        var publication = try published()
        let text = String(decoding: publication.repository.files[name] ?? [], as: UTF8.self)
        let changed = text.replacing(#""expires":"2"#, with: #""expires":"3"#)
        #expect(changed != text)
        publication.repository.files[name] = Array(changed.utf8)
        let answer = try publication.refreshed("vision/detector/1.0.0.json")
        #expect(answer["refused"]?.string == refusal, "\(answer["reason"]?.string ?? "")")
    }

    @Test(
        "it refuses a repository of ours that has ended, at the role that did, as our client does",
        arguments: [RoleName.timestamp, .snapshot, .targets, .root, .delegated("vision")]
    )
    func expiry(role: RoleName) throws {
        var publication = try published()
        let ended = publication.repository.now.adding(seconds: -1)
        switch role {
        case .timestamp:
            publication.repository.timestamp.expires = ended
            try publication.repository.signTimestamp()
        case .snapshot:
            publication.repository.snapshot.expires = ended
            try publication.repository.signSnapshot()
            try publication.repository.signTimestamp()
        case .root:
            publication.repository.root.expires = ended
            try publication.repository.publishRoot()
        case .targets, .delegated:
            publication.repository.roles[role]?.expires = ended
            try publication.repository.publish([role])
        }
        let answer = try publication.refreshed("vision/detector/1.0.0.json")
        #expect(answer["refused"]?.string == "ExpiredMetadataError", "\(answer["reason"]?.string ?? "")")
        #expect(answer["reason"]?.string?.contains("\(role)") == true, "\(answer["reason"]?.string ?? "")")
    }

    @Test("it refuses tampered content")
    func content() throws {
        let publication = try published()
        try publication.write()
        let digest = SHA256.digest(of: Array("manifest one".utf8))
        var lying = publication
        lying.contents["vision/detector/1.0.0.json"] = nil
        try publication.scratch.write(
            "repository/targets/vision/detector/\(digest.hex).1.0.0.json",
            Array("manifest two".utf8)
        )
        let answer = try lying.refreshed("vision/detector/1.0.0.json")
        #expect(answer["refused"]?.string == "LengthOrHashMismatchError")
    }
}
