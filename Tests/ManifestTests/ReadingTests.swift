import CanonicalJSON
import Manifest
import Names
import Testing

@Suite("What one process asks another to read")
struct ReadingTests {
    private func request() throws -> ReadingRequest {
        ReadingRequest(
            format: .onnx,
            entry: try #require(FilePath("model.onnx")),
            files: [
                ReadingRequest.File(
                    path: try #require(FilePath("model.onnx")),
                    length: 7,
                    location: "/device/incoming/ab"
                )
            ],
            parent: 42
        )
    }

    private func facts() throws -> Reading.Facts {
        Reading.Facts(
            entry: try #require(FilePath("model.onnx")),
            format: .onnx,
            interface: try InterfaceTests.everything(),
            requires: Requirements(irVersion: 8, opsets: ["ai.onnx": 17])
        )
    }

    @Test("request and answers come back as they were written")
    func roundTrips() throws {
        let request = try request()
        #expect(try ReadingRequest(canonical: request.canonical) == request)
        var stated = try facts()
        stated.statedVersion = 3
        var hollow = try facts()
        hollow.folders = [try #require(FilePath("a.mlpackage/Data/weights"))]
        let outcomes: [Reading.Outcome] = [
            .read(try facts()), .read(stated), .read(hollow), .refused("bad `é`"), .unreadable("gone"),
        ]
        for outcome in outcomes {
            #expect(try Reading(canonical: Reading(outcome).canonical) == Reading(outcome))
        }
    }

    @Test("a manifest may say more than a file states, as it uses, and never less")
    func statedVersions() throws {
        var facts = try facts()
        facts.requires.specificationVersion = 9
        #expect(facts.isMet(bySpecification: 9))
        for other in [nil, 8, 10] as [Int64?] { #expect(!facts.isMet(bySpecification: other)) }
        facts.statedVersion = 7
        for fitting in [Int64(7), 8, 9, 10] { #expect(facts.isMet(bySpecification: fitting)) }
        for less in [nil, 0, 6] as [Int64?] { #expect(!facts.isMet(bySpecification: less)) }
    }

    @Test("a reason of any length is cut to what an answer may have")
    func longReason() throws {
        let reading = Reading(.refused(String(repeating: "é", count: 5_000)))
        let back = try Reading(canonical: reading.canonical)
        guard case .refused(let reason) = back.outcome else {
            Issue.record("not a refusal")
            return
        }
        #expect(reason.hasSuffix("é…") && reason.utf8.count <= Reading.longestReason)
        let answer = CheckAnswer(.failed(String(repeating: "é", count: 5_000)))
        guard case .failed(let why) = try CheckAnswer(canonical: answer.canonical).outcome else {
            Issue.record("no failure")
            return
        }
        #expect(why.hasSuffix("é…") && why.utf8.count <= CheckAnswer.longestReason)
    }

    static let wrong: [(String, [PathStep], JSONValue?)] = [
        ("request", ["parent"], .integer(0)), ("request", ["parent"], nil),
        ("request", ["files"], .array([])),
        ("request", ["files", 0, "location"], .text("incoming/ab")),
        ("request", ["files", 0, "path"], .text("../model.onnx")), ("request", ["format"], .text("pickle")),
        ("request", ["extra"], .bool(true)), ("reading", ["read"], nil),
        ("reading", ["refused"], .text("also")), ("reading", ["read", "entry"], .text("/etc/passwd")),
        ("reading", ["read", "interface", "inputs"], nil), ("reading", ["read", "extra"], .bool(true)),
        ("reading", ["read", "requires", "ir_version"], .text("8")),
        ("reading", ["read", "folders"], .array([])),
        ("reading", ["read", "folders"], .array([.text("../data")])),
        ("reading", ["type"], .text("sealift/card@1")),
    ]

    @Test("each is refused with a member that is not as it must be", arguments: wrong.indices)
    func refused(_ index: Int) throws {
        let (document, path, value) = Self.wrong[index]
        if document == "request" {
            let broken = try request().json.with(path, value)
            #expect(throws: ManifestError.self) { try ReadingRequest(canonical: broken.compactJSON) }
        } else {
            let broken = Reading(.read(try facts())).json.with(path, value)
            #expect(throws: ManifestError.self) { try Reading(canonical: broken.compactJSON) }
        }
    }
}
