import Manifest
import Names
import Testing

@Suite("Every call of small shapes")
struct ExhaustiveSymbolTests {
    /// The sizes that a call may have; a symbol or `?` may be each of them.
    private static let sizes: [Int64] = [1, 2, 3]

    /// A generator of which the seed is printed with what it led to.
    private struct Dice {
        var state: UInt64

        mutating func next(_ count: Int) -> Int {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return Int(state % UInt64(count))
        }

        mutating func pick<Element>(_ choices: [Element]) -> Element { choices[next(choices.count)] }
    }

    /// One side of a pair: `x0`, `x1` in, `y0`, `y1` out, each dimension as `Side` writes it.
    private struct Calls: CustomStringConvertible {
        var inputs: [[String]]
        var outputs: [[String]]

        var side: Side {
            func named(_ shapes: [[String]], _ letter: String) -> [String] {
                shapes.enumerated().map { "\(letter)\($0): float32[\($1.joined(separator: ","))]" }
            }
            return Side(inputs: named(inputs, "x"), outputs: named(outputs, "y"))
        }

        var description: String { "\(inputs) -> \(outputs)" }
    }

    /// What one dimension may be in a call.
    private static func choices(_ dimension: String) -> [Int64] {
        switch dimension {
        case "1", "2": [Int64(dimension) ?? 0]
        case "1..2", "1|2": [1, 2]
        case "2..3", "2|3": [2, 3]
        default: sizes
        }
    }

    private static func isSymbol(_ dimension: String) -> Bool { dimension.first?.isLetter == true }

    /// Every call of some shapes, with what their symbols are in it.
    private static func calls(
        _ shapes: [[String]],
        _ known: [String: Int64] = [:]
    ) -> [(sizes: [Int64], symbols: [String: Int64])] {
        var found = [(sizes: [Int64](), symbols: known)]
        for dimension in shapes.flatMap(\.self) {
            found = found.flatMap { call in
                choices(dimension).compactMap { size in
                    guard isSymbol(dimension) else { return (call.sizes + [size], call.symbols) }
                    guard call.symbols[dimension, default: size] == size else { return nil }
                    return (call.sizes + [size], call.symbols.merging([dimension: size]) { $1 })
                }
            }
        }
        return found
    }

    /// What symbols are for a call; `nil` when these shapes do not have it.
    private static func taken(
        _ shapes: [[String]],
        _ sizes: [Int64],
        _ known: [String: Int64] = [:]
    ) -> [String: Int64]? {
        var symbols = known
        for (dimension, size) in zip(shapes.flatMap(\.self), sizes) {
            guard choices(dimension).contains(size) else { return nil }
            guard isSymbol(dimension) else { continue }
            guard symbols[dimension, default: size] == size else { return nil }
            symbols[dimension] = size
        }
        return symbols
    }

    /// Whether all that is sent is taken, and all that is then given is read: by trying each.
    private static func fits(_ app: Calls, _ model: Calls) -> Bool {
        calls(app.inputs).allSatisfy { sent in
            guard let symbols = taken(model.inputs, sent.sizes) else { return false }
            return calls(model.outputs, symbols).allSatisfy { given in
                taken(app.outputs, given.sizes, sent.symbols) != nil
            }
        }
    }

    private static func model(_ dice: inout Dice) -> Calls {
        func shapes(_ dice: inout Dice) -> [[String]] {
            (0...dice.next(2)).map { _ in
                (0...dice.next(2)).map { _ in dice.pick(["1", "2", "a", "a", "b", "?"]) }
            }
        }
        return Calls(inputs: shapes(&dice), outputs: shapes(&dice))
    }

    /// Much like a model, so that many pairs fit and many nearly do.
    private static func neighbour(_ model: Calls, _ dice: inout Dice, _ choices: [String]) -> Calls {
        func near(_ dimension: String, _ dice: inout Dice) -> String {
            switch (dimension, dice.next(4)) {
            case (_, 0): dice.pick(choices)
            case ("a", 1), ("b", 1): "p"
            case ("a", _): "p"
            case ("b", _): "q"
            default: dimension
            }
        }
        func near(_ shapes: [[String]], _ dice: inout Dice) -> [[String]] {
            shapes.map { $0.map { near($0, &dice) } }
        }
        return Calls(inputs: near(model.inputs, &dice), outputs: near(model.outputs, &dice))
    }

    @Test("a verdict says what every single call says", arguments: [UInt64(11), 12, 13, 14])
    func verdicts(_ seed: UInt64) throws {
        var dice = Dice(state: seed &* 0x9E37_79B9_7F4A_7C15)
        var fitting = 0
        for number in 0..<250 {
            let model = Self.model(&dice)
            let choices = ["1", "2", "p", "q", "p", "?", "1..2", "2..3", "1|2", "2|3"]
            let app = Self.neighbour(model, &dice, choices)
            let verdict = Compatibility.verdict(try app.side.expectation(), try model.side.interface())
            let fits = Self.fits(app, model)
            // `?` and symbols are any size, of which these calls try only some.
            #expect(verdict.allowsUse == fits, "seed \(seed), \(number): \(app) meets \(model): \(verdict)")
            if fits { fitting += 1 }
        }
        #expect(fitting > 25, "too few pairs fit for this to say much")
    }

    @Test("what an app of the model before cannot use is a major step", arguments: [UInt64(21), 22, 23, 24])
    func steps(_ seed: UInt64) throws {
        var dice = Dice(state: seed &* 0x9E37_79B9_7F4A_7C15)
        var harmless = 0
        for number in 0..<250 {
            let new = Self.model(&dice)
            let old = Self.neighbour(new, &dice, ["1", "2", "p", "q", "?"])
            let changes = ContractChanges(from: try old.side.interface(), to: try new.side.interface())
            let said = "seed \(seed), \(number): \(old) became \(new): \(changes.changes)"
            if Self.fits(old, new) {
                harmless += 1
                // The table calls these great also for apps that live with them.
                let rows: [ContractRow] = [.sizeFixed, .symbolsMerged]
                let isOfTable = changes.decisive.allSatisfy { rows.contains($0.row) }
                #expect(changes.step < .major || isOfTable, "\(said)")
            } else {
                #expect(changes.step == .major, "\(said)")
            }
            let types = Set((try old.side.interface().types + new.side.interface().types).map(\.description))
            for change in changes.changes {
                let words = change.text.split(separator: ": ").last.map(String.init) ?? ""
                guard words.hasPrefix("float32") else { continue }
                let shown = words.split(separator: " became ").map(String.init)
                #expect(shown.allSatisfy(types.contains), "\(said)")
            }
        }
        #expect(harmless > 25, "too few pairs fit for this to say much")
    }
}

extension Interface {
    fileprivate var types: [ValueType] { (inputs + outputs).map(\.type) }
}
