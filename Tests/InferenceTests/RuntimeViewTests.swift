import Inference
import Manifest
import Testing

@Suite("What a runtime sees against what is declared")
struct RuntimeViewTests {
    private func ports(input: Port.Kind, output: Port.Kind = .tensor(.float32, [.any])) -> ModelPorts {
        ModelPorts(inputs: [Port(name: "x", kind: input)], outputs: [Port(name: "y", kind: output)])
    }

    @Test(
        "an input that the runtime takes is no contradiction",
        arguments: [
            (.tensor(.float32, [.fixed(3)]), .tensor(.float32, [.fixed(3)])),
            (.tensor(.float32, [.symbol("n")]), .tensor(.float32, [.symbol("made_up")])),
            (.tensor(.float32, [.range(1, 4)]), .tensor(.float32, [.any])),
            (.tensor(.float32, [.oneOf([1, 4])]), .tensor(.float32, [.any])),
            (.tensor(.float32, [.fixed(3)]), .tensor(.float32, [.any])),
            // A tensor of unknown rank looks like a single element.
            (.tensor(.float32, .unknownRank), .tensor(.float32, [])),
            (.tensor(.float32, [.fixed(3)]), .tensor(.float32, [])),
            (.tensor(.float32, .oneOf([[1, 3], [2, 3]])), .tensor(.float32, [.any, .fixed(3)])),
            (.other("sequence"), .other("a sequence")),
        ] as [(Port.Kind, Port.Kind)]
    )
    func accepted(declared: Port.Kind, real: Port.Kind) {
        #expect(ports(input: declared).disagreements(withRuntime: ports(input: real)).isEmpty)
    }

    @Test(
        "an input that the runtime would not take is a contradiction",
        arguments: [
            (.tensor(.float32, [.fixed(3)]), .tensor(.float64, [.fixed(3)])),
            (.tensor(.float32, [.fixed(3)]), .tensor(.float32, [.fixed(4)])),
            (.tensor(.float32, [.symbol("n")]), .tensor(.float32, [.fixed(1)])),
            (.tensor(.float32, [.range(1, 4)]), .tensor(.float32, [.fixed(2)])),
            (.tensor(.float32, [.fixed(3)]), .tensor(.float32, [.fixed(1), .fixed(3)])),
            (.tensor(.float32, .unknownRank), .tensor(.float32, [.any])),
            (.tensor(.float32, .oneOf([[1, 3], [2, 4]])), .tensor(.float32, [.any, .fixed(3)])),
            (.tensor(.float32, [.fixed(3)]), .other("a sequence")),
        ] as [(Port.Kind, Port.Kind)]
    )
    func refused(declared: Port.Kind, real: Port.Kind) {
        #expect(ports(input: declared).disagreements(withRuntime: ports(input: real)).count == 1)
    }

    @Test(
        "an output may be more exact than declared, not less than fixed",
        arguments: [
            (.tensor(.float32, [.symbol("n")]), .tensor(.float32, [.fixed(1)]), true),
            (.tensor(.float32, [.range(1, 4)]), .tensor(.float32, [.fixed(4)]), true),
            (.tensor(.float32, [.range(1, 4)]), .tensor(.float32, [.fixed(5)]), false),
            (.tensor(.float32, [.fixed(3)]), .tensor(.float32, [.any]), false),
            (.tensor(.float32, [.fixed(3)]), .tensor(.float32, [.fixed(3)]), true),
            (.tensor(.int64, [.fixed(3)]), .tensor(.float32, [.fixed(3)]), false),
        ] as [(Port.Kind, Port.Kind, Bool)]
    )
    func outputs(declared: Port.Kind, real: Port.Kind, fits: Bool) {
        let any = Port.Kind.tensor(.float32, [.any])
        let found = ports(input: any, output: declared)
            .disagreements(withRuntime: ports(input: any, output: real))
        #expect(found.isEmpty == fits)
    }

    @Test("names and optional inputs are compared both ways")
    func names() {
        let kind = Port.Kind.tensor(.float32, [.any])
        let declared = ModelPorts(
            inputs: [Port(name: "x", kind: kind), Port(name: "o", kind: kind, isOptional: true)],
            outputs: [Port(name: "y", kind: kind)]
        )
        let other = ModelPorts(
            inputs: [Port(name: "z", kind: kind), Port(name: "o", kind: kind)],
            outputs: [Port(name: "y", kind: kind), Port(name: "extra", kind: kind)]
        )
        #expect(
            declared.disagreements(withRuntime: other) == [
                "the runtime demands an input 'z' that is not declared", "the runtime has no input 'x'",
                "the runtime demands the input 'o', which is declared as optional",
            ]
        )
        let fewer = ModelPorts(inputs: [Port(name: "x", kind: kind)], outputs: [])
        #expect(declared.disagreements(withRuntime: fewer) == ["the runtime has no output 'y'"])
    }

    @Test("a signed interface becomes ports")
    func declared() throws {
        let name = try #require(FeatureName("x"))
        let batch = try #require(FeatureName("batch"))
        let interface = Interface(
            inputs: [
                Feature(
                    name: name,
                    type: .tensor(
                        TensorType(
                            element: .float32,
                            shape: .dimensions([
                                .symbol(batch), .fixed(3), .any, .range(minimum: 1, maximum: nil),
                                .oneOf([2, 4]),
                            ])
                        )
                    ),
                    isOptional: true
                )
            ],
            outputs: [
                Feature(
                    name: name,
                    type: .sequence(of: .map(key: .string, of: .scalar(.float32)), count: .any)
                ),
                Feature(name: batch, type: .tensor(TensorType(element: .int4, shape: .unknownRank))),
            ]
        )
        let ports = ModelPorts(interface)
        let shape: PortShape = [.symbol("batch"), .fixed(3), .any, .range(1, nil), .oneOf([2, 4])]
        #expect(ports.inputs == [Port(name: "x", kind: .tensor(.float32, shape), isOptional: true)])
        #expect(
            ports.outputs.map(\.kind) == [.other("sequence of map of string to float32"), .other("int4[…]")]
        )
    }
}
