import Durable
import Foundation
import Names
import Signing
import Support
import Testing
import Trust

/// The real `tuf-client`, its folders, and a server with the repository that a test changes.
///
/// Holds to the command line of the public conformance suite: options first,
/// a new process for each call, the test's name percent-encoded in the URL.
final class ClientUnderTest {
    static let now = UnixTime(rawValue: Int64(Date().timeIntervalSince1970))

    let scratch = Scratch()
    var repository: SimulatedRepository

    /// Target contents by path; served plainly or under every listed digest.
    var contents: [TargetPath: [UInt8]] = [:]
    var environment = ProcessInfo.processInfo.environment
    var wrapper: [String] = []
    private let server: Program
    private let base: String

    /// A repository of four top-level roles, made by us, version 1 of everything.
    init() throws {
        repository = try SimulatedRepository(now: Self.now, sealift: nil)
        for folder in ["state", "targets", "files/metadata", "files/targets"] {
            try Durable.makeDirectory(scratch.path(folder))
        }
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures/serve.py")
        let prefix = "/test%5Bname%5D"
        server = try Program(
            ["python3", script.path(percentEncoded: false), scratch.path, prefix],
            environment,
            scratch.path("serve")
        )
        base = "http://127.0.0.1:\(try server.firstLine())\(prefix)"
    }

    // MARK: the repository

    /// Makes `role` list `content`, from the next publication on.
    func add(_ path: TargetPath, _ content: String, to role: RoleName = .targets) {
        contents[path] = Array(content.utf8)
        repository.roles[role]?.targets[path] = TargetFile(of: Array(content.utf8))
    }

    /// Puts the repository's files where the server finds them.
    func serve() throws {
        try Durable.removeTree(scratch.path("files"))
        for (name, bytes) in repository.files {
            try scratch.write("files/metadata/\(Self.quoted(name))", bytes)
        }
        for (path, content) in contents {
            let parts = path.description.split(separator: "/", omittingEmptySubsequences: false)
                .map { Self.quoted(String($0)) }
            let folder = parts.dropLast().map { $0 + "/" }.joined()
            let name = parts.last ?? ""
            let hashes = Set(
                repository.roles.values.flatMap { role in
                    (role.targets[path]?.hashes ?? [:]).values.map { Hex.text($0) }
                }
            )
            for prefix in repository.root.consistentSnapshot ? hashes.map({ $0 + "." }) : [""] {
                try scratch.write("files/targets/\(folder)\(prefix)\(name)", content)
            }
        }
    }

    func publish(_ changed: [RoleName]? = nil) throws {
        try repository.publish(changed)
        try serve()
    }

    // MARK: the client

    func initialise(_ root: [UInt8]? = nil) throws -> Int32 {
        if root == nil { try serve() }
        let file = try scratch.write("initial_root.json", root ?? repository.files["1.root.json"] ?? [])
        return try run(["init", file])
    }

    func refresh(_ options: [String] = []) throws -> Int32 {
        try run(options + ["--metadata-url", "\(base)/metadata/", "refresh"])
    }

    func download(_ names: [String], slash: String = "/") throws -> Int32 {
        try run(
            ["--metadata-url", "\(base)/metadata\(slash)"] + names.flatMap { ["--target-name", $0] }
                + ["--target-dir", scratch.path("targets"), "--target-base-url", "\(base)/targets\(slash)"]
                + ["download"]
        )
    }

    /// What the last call wrote for people.
    private(set) var errors = ""

    private func run(_ arguments: [String]) throws -> Int32 {
        let words = wrapper + [try Self.program(), "--metadata-dir", scratch.path("state")] + arguments
        let program = try Program(words, environment, scratch.path("client"))
        let code = program.wait()
        errors = program.errors
        return code
    }

    // MARK: what came of it

    /// The names asked for since the last call, in order.
    func takeRequests() throws -> [String] {
        let bytes = try Durable.readFileIfPresent(scratch.path("requests"), maximum: .mebibytes(1)) ?? []
        try? Durable.removeFile(scratch.path("requests"))
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map { String($0.dropFirst()) }
    }

    /// Every `*.json` at the top of the client's folder.
    var trusted: [String: [UInt8]] {
        get throws {
            var files: [String: [UInt8]] = [:]
            for name in try Durable.names(in: scratch.path("state")) where name.hasSuffix(".json") {
                files[name] = try scratch.read("state/\(name)")
            }
            return files
        }
    }

    /// Everything in the target folder, hidden files too.
    var downloads: [String: String] {
        get throws {
            var files: [String: String] = [:]
            for name in try Durable.names(in: scratch.path("targets")) {
                files[name] = String(decoding: try scratch.read("targets/\(name)"), as: UTF8.self)
            }
            return files
        }
    }

    /// As Python's `quote(text, "")`, by Foundation rather than by the code under test.
    static func quoted(_ text: String) -> String {
        let plain = CharacterSet(
            charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~"
        )
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? text
    }

    /// `tuf-client` beside the test program, which is where one build puts both.
    private static func program() throws -> String {
        var folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        while folder.path(percentEncoded: false) != "/" {
            let candidate = folder.appending(path: "tuf-client").path(percentEncoded: false)
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: candidate, isDirectory: &isFolder), !isFolder.boolValue
            {
                return candidate
            }
            folder.deleteLastPathComponent()
        }
        throw CocoaError(.fileNoSuchFile)
    }
}
