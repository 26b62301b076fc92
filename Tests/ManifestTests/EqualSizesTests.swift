import Names
import Testing

@testable import Manifest

/// Counted in steps from one size to another, so that it is the same on every machine.
@Suite("Equal sizes: never more work than there are sizes")
struct EqualSizesTests {
    private static func symbol(_ name: String, _ side: CallSize.Side) throws -> CallSize {
        .symbol(try #require(FeatureName(name)), side)
    }

    /// Steps to join `count` sizes one after the other, and to ask for each; `isSent` is the side of the one that is all.
    private static func steps(_ count: Int, sent isSent: Bool, known: Bool) throws -> Int {
        let steps = SizeSteps()
        var equal = EqualSizes(counting: steps)
        let one = try symbol("one", isSent ? .ours : .theirs)
        let others = try (0..<count).map { try symbol("s\($0)", isSent ? .theirs : .ours) }
        for other in others { equal.join([isSent ? one : other], with: [isSent ? other : one]) }
        if known { equal.join([.known(7)], with: [one]) }
        for other in others {
            #expect(!equal.areUnequal(one, other))
            #expect(equal.root(of: other) == .known(7) || !known)
        }
        return steps.count
    }

    @Test(
        "many sizes that become one cost twice as much where they are twice as many",
        arguments: [true, false]
    )
    func linear(_ isSent: Bool) throws {
        for known in [true, false] {
            let (small, large) = (
                try Self.steps(2_000, sent: isSent, known: known),
                try Self.steps(4_000, sent: isSent, known: known)
            )
            #expect(large <= small * 5 / 2, "\(small), \(large)")
            #expect(large <= 4_000 * 16, "\(large)")
        }
    }

    @Test("the root of equal sizes is the known one, and two known ones are not one")
    func known() throws {
        var equal = EqualSizes()
        let (a, b, c) = (
            try Self.symbol("a", .ours), try Self.symbol("b", .theirs), try Self.symbol("c", .theirs)
        )
        equal.join([a, a], with: [b, c])
        equal.join([a], with: [.known(2)])
        #expect(equal.root(of: c) == .known(2))
        equal.join([.known(3)], with: [c])
        #expect(equal.root(of: b) == .known(2) && equal.root(of: .known(3)) == .known(3))
        equal.join([.known(2)], with: [.known(3)])
        #expect(equal.areUnequal(.known(2), .known(3)))
    }

    /// An app that sends `count` optional inputs of one size `n`, and reads as many outputs of that size.
    private static func shared(_ count: Int, _ steps: SizeSteps) throws -> SharedShapes {
        let n = Dimension.symbol(try #require(FeatureName("n")))
        func feature(_ name: String, _ dimensions: [Dimension]) throws -> Feature {
            try Samples.feature(name, .dimensions(dimensions), optional: name.hasPrefix("i"))
        }
        func own(_ name: String) throws -> Dimension { .symbol(try #require(FeatureName(name))) }
        let inputs = (0..<count).map { "i\($0)" }
        let outputs = (0..<count).map { "o\($0)" }
        return SharedShapes(
            MatchedFeatures(
                try inputs.map { try feature($0, [n, .fixed(1)]) },
                try inputs.map { try feature($0, [own("m"), own($0)]) }
            ),
            MatchedFeatures(
                try outputs.map { try feature($0, [n]) },
                try outputs.map { try feature($0, [$0 == "o7" ? own("m") : own($0)]) }
            ),
            counting: steps
        )
    }

    @Test(
        "many optional inputs and many outputs are not compared each with each, and each fault is told once"
    )
    func optionalInputs() throws {
        var counts: [Int] = []
        for size in [1_000, 2_000] {
            let steps = SizeSteps()
            let shared = try Self.shared(size, steps)
            let unequal = shared.unequalGiven
            // All but `o7` are no size that the model promises, whichever inputs are sent.
            let told = unequal.filter { $0.0.isInput }.map { "\($0.1.name)" }
            #expect(told.count == size - 1 && !told.contains("o7"))
            #expect(unequal.allSatisfy { !$0.0.isInput || "\($0.0.name)" == "i0" })
            counts.append(steps.count)
        }
        #expect(counts[1] <= counts[0] * 5 / 2, "\(counts)")
    }

    @Test("of several optional inputs the first is told that does not make an output its size")
    func firstInput() throws {
        func symbol(_ name: String) throws -> Dimension { .symbol(try #require(FeatureName(name))) }
        func feature(_ name: String, _ size: String) throws -> Feature {
            try Samples.feature(name, .dimensions([symbol(size)]), optional: name.hasPrefix("i"))
        }
        let shared = SharedShapes(
            MatchedFeatures(
                [try feature("i0", "n"), try feature("i1", "n"), try feature("i2", "n")],
                [try feature("i0", "a"), try feature("i1", "a"), try feature("i2", "b")]
            ),
            MatchedFeatures(
                [try feature("o0", "n"), try feature("o1", "n")],
                [try feature("o0", "a"), try feature("o1", "b")]
            )
        )
        let told = shared.unequalGiven.filter { $0.0.isInput }.map { "\($0.0.name) \($0.1.name)" }
        #expect(told == ["i2 o0", "i0 o1"])
    }
}
