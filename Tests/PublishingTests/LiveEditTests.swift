import Manifest
import Names
import Publishing
import Signing
import Testing
import Trust

@Suite("Slips in channels")
struct LiveEditTests {
    private var world: SignedState
    private let model: ModelName
    private let stable: ChannelName

    /// 1.0.0 and 1.1.0 are released, 1.0.0 is on stable, whose floor is 1.0.0.
    init() throws {
        let (name, channel) = (try Test.model(), try #require(ChannelName("stable")))
        (model, stable, world) = (name, channel, try SignedState())
        try world.release(["1.0.0", "1.1.0"], of: name)
        let listing = try world.draft { draft in
            let listed = try draft.listed(try Test.version("1.0.0"), of: name)
            try draft.add(listed, to: channel, of: name, rollout: 10_000)
            #expect(draft.notes.contains("stable is a new channel of vision/detector"))
            try draft.setFloor(try Test.version("1.0.0"), of: channel, of: name)
        }
        try world.take(try world.signed(listing, by: [world.team]))
    }

    private func notes(_ edit: (inout RegistryDraft) throws -> Void) throws -> [String] {
        try world.draft(edit).notes
    }

    private func listed(_ version: String, _ draft: RegistryDraft) throws -> ListedVersion {
        try draft.listed(try Test.version(version), of: model)
    }

    @Test("rollout, floor and remove never make a channel, and say which there are")
    func mistyped() throws {
        let wrong = try #require(ChannelName("stabel"))
        for edit: (inout RegistryDraft) throws -> Void in [
            { try $0.setFloor(try Test.version("1.0.0"), of: wrong, of: model) },
            { try $0.setRollout(1, of: try listed("1.0.0", $0), on: wrong, of: model) },
            { try $0.remove([try Test.version("1.0.0")], from: wrong, of: model) },
        ] {
            #expect {
                _ = try world.draft(edit)
            } throws: { "\($0)".contains("no channel stabel; it has stable") }
        }
        let made = try notes { try $0.add(try listed("1.1.0", $0), to: wrong, of: model, rollout: 1) }
        #expect(made.contains("stabel is a new channel of vision/detector; it had stable"))
    }

    @Test("a share is set only of what the channel lists")
    func rollout() throws {
        #expect {
            _ = try world.draft { try $0.setRollout(1, of: try listed("1.1.0", $0), on: stable, of: model) }
        } throws: { "\($0)".contains("does not list 1.1.0") }
        #expect(
            try notes { try $0.setRollout(1_000, of: try listed("1.0.0", $0), on: stable, of: model) }
                == ["stable of vision/detector offers 1.0.0 to 10 % of devices"]
        )
    }

    @Test("a floor above everything, and a channel that becomes empty, are told")
    func empty() throws {
        let high = try notes { try $0.setFloor(try Test.version("2.0.0"), of: stable, of: model) }
        #expect(high.contains { $0.contains("lists nothing from 2.0.0 on") })
        let gone = try notes { try $0.remove([try Test.version("1.0.0")], from: stable, of: model) }
        #expect(gone.contains { $0.contains("then lists nothing") })
    }

    @Test("a channel is not set to versions below its floor, and adding one is told")
    func belowFloor() throws {
        let model = model
        var world = world
        let draft = try world.draft { draft in
            try draft.add(try listed("1.1.0", draft), to: stable, of: model, rollout: 10_000)
            try draft.setFloor(try Test.version("1.1.0"), of: stable, of: model)
        }
        try world.take(try world.signed(draft, by: [world.team]))
        #expect {
            _ = try world.draft { draft in
                let wanted = [try listed("1.0.0", draft)]
                try draft.set(stable, of: model, to: wanted, history: [], reason: "back")
            }
        } throws: { "\($0)".contains("1.0.0 is below 1.1.0, the floor of stable") }
        let mixed = try world.draft { draft in
            let wanted = [try listed("1.0.0", draft), try listed("1.1.0", draft)]
            try draft.set(stable, of: model, to: wanted, history: [], reason: "both")
        }
        .notes
        #expect(
            mixed.contains(
                "1.0.0 is below 1.1.0, the floor of stable, so no device will newly take it"
            )
        )
        let notes = try world.draft { try $0.add(try listed("1.0.0", $0), to: stable, of: model, rollout: 1) }
            .notes
        #expect(notes.contains { $0.contains("is below 1.1.0, the floor") })
    }
}
