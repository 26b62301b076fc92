import CanonicalJSON
import Manifest
import Names
import Testing

@Suite("Interface in normal form")
struct InterfaceTests {
    /// One of everything.
    static func everything() throws -> Interface {
        func named(_ name: String, _ type: ValueType, optional: Bool = false) throws -> Feature {
            Feature(name: try #require(FeatureName(name)), type: type, isOptional: optional)
        }
        let symbol = Dimension.symbol(try #require(FeatureName("n")))
        let range = Dimension.range(minimum: 1, maximum: nil)
        var tensor = TensorType(element: .int8, shape: .dimensions([symbol, .any, range, .oneOf([1, 4])]))
        tensor.defaultShape = [1, 1, 1, 1]
        tensor.quantization = Quantization(scale: "0.10196", zero: -128)
        let scalars = TensorType(element: .float32, shape: .dimensions([]))
        let sizes = ImageSizes.ranges(width: .range(minimum: 32, maximum: 1_024), height: .any)
        let pairs = ImageSizes.enumerated([
            ImageSize(width: 224, height: 224), ImageSize(width: 320, height: 240),
        ])
        var interface = Interface(
            inputs: [
                try named("tensor", .tensor(tensor)),
                try named(
                    "any rank",
                    .tensor(TensorType(element: .float16, shape: .unknownRank)),
                    optional: true
                ),
                try named(
                    "shapes",
                    .tensor(TensorType(element: .int32, shape: .enumerated([[1, 128], [1, 256]])))
                ),
                try named("photo", .image(ImageType(color: .rgb, width: 224, height: 224, sizes: pairs))),
                try named("mask", .image(ImageType(color: .grayscale, width: 64, height: 48, sizes: sizes))),
                try named("plain", .image(ImageType(color: .bgr, width: 1, height: 1))),
                try named("words", .sequence(of: .scalar(.string), count: range)),
                try named("count", .scalar(.int64)),
                try named("sparse", .sparseTensor(scalars)),
            ],
            outputs: [
                try named("probs", .sequence(of: .map(key: .string, of: .tensor(scalars)), count: .any)),
                try named("maybe", .maybe(.scalar(.bool))),
                try named("opaque", .opaque(domain: "d", name: "t")),
            ],
            labels: .integers([3, 1]),
            isDeclared: true
        )
        interface.inputs[1].defaultValue = "0.5"
        interface.states = [try named("cache", .tensor(scalars))]
        let function = FunctionInterface(
            name: try #require(FeatureName("batch4")),
            inputs: [],
            outputs: [],
            states: interface.states,
            labels: .texts(["b", "a"].map { JSONText($0) })
        )
        interface.functions = [function]
        interface.defaultFunction = FeatureName("single")
        interface.tokenizers = [
            TokenizerDigest(name: try #require(FeatureName("vocab")), sha256: try Samples.digest(1))
        ]
        interface.tensors = TensorTable(count: 3, sha256: try Samples.digest(2))
        interface.network = NetworkFacts(architecture: FeatureName("llama"))
        for (_, fact) in NetworkFacts.numbers { interface.network?[keyPath: fact] = 7 }
        interface.preprocessing = .members(["mean": .text("0.5")])
        interface.postprocessing = .members(["softmax": .bool(true)])
        return interface
    }

    @Test("one of everything is read back, and written the same")
    func roundTrip() throws {
        let interface = try Self.everything()
        let read = try Interface(json: interface.json)
        #expect(read == interface)
        #expect(read.canonical == interface.canonical)
        #expect(interface.json.rfc8785 == interface.canonical)
    }

    static let broken = [
        Broken("a kind that is unknown", ["inputs", 0, "kind"], .text("matrix"), named: "inputs[0].kind"),
        Broken(
            "an element that is unknown",
            ["inputs", 0, "element"],
            .text("float"),
            named: "inputs[0].element"
        ),
        Broken("no shape", ["inputs", 1, "shape"], nil, named: "inputs[1].shape"),
        Broken(
            "a dimension that is negative",
            ["inputs", 0, "shape", 0],
            .members(["fixed": .integer(-1)]),
            named: "inputs[0].shape[0].fixed"
        ),
        Broken(
            "a dimension of two kinds",
            ["inputs", 0, "shape", 0, "fixed"],
            .integer(1),
            named: "inputs[0].shape[0].symbol"
        ),
        Broken(
            "a dimension that is not any",
            ["inputs", 0, "shape", 1, "any"],
            .bool(false),
            named: "inputs[0].shape[1].any"
        ),
        Broken(
            "a range that ends before it begins",
            ["inputs", 0, "shape", 2, "range", "max"],
            .integer(0),
            named: "inputs[0].shape[2].range.max"
        ),
        Broken(
            "choices that do not ascend",
            ["inputs", 0, "shape", 3, "one_of", 0],
            .integer(9),
            named: "inputs[0].shape[3].one_of"
        ),
        Broken(
            "shapes of two ranks",
            ["inputs", 2, "enumerated_shapes", 1],
            .array([]),
            named: "inputs[2].enumerated_shapes[1]"
        ),
        Broken("a name twice", ["inputs", 1, "name"], .text("tensor"), named: "inputs[1].name"),
        Broken("a name that is empty", ["inputs", 1, "name"], .text(""), named: "inputs[1].name"),
        Broken(
            "no word on whether it is optional",
            ["inputs", 1, "optional"],
            nil,
            named: "inputs[1].optional"
        ),
        Broken("a colour that is unknown", ["inputs", 3, "color"], .text("CMYK"), named: "inputs[3].color"),
        Broken(
            "a size of three",
            ["inputs", 3, "enumerated_sizes", 0],
            .array([.integer(1)]),
            named: "inputs[3].enumerated_sizes[0]"
        ),
        Broken("labels of two kinds", ["labels", 0], .text("a"), named: "labels[1]"),
        Broken("no labels, written", ["labels"], .array([]), named: "labels"),
        Broken("a function twice", ["functions"], twice, named: "functions[1].name"),
        Broken("an unknown member", ["inputs", 0, "docs"], .text("x"), named: "inputs[0].docs"),
    ]

    static let function = JSONValue.members(["inputs": .array([]), "name": .text("f"), "outputs": .array([])])
    static let twice = JSONValue.array([function, function])

    @Test("each rule that is broken is refused, by the member's name", arguments: broken)
    func rules(_ example: Broken) throws {
        let json = try Self.everything().json.with(example.path, example.value)
        let error = #expect(throws: ManifestError.self) { try Interface(json: json) }
        #expect(error?.member == example.named, "\(String(describing: error))")
    }

    @Test("types nest 16 deep and no deeper")
    func nesting() throws {
        func nested(_ depth: Int) throws -> Interface {
            let type = (1..<depth).reduce(ValueType.scalar(.bool)) { inner, _ in
                .sequence(of: inner, count: .any)
            }
            return Interface(inputs: [Feature(name: try #require(FeatureName("x")), type: type)], outputs: [])
        }
        #expect(try Interface(json: nested(16).json) == nested(16))
        #expect(throws: ManifestError.self) { try Interface(json: nested(17).json) }
    }

    @Test("names are compared byte for byte, and look-alikes do not stand together")
    func names() throws {
        let composed = try #require(FeatureName("\u{E9}"))
        let decomposed = try #require(FeatureName("e\u{301}"))
        #expect(composed != decomposed)
        let type = ValueType.scalar(.bool)
        let both = Interface(
            inputs: [Feature(name: composed, type: type), Feature(name: decomposed, type: type)],
            outputs: []
        )
        #expect(throws: ManifestError.self) { try Interface(json: both.json) }
        // The Kelvin sign is the letter in NFC, so that ASCII alone is no proof of being one of a kind.
        let letters = try ["K", "\u{212A}"].map { try #require(FeatureName($0)) }
        let kelvin = letters.map { Feature(name: $0, type: type) }
        #expect(throws: ManifestError.self) {
            try Interface(json: Interface(inputs: kelvin, outputs: []).json)
        }
        #expect(
            FeatureName("a\u{7F}") == nil && FeatureName("a\u{1F}") == nil && FeatureName("a\u{85}") == nil
        )
        #expect(FeatureName(" ~") != nil)
    }

    @Test("a symbol that could be taken for sizes is shown in quotation marks")
    func symbolTexts() throws {
        let texts = [
            ("batch", "batch"), ("seq_len", "seq_len"), ("größe", "größe"), ("_0", "_0"), ("n1.x", "n1.x"),
            ("4", #""4""#), ("?", #""?""#), ("1, 4", #""1, 4""#), ("4n", #""4n""#), ("a+1", #""a+1""#),
        ]
        for (name, shown) in texts {
            let symbol = Dimension.symbol(try #require(FeatureName(name)))
            #expect(Shape.dimensions([symbol, .fixed(2)]).description == "[\(shown), 2]")
        }
    }

    @Test("labels that one side does not say are no contradiction, other ones are, in each function")
    func labelsOfFunctions() throws {
        let real = try Self.everything()
        var signed = real
        signed.functions[0].labels = nil
        #expect(signed.hasFunctions(of: real) && signed.hasLabels(of: real))
        signed.labels = nil
        #expect(signed.hasLabels(of: real) && real.hasLabels(of: signed))
        signed.functions[0].labels = .integers([7])
        #expect(signed.hasFunctions(of: real) && !signed.hasLabels(of: real))
        #expect(
            signed.disagreements(withExtracted: real) == ["the class labels differ from those in the file"]
        )
        signed = real
        signed.labels = .integers([1, 3])
        #expect(!signed.hasLabels(of: real))
        signed.functions[0].outputs = signed.states
        #expect(!signed.hasFunctions(of: real))
    }

    @Test("what is declared otherwise than extracted is named")
    func disagreements() throws {
        let extracted = try Samples.interface()
        var declared = extracted
        declared.preprocessing = .members(["mean": .text("0")])
        declared.labels = .integers([1])
        #expect(declared.disagreements(withExtracted: extracted).isEmpty)
        declared.outputs[0] = try Samples.feature("y", .fixed([1, 214]))
        declared.inputs.append(try Samples.feature("z", .fixed([1])))
        #expect(
            declared.disagreements(withExtracted: extracted) == [
                "input `z` is declared, but the file has none of that name",
                "output `y` is declared as float32[1, 214], but the file has float32[batch, 214]",
            ]
        )
    }
}
