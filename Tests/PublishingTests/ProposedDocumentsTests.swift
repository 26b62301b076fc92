import CanonicalJSON
import Manifest
import Names
import Publishing
import RegistryAPI
import Signing
import Testing
import Trust

/// What a co-signer is shown is what the signature covers, and nothing that the file merely says.
@Suite("Reading what is signed")
struct ProposedDocumentsTests {
    private var world: SignedState
    private let model: ModelName
    private let stable: ChannelName

    init() throws {
        let (name, channel) = (try Test.model(), try #require(ChannelName("stable")))
        (model, stable, world) = (name, channel, try SignedState())
        try world.release(["1.0.0", "1.1.0"], of: name)
        let listing = try world.draft { draft in
            let listed = try draft.listed(try Test.version("1.0.0"), of: name)
            try draft.add(listed, to: channel, of: name, rollout: 10_000)
        }
        try world.take(try world.signed(listing, by: [world.team]))
    }

    /// One device in eight goes on to 1.1.0, and 1.0.0 is recalled.
    private func change() throws -> Proposal {
        try world.draft { draft in
            try draft.add(
                try draft.listed(try Test.version("1.1.0"), of: model),
                to: stable,
                of: model,
                rollout: 1_250
            )
            let state = VersionState(kind: .recalled, reason: "wrong labels", time: SignedState.now)
            let old = try Test.version("1.0.0")
            try draft.editLive(model, "recall") { live in live.withdrawing(old, state) }
        }.proposal()
    }

    /// The file with one text in the place of another, as somebody might edit it.
    private func edited(_ proposal: Proposal, _ old: String, _ new: String) throws -> Proposal {
        let text = String(decoding: proposal.bytes, as: UTF8.self)
        #expect(text.contains(old))
        return try Proposal(Array(text.replacing(old, with: new).utf8))
    }

    private func lines(_ proposal: Proposal, beside state: RegistryState? = nil) -> [String] {
        proposal.roles.flatMap { proposal.statements(of: $0, beside: state) }
    }

    @Test("channels, shares and recalls are read from the documents that are signed")
    func shown() throws {
        let lines = lines(try change())
        for words in [
            "stable of vision/detector offers 1.1.0", "to 12.5 % of devices",
            "vision/detector 1.0.0 is recalled since", "wrong labels",
        ] { #expect(lines.contains { $0.contains(words) }, "\(lines)") }
    }

    @Test("beside what is published, only what changes is told")
    func difference() throws {
        let lines = lines(try change(), beside: world.state)
        #expect(lines.contains { $0.hasPrefix("from now on: stable of vision/detector offers 1.1.0") })
        #expect(!lines.contains { $0.contains("offers 1.0.0") }, "it stays: \(lines)")
        let renewed = try world.draft { try $0.renew(.targets) }.proposal()
        #expect(self.lines(renewed, beside: world.state) == ["says what is published, with a new life"])
    }

    @Test("a change that the words do not tell is not called a new life")
    func untold() throws {
        let renewed = try world.draft { try $0.renew(SealiftRole.release(model).roleName) }.proposal()
        #expect(lines(renewed, beside: world.state) == ["says what is published, with a new life"])
        let marked = try edited(renewed, "\"length\":5", "\"custom\":{\"a\":1},\"length\":5")
        let told = lines(marked, beside: world.state)
        #expect(told.count == 1 && told.allSatisfy { $0.contains("these words do not tell") }, "\(told)")
    }

    @Test("denials are told with their versions, and settings with their values")
    func administrators() throws {
        let proposal = try world.draft { draft in
            try draft.deny(
                [try Test.version("1.1.0")],
                of: model,
                in: .targets,
                reason: "key stolen",
                now: SignedState.now
            )
            try draft.changeSettings { $0.grace = 7 }
        }.proposal()
        #expect(try proposal.checkedDocuments().isEmpty)
        let lines = lines(proposal, beside: world.state)
        #expect(
            lines.contains { $0.contains("vision/detector 1.1.0 denied since") && $0.contains("key stolen") }
        )
        #expect(lines.contains { $0.contains("runs on for 7s") }, "\(lines)")
    }

    @Test("a document that is not the one signed is refused, and its words are never shown")
    func swapped() throws {
        let proposal = try change()
        let content = try #require(proposal.targets.first?.content)
        let harmless = try LiveDocument(model: model).encoded()
        let forged = try edited(proposal, Base64.text(content), Base64.text(harmless))
        for state in [nil, world.state] {
            #expect {
                _ = try forged.checkedDocuments(beside: state)
            } throws: { "\($0)".contains("another vision/detector/live.json than would be signed") }
        }
        #expect(!lines(forged).contains { $0.contains("offers") })
    }

    @Test("a document that no role lists is refused, and so is one that is kept back")
    func extraAndMissing() throws {
        let proposal = try change()
        let text = String(decoding: proposal.bytes, as: UTF8.self)
        let target = try #require(proposal.targets.first)
        let entry = "{\"content\":\"\(Base64.text(target.content))\",\"path\":\"\(target.path)\"}"
        let extra = try edited(
            proposal,
            entry,
            entry + ",{\"content\":\"e30=\",\"path\":\"vision/x/live.json\"}"
        )
        #expect { _ = try extra.checkedDocuments() } throws: { "\($0)".contains("no role in it lists") }
        let twice = try edited(proposal, entry, entry + "," + entry)
        #expect { _ = try twice.checkedDocuments() } throws: { "\($0)".contains("twice") }
        #expect(text.contains(entry))
        let missing = try edited(proposal, entry, "")
        #expect { _ = try missing.checkedDocuments() } throws: { "\($0)".contains("not in the file") }
    }

    @Test("manifests by digest alone are named, unless the registry has published them")
    func unseen() throws {
        let model = model
        let proposal = try world.draft { try $0.list("\(model)/1.2.0.json", [1], in: .release(model)) }
            .proposal()
        #expect { _ = try proposal.checkedDocuments() } throws: { "\($0)".contains("cannot be used") }
        let renewed = try world.draft { try $0.renew(SealiftRole.release(model).roleName) }.proposal()
        #expect(
            try renewed.checkedDocuments().map(\.path) == ["\(model)/1.0.0.json", "\(model)/1.1.0.json"]
        )
        #expect(try renewed.checkedDocuments(beside: world.state).isEmpty)
    }

    @Test("a role under another's name, twice, or of the registry's own is refused")
    func names() throws {
        let proposal = try change()
        let renamed = try edited(proposal, "\"role\":\"vision~detector~live\"", "\"role\":\"audio~x~live\"")
        #expect { _ = try renamed.checkedDocuments() } throws: { "\($0)".contains("none that devices take") }
        let hold = try edited(proposal, "\"role\":\"vision~detector~live\"", "\"role\":\"sealift~hold\"")
        #expect { _ = try hold.checkedDocuments() } throws: { "\($0)".contains("no role that people sign") }
    }

    @Test("members that are signed and not known here are told of")
    func unknown() throws {
        let proposal = try change()
        let odd = try edited(proposal, "\"_type\":\"targets\"", "\"_type\":\"targets\",\"aaa\":1")
        #expect(lines(odd).contains { $0.contains("members that this program does not know") })
        #expect(!lines(proposal).contains { $0.contains("does not know") })
    }

    @Test("what whoever made the file says of it is no statement")
    func notes() throws {
        let forged = try edited(try change(), "\"recall\"", "\"nothing of importance\"")
        #expect(forged.notes.contains("nothing of importance"))
        #expect(!lines(forged).contains { $0.contains("importance") })
    }
}
