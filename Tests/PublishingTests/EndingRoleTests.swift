import Names
import Publishing
import Testing
import Trust

@Suite("Roles that end")
struct EndingRoleTests {
    @Test(
        "one moment decides for the list of all roles and for the warnings: a role ends before what is later"
    )
    func limit() throws {
        let world = try SignedState()
        let end = try #require(world.state.roles[.targets]?.document.expires)
        for (limit, isEnding) in [(end, false), (end.adding(seconds: 1), true)] {
            let listed = try world.state.lives().filter { $0.role == .targets && $0.ends(before: limit) }
            let warned = try world.state.ending(before: limit).filter { $0.role == .targets }
            #expect(!listed.isEmpty == isEnding)
            #expect(!warned.isEmpty == isEnding)
        }
    }
}
