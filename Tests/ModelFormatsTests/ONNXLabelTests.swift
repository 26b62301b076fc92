import CanonicalJSON
import Manifest
import ModelFormats
import Names
import Testing

/// Graphs as skl2onnx 1.20 writes them, without their weights.
@Suite("ONNX: class labels are those that an output has")
struct ONNXLabelTests {
    private static func classifier(
        _ outputs: [String],
        _ labels: String...,
        operation: String = "LinearClassifier"
    ) -> Wire {
        let attribute = ONNX.attribute(
            "classlabels_strings",
            Wire.raw(labels.flatMap { Wire.text(9, $0).bytes })
        )
        return ml(operation, ["x"], outputs, [attribute])
    }

    private static func classifier(_ outputs: [String], numbers: Int64...) -> Wire {
        let packed = Wire.raw(numbers.flatMap { Wire.number(8, $0).bytes })
        return ml("LinearClassifier", ["x"], outputs, [ONNX.attribute("classlabels_ints", packed)])
    }

    private static func zipMap(_ input: String, _ output: String, _ labels: String...) -> Wire {
        let texts = Wire.raw(labels.flatMap { Wire.text(9, $0).bytes })
        return ml("ZipMap", [input], [output], [ONNX.attribute("classlabels_strings", texts)])
    }

    private static func ml(
        _ operation: String,
        _ inputs: [String],
        _ outputs: [String],
        _ attributes: [Wire] = []
    ) -> Wire {
        ONNX.node(operation, inputs, outputs, domain: "ai.onnx.ml", attributes: attributes)
    }

    /// A constant of texts.
    private static func list(_ name: String, _ texts: String..., dimensions: [Int64]? = nil) -> Wire {
        let sizes = (dimensions ?? [Int64(texts.count)]).map { Wire.number(1, $0) }
        return .message(5, sizes + [.number(2, 8), .text(8, name)] + texts.map { .text(6, $0) })
    }

    /// What chooses `label` out of the constant `classes` by the greatest of `of`.
    private static func choice(of scores: String) -> [Wire] {
        [
            ONNX.node("ArgMax", [scores], ["greatest"]),
            ml("ArrayFeatureExtractor", ["classes", "greatest"], ["chosen"]),
            ONNX.node("Reshape", ["chosen", "flat"], ["label"]), .message(5, ONNX.tensor("flat")),
        ]
    }

    private static let textLabel = ONNX.output("label", ONNX.tensorType(element: 8, dimensions: [Wire()]))
    private static let numberLabel = ONNX.output("label", ONNX.tensorType(element: 7, dimensions: [Wire()]))

    private static func scores(_ columns: Int64) -> Wire {
        ONNX.output("probabilities", ONNX.tensorType(dimensions: [Wire(), .number(1, columns)]))
    }

    /// A sequence of maps of texts, or of `int64`, to `float32`.
    private static func answers(_ name: String = "answers", key: Int64 = 8) -> Wire {
        let map = Wire.message(5, .number(1, key), .message(2, ONNX.tensorType(dimensions: [])))
        return ONNX.output(name, .message(4, .message(1, map)))
    }

    private func read(
        _ graph: [Wire],
        _ extra: Wire...,
        limits: FormatLimits = FormatLimits()
    ) throws -> Inspection {
        try inspect(ONNX.model(graph: [ONNX.input("x")] + graph, extra: extra), limits: limits)
    }

    @Test("a classifier whose label and scores are outputs, by way of what leaves them as they are")
    func direct() throws {
        let found = try read([
            Self.classifier(["l", "s"], "a", "b", "c"), ONNX.node("Identity", ["l"], ["label"]),
            Self.ml("Normalizer", ["s"], ["n"]), ONNX.node("Cast", ["n"], ["probabilities"]), Self.textLabel,
            Self.scores(3),
        ])
        #expect(found.interface.labels == texts("a", "b", "c"))
        #expect(found.notes.isEmpty)
        let scoresAlone = [
            Self.classifier(["", "s"], "a", "b"), Self.ml("Normalizer", ["s"], ["n"]),
            ONNX.node("Softmax", ["n"], ["probabilities"]), Self.scores(2),
        ]
        #expect(try read(scoresAlone).interface.labels == texts("a", "b"))
        // What nothing is known of ends the way.
        let added = [
            Self.classifier(["", "s"], "a", "b"), ONNX.node("Add", ["s", "s"], ["probabilities"]),
            Self.scores(2),
        ]
        #expect(try read(added).interface.labels == nil)
    }

    @Test("the ZipMap that makes an output says the labels, whatever classifiers are inside")
    func zipMap() throws {
        let found = try read([
            Self.classifier(["l0", "s0"], numbers: 0, 1), Self.classifier(["l1", "s1"], numbers: 0, 1),
            ONNX.node("Concat", ["s0", "s1"], ["all"]), Self.zipMap("all", "zipped", "a", "b"),
            ONNX.node("Identity", ["zipped"], ["answers"]), Self.answers(),
        ])
        #expect(found.interface.labels == texts("a", "b"))
        #expect(found.notes.isEmpty)
        let inside = [Self.zipMap("x", "z", "p", "q"), Self.zipMap("x", "answers", "a", "b"), Self.answers()]
        #expect(try read(inside).interface.labels == texts("a", "b"))
    }

