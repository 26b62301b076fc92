import CanonicalJSON
import Foundation
import Names
import Signing
import Support
import Testing
import Trust

@Suite("tuf-client, the real program", .serialized)
struct TUFClientTests {
    @Test("init then refresh: exactly the documented requests, exactly the bytes that were served")
    func sequence() throws {
        let client = try ClientUnderTest()
        #expect(try client.initialise() == 0)
        #expect(try client.takeRequests() == [])
        #expect(try client.refresh() == 0, "\(client.errors)")
        let names = ["2.root.json", "timestamp.json", "1.snapshot.json", "1.targets.json"]
        #expect(try client.takeRequests() == names.map { "metadata/" + $0 })
        let files = client.repository.files
        #expect(
            try client.trusted
                == [
                    "root.json": files["1.root.json"], "timestamp.json": files["timestamp.json"],
                    "snapshot.json": files["1.snapshot.json"], "targets.json": files["1.targets.json"],
                ].compactMapValues { $0 }
        )
        #expect(try client.refresh() == 0)
        #expect(try client.takeRequests() == ["metadata/2.root.json", "metadata/timestamp.json"])
    }

    @Test("too few open files end in exit code 1, never in a trap", arguments: [4, 6, 12])
    func openFiles(limit: Int) throws {
        let client = try ClientUnderTest()
        #expect(try client.initialise() == 0)
        client.wrapper = ["/bin/sh", "-c", #"ulimit -n \#(limit) && exec "$@""#, "sh"]
        #expect(try client.refresh() == 1)
        #expect(client.errors.contains("ulimit -n"), "\(client.errors)")
    }

    @Test("download refreshes first, and puts each target under one safe name", arguments: ["", "/"])
    func download(slash: String) throws {
        let client = try ClientUnderTest()
        client.add("file.txt", "one")
        client.add("path/to/a [b]/file.txt", "two")
        client.add("..escape", "three")
        client.add(".hidden", "four")
        try client.publish()
        #expect(try client.initialise() == 0)
        let names = ["file.txt", "path/to/a [b]/file.txt", "..escape", ".hidden"]
        #expect(try client.download(names, slash: slash) == 0, "\(client.errors)")
        #expect(
            try client.downloads == [
                "file.txt": "one", "path%2Fto%2Fa%20%5Bb%5D%2Ffile.txt": "two", "%2E.escape": "three",
                "%2Ehidden": "four",
            ]
        )
        let requests = try client.takeRequests()
        #expect(requests.prefix(4).last == "metadata/2.targets.json")
        let digest = SHA256.digest(of: Array("two".utf8)).hex
        #expect(requests.contains("targets/path/to/a%20%5Bb%5D/\(digest).file.txt"))
        #expect(requests.count == 8)
        // Present and unchanged: neither asked for nor touched again.
        #expect(try client.download(["file.txt"], slash: slash) == 0)
        #expect(try client.takeRequests() == ["metadata/2.root.json", "metadata/timestamp.json"])
    }

    @Test(
        "a target whose name leads out of its folder is refused before it is asked for",
        arguments: ["../../escape", "/absolute", "a//b", "./a", "a/..", "line\nfeed"]
    )
    func outside(name: String) throws {
        let client = try ClientUnderTest()
        client.repository.roles[.targets]?.targets[TargetPath(name)] = TargetFile(of: [1])
        try client.publish()
        #expect(try client.initialise() == 0)
        #expect(try client.download([name]) == 1)
        #expect(client.errors.contains("leads out of its folder"), "\(client.errors)")
        #expect(try client.takeRequests().count == 4)
        #expect(try client.downloads == [:])
    }

    @Test("a download stops at the first failure, and keeps what came before")
    func stops() throws {
        let client = try ClientUnderTest()
        client.add("a", "a")
        client.add("b", "b")
        try client.publish()
        #expect(try client.initialise() == 0)
        #expect(try client.download(["a", "missing", "b"]) == 1)
        #expect(try client.downloads == ["a": "a"])
        #expect(client.errors.contains("no role lists the target missing"))
    }

    @Test("substituted, short and endless content is refused, and the old file stays")
    func substituted() throws {
        let client = try ClientUnderTest()
        client.add("a", "first")
        try client.publish()
        #expect(try client.initialise() == 0)
        #expect(try client.download(["a"]) == 0)
        client.add("a", "second")
        try client.publish([.targets])
        let digest = SHA256.digest(of: Array("second".utf8)).hex
        for content in ["secomd", "sec", "second and more"] {
            try client.scratch.write("files/targets/\(digest).a", Array(content.utf8))
            #expect(try client.download(["a"]) == 1)
            #expect(try client.downloads == ["a": "first"])
        }
        try client.serve()
        try FileManager.default.removeItem(atPath: client.scratch.path("files/targets/\(digest).a"))
        try client.scratch.write("files/targets/\(digest).a.endless", [])
        #expect(try client.download(["a"]) == 1)
        #expect(try client.downloads == ["a": "first"])
        try client.serve()
        #expect(try client.download(["a"]) == 0)
        #expect(try client.downloads == ["a": "second"])
    }

    @Test("SHA-512 alone is enough; every listed digest must match; an unknown algorithm never does")
    func algorithms() throws {
        let client = try ClientUnderTest()
        let content = Array("content".utf8)
        client.contents = ["a": content, "b": content, "c": content]
        let sha512 = SHA512.digest(of: content)
        let sha256 = SHA256.digest(of: content).bytes
        let length = UInt64(content.count)
        client.repository.roles[.targets]?.targets = [
            "a": TargetFile(length: length, hashes: ["sha512": sha512]),
            "b": TargetFile(length: length, hashes: ["sha256": sha256, "sha512": sha512.reversed()]),
            "c": TargetFile(length: length, hashes: ["sha256": sha256, "md5": [1]]),
        ]
        try client.publish()
        #expect(try client.initialise() == 0)
        #expect(try client.download(["a"]) == 0, "\(client.errors)")
        #expect(try client.download(["b"]) == 1)
        #expect(client.errors.contains("sha512"))
        #expect(try client.download(["c"]) == 1)
        #expect(client.errors.contains("md5"))
        #expect(try client.downloads == ["a": "content"])
    }

    @Test(
        "a role's name is percent-encoded exactly, in the request and on the disk",
        arguments: [
            ("?", "%3F"), ("#", "%23"), ("/delegatedrole", "%2Fdelegatedrole"),
            ("../delegatedrole", "..%2Fdelegatedrole"), ("a b[é]~_-.", "a%20b%5B%C3%A9%5D~_-."),
        ]
    )
    func roleNames(name: String, encoded: String) throws {
        let client = try ClientUnderTest()
        try client.repository.delegate(RoleName(name), by: .targets, paths: ["*"], terminating: false)
        try client.publish()
        #expect(try client.initialise() == 0)
        #expect(try client.download(["nonexistent"]) == 1)
        #expect(try client.takeRequests().last == "metadata/1.\(encoded).json")
        #expect(try client.trusted.count == 5)
        #expect(try client.trusted["\(encoded).json"] == client.repository.files["1.\(name).json"])
    }

    @Test("without consistent snapshots only root files carry versions, and targets no digests")
    func plain() throws {
        let client = try ClientUnderTest()
        client.repository.root.consistentSnapshot = false
        client.repository.root.version = 1
        client.repository.files = [:]
        try client.repository.publishRoot()
        try client.repository.delegate(RoleName("team"), by: .targets, paths: ["team/*"])
        client.add("team/a", "a", to: RoleName("team"))
        try client.publish()
        #expect(try client.initialise() == 0)
        #expect(try client.download(["team/a"]) == 0, "\(client.errors)")
        #expect(
            try client.takeRequests() == [
                "metadata/2.root.json", "metadata/timestamp.json", "metadata/snapshot.json",
                "metadata/targets.json", "metadata/team.json", "targets/team/a",
            ]
        )
    }

    @Test("a wrong pinned root: init refuses it, and refresh then ends before any request")
    func wrongRoot() throws {
        let client = try ClientUnderTest()
        let genuine = String(decoding: client.repository.files["1.root.json"] ?? [], as: UTF8.self)
        for broken in [
            genuine.replacing(#","version":1"#, with: ""),
            genuine.replacing(#""sig":""#, with: #""sig":"00"#),
            "", "{}",
        ] {
            #expect(try client.initialise(Array(broken.utf8)) == 1)
            #expect(try client.refresh() == 1)
            #expect(try client.takeRequests() == [])
        }
        #expect(try client.initialise() == 0)
        #expect(try client.refresh() == 0)
        let other = try ClientUnderTest()
        #expect(try client.initialise(other.repository.files["1.root.json"]) == 1)
        #expect(try client.refresh() == 0)
    }

    @Test(
        "a wrong call ends with 1 and says how to call",
        arguments: [[], ["frobnicate"], ["init", "a", "b"], ["--x", "y"]]
    )
    func usage(words: [String]) throws {
        let client = try ClientUnderTest()
        #expect(try client.refresh(words.isEmpty ? ["refresh"] : words) == 1)
        #expect(client.errors.contains("--help"))
    }
}
