import Foundation
import Support
import Testing

/// What the types of `Trust` are worth is what they keep from compiling.
@Suite("What must not compile")
struct CompileFailTests {
    /// A program, and a part of the compiler's answer; `nil` when it must compile.
    struct Attempt: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let body: String
        let answer: String?

        init(_ description: String, _ answer: String?, _ body: String) {
            testDescription = description
            self.answer = answer
            self.body = body
        }
    }

    static let attempts = [
        Attempt(
            "what is allowed compiles, so that the others fail for their own reason",
            nil,
            """
            let verified = try Untrusted<TimestampDocument>(bytes).verified(by: quorum)
            _ = verified.document.version
            var stage = try RootStage(anchor: bytes, clock: clock)
            try stage.advance(to: bytes)
            _ = try stage.settled()
            """
        ),
        Attempt(
            "nobody but its own file makes a verified document",
            "initializer is inaccessible due to 'fileprivate' protection level",
            """
            let document = TimestampDocument(
                version: 1, expires: clock.now, issued: nil, snapshot: MetaFile(version: 1)
            )
            _ = Verified(document: document, bytes: bytes, role: .timestamp, signers: [])
            """
        ),
        Attempt(
            "the bytes of an untrusted document cannot be read",
            "'bytes' is inaccessible due to 'private' protection level",
            "_ = Untrusted<TimestampDocument>(bytes).bytes"
        ),
        Attempt(
            "an untrusted document does not stand in for a verified one",
            "cannot convert value of type 'Untrusted<TargetsDocument>'",
            """
            let untrusted = Untrusted<TargetsDocument>(bytes)
            var walk = DelegationWalk(to: "x")
            _ = walk.visit(untrusted)
            """
        ),
        Attempt(
            "no new root once the root has settled",
            "'stage' used after consume",
            """
            var stage = try RootStage(anchor: bytes, clock: clock)
            _ = try stage.settled()
            try stage.advance(to: bytes)
            """
        ),
        Attempt(
            "a stage cannot be kept by copying it",
            "'stage' consumed more than once",
            """
            let stage = try RootStage(anchor: bytes, clock: clock)
            _ = try stage.settled()
            _ = try stage.settled()
            """
        ),
        Attempt(
            "no snapshot without a settled timestamp",
            "initializer is inaccessible due to 'internal' protection level",
            """
            let root = try Untrusted<RootDocument>(bytes).verifiedByItself()
            let timestamp = try Untrusted<TimestampDocument>(bytes).verified(by: quorum)
            _ = SnapshotStage(chain: [root], root: root, timestamp: timestamp, clock: clock)
            """
        ),
    ]

    /// Asks for SIL, because ownership is not judged before.
    @Test("the compiler decides", arguments: attempts)
    func compiles(attempt: Attempt) throws {
        let scratch = Scratch()
        let program = """
            import Trust
            func attempt(_ bytes: [UInt8], _ quorum: Quorum, _ clock: TrustClock) throws {
            \(attempt.body)
            }
            """
        let file = try scratch.write("attempt.swift", Array(program.utf8))
        let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let built = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        let modules = built.appending(path: "Modules").path(percentEncoded: false)
        let openSSL = package.appending(path: "Sources/COpenSSL/module.modulemap").path(percentEncoded: false)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "swiftc", "-emit-sil", "-swift-version", "6", "-package-name", Self.identity(of: package),
            "-I", modules, "-Xcc", "-fmodule-map-file=\(openSSL)", "-o", "/dev/null", file,
        ]
        let output = Pipe()
        process.standardError = output
        try process.run()
        let answer = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        if let expected = attempt.answer {
            #expect(process.terminationStatus != 0)
            #expect(answer.contains(expected), "\(answer)")
        } else {
            #expect(process.terminationStatus == 0, "\(answer)")
        }
    }

    /// The package's name as SwiftPM hands it to the compiler: its folder's, in the letters of an identifier.
    private static func identity(of package: URL) -> String {
        let name = package.lastPathComponent.lowercased()
        let letters = name.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" }
        return (letters.first?.isNumber == true ? "_" : "") + String(letters)
    }
}