    private static func oneVersusRest(_ constant: Wire, label: Wire = textLabel) -> [Wire] {
        let inner = [
            classifier(["l0", "s0"], numbers: 0, 1), classifier(["l1", "s1"], numbers: 0, 1),
            ONNX.node("Concat", ["s0", "s1"], ["all"]),
            ONNX.node("LpNormalization", ["all"], ["probabilities"]),
        ]
        return inner + choice(of: "all") + [constant, label, scores(3)]
    }

    @Test("labels chosen out of a constant are the outputs', and another constant is another contract")
    func chosen() throws {
        let old = try read(Self.oneVersusRest(Self.list("classes", "a", "b", "c")))
        #expect(old.interface.labels == texts("a", "b", "c"))
        #expect(old.notes.isEmpty)
        let new = try read(Self.oneVersusRest(Self.list("classes", "p", "q", "r"))).interface
        let verdict = Compatibility.verdict(.satisfied(by: old.interface), new)
        #expect(verdict.findings.map(\.row) == [.labelGone], "\(verdict)")
        #expect(ContractChanges(from: old.interface, to: new).step == .major)
        let row = Self.list("classes", "a", "b", "c", dimensions: [1, 3])
        #expect(try read(Self.oneVersusRest(row)).interface.labels == texts("a", "b", "c"))
    }

    @Test("a constant of numbers is read in each of its forms", arguments: [7, 9] as [UInt64])
    func numbers(_ form: UInt64) throws {
        let values: Wire =
            form == 7
            ? Wire(.number(7, 5), .number(7, -1))
            : .payload(9, [5] + Array(repeating: 0, count: 7) + Array(repeating: 255, count: 8))
        let constant = Wire.message(5, .number(1, 2), .number(2, 7), .text(8, "classes"), values)
        let found = try read(Self.oneVersusRest(constant, label: Self.numberLabel))
        #expect(found.interface.labels == .integers([5, -1]))
        let mixed = try read(Self.oneVersusRest(constant))
        #expect(mixed.interface.labels == nil)
        #expect(
            mixed.notes.first?.contains("output `label` is string[?], and has 2 numbers") == true,
            "\(mixed.notes)"
        )
    }

    static let uncertain: KeyValuePairs<String, [Wire]> = [
        "no text is twice": [list("classes", "a", "b", "a")],
        "one dimension": [list("classes", "a", "b", "c", "d", dimensions: [2, 2])],
        "no one may override it": [
            list("classes", "a", "b"), ONNX.input("classes", ONNX.tensorType(element: 8)),
        ],
        "made by a node": [ONNX.node("Identity", ["names"], ["classes"]), list("names", "a", "b")],
    ]

    @Test("a list is a constant of distinct elements", arguments: uncertain.indices.map { $0 })
    func notLists(_ index: Int) throws {
        let (why, constant) = Self.uncertain[index]
        let found = try read(constant + Self.oneVersusRest(Wire()))
        #expect(found.interface.labels == nil, "\(why)")
        #expect(found.notes.first?.contains("which classes the outputs have is not certain") == true)
    }

    @Test("a list that is chosen from by anything but the place of the greatest says nothing")
    func otherChoice() throws {
        // With one beside it, so that what follows from classifiers is looked at.
        let found = try read([
            Self.classifier(["l", "s"], "p", "q"),
            Self.ml("ArrayFeatureExtractor", ["classes", "flat"], ["label"]),
            .message(5, ONNX.tensor("flat")),
            Self.list("classes", "a", "b"), Self.textLabel,
        ])
        #expect(found.interface.labels == nil && found.notes.count == 1)
    }

    @Test("a last step that knows classes by their places has the labels that are chosen by them")
    func stacked() throws {
        func labels(_ constant: Wire) throws -> ClassLabels? {
            let last = [
                Self.classifier(["", "s"], numbers: 0, 1, 2), ONNX.node("Identity", ["s"], ["probabilities"]),
            ]
            let found = try read(last + Self.choice(of: "s") + [constant, Self.textLabel, Self.scores(3)])
            #expect(found.notes.isEmpty == (found.interface.labels != nil))
            return found.interface.labels
        }
        #expect(try labels(Self.list("classes", "a", "b", "c")) == texts("a", "b", "c"))
        #expect(try labels(Self.list("classes", "a", "b")) == nil)
    }

    @Test("two outputs of different labels have none in common, and that is told")
    func heads() throws {
        func heads(_ second: Wire) throws -> Inspection {
            let other = ONNX.output("other", ONNX.tensorType(element: 8, dimensions: [Wire()]))
            return try read([Self.classifier(["label", ""], "a", "b"), second, Self.textLabel, other])
        }
        let two = try heads(Self.classifier(["other", ""], "p", "q"))
        #expect(two.interface.labels == nil)
        #expect(
            two.notes == [
                "class labels are not taken: outputs `label` and `other` have different ones; say in the card, `labels`, "
                    + "by which an app goes"
            ]
        )
        let same = try heads(Self.classifier(["other", ""], "a", "b"))
        #expect(same.interface.labels == texts("a", "b") && same.notes.isEmpty)
    }

    @Test("classifiers that only lead to others say nothing, and that is told")
    func inner() throws {
        let vote = [
            Self.classifier(["l0", "s0"], "a", "b"), ONNX.node("ReduceMean", ["s0"], ["probabilities"]),
            Self.scores(2),
        ]
        let found = try read(vote)
        #expect(found.interface.labels == nil)
        #expect(
            found.notes.first?.hasPrefix("class labels are not taken: there are classifiers inside") == true
        )
        #expect(found.notes.first?.hasSuffix("say them in the card, `labels`") == true)
        let property = Wire.message(14, .text(1, "class_labels"), .text(2, #"["p","q"]"#))
        let told = try read(vote, property)
        #expect(told.interface.labels == texts("p", "q") && told.notes.isEmpty)
    }

    @Test("labels are of the kind of the output, and as many as it has columns")
    func fits() throws {
        let columns = try read([Self.classifier(["", "probabilities"], "a", "b"), Self.scores(3)])
        #expect(columns.interface.labels == nil)
        #expect(
            columns.notes.first?.contains("output `probabilities` is float32[?, 3], and has 2 texts") == true,
            "\(columns.notes)"
        )
        let one = try read([Self.classifier(["label", ""], numbers: 7), Self.textLabel])
        #expect(one.notes.first?.contains("output `label` is string[?], and has 1 number;") == true)
        let keys = try read([Self.zipMap("x", "answers", "a", "b"), Self.answers(key: 7)])
        #expect(keys.interface.labels == nil && keys.notes.count == 1)
        // Scores by number beside a text of which nothing is known.
        let beside = [
            Self.classifier(["", "probabilities"], numbers: 0, 1), Self.scores(2),
            ONNX.node("StringNormalizer", ["x"], ["label"]), Self.textLabel,
        ]
        let numbers = try read(beside)
        #expect(numbers.interface.labels == nil)
        let said = "output `probabilities` has numbers, and output `label` is string[?]"
        #expect(numbers.notes.first?.contains(said) == true, "\(numbers.notes)")
        // As many decisions as there are pairs of four classes, beside their labels.
        let pairs = [
            Self.classifier(["label", "probabilities"], "a", "b", "c", "d"), Self.textLabel, Self.scores(6),
        ]
        #expect(try read(pairs).interface.labels == texts("a", "b", "c", "d"))
    }

    @Test("integer labels are read packed and unpacked; a classifier that names a class twice is refused")
    func attributes() throws {
        func labels(_ attributes: Wire..., domain: String = "ai.onnx.ml") throws -> ClassLabels? {
            let node = ONNX.node("ZipMap", ["x"], ["answers"], domain: domain, attributes: attributes)
            return try read([node, Self.answers(key: 7)]).interface.labels
        }
        let packed = ONNX.attribute("classlabels_int64s", .payload(8, [7, 0xAC, 0x02]))
        let unpacked = ONNX.attribute("classlabels_int64s", .number(8, 7), .number(8, 300))
        #expect(try labels(packed) == .integers([7, 300]))
        #expect(try labels(unpacked) == .integers([7, 300]))
        #expect(try labels(packed, unpacked) == .integers([7, 300]))
        #expect(try labels(packed, ONNX.attribute("classlabels_strings")) == .integers([7, 300]))
        #expect(try labels(packed, ONNX.attribute("classlabels_ints", .number(8, 1))) == nil)
        #expect(try labels(packed, domain: "") == nil)
        #expect(try labels(.message(5, .number(8, 7), .text(1, "classlabels_int64s"))) == .integers([7]))
        let twice = ONNX.attribute("classlabels_strings", .text(9, "a"), .text(9, "a"))
        let error = #expect(throws: FormatError.self) { try labels(twice) }
        #expect(error.map { "\($0)" }?.contains("classlabels at byte") == true)
    }

    @Test("a classifier in a graph inside, or in a function, is no output's")
    func nested() throws {
        let body = Wire.message(6, Self.classifier(["label", "s"], "a", "b"))
        let graph = [ONNX.node("If", ["x"], ["label"], attributes: [ONNX.attribute("then_branch", body)])]
        let found = try read(graph + [Self.textLabel])
        #expect(found.interface.labels == nil && found.notes.count == 1)
    }

    @Test("values that tell classes are followed up to the limit, and then nothing is certain")
    func limit() throws {
        var limits = FormatLimits()
        let chain =
            [Self.classifier(["0", ""], "a", "b")]
            + (0..<9).map { ONNX.node("Identity", ["\($0)"], ["\($0 + 1)"]) }
            + [ONNX.node("Identity", ["9"], ["label"]), Self.textLabel]
        #expect(try read(chain, limits: limits).interface.labels == texts("a", "b"))
        limits.labelledValues = 10
        let found = try read(chain, limits: limits)
        #expect(found.interface.labels == nil && found.notes.count == 1)
    }
}
