import CanonicalJSON
import Inference
import Manifest
import ModelFormats
import Names

extension FuzzTarget {
    static let checks = [
        FuzzTarget("checks") { bytes in
            let open = Port.Kind.tensor(.float32, [.any, .fixed(2)])
            let ports = ModelPorts(
                inputs: [
                    Port(name: "x", kind: open), Port(name: "n", kind: .tensor(.int64, .unknownRank)),
                ],
                outputs: [Port(name: "y", kind: open)]
            )
            for check in try CheckDocument.checks(bytes, for: ports, named: "checks")
            where (try? check.check(against: ports)) != nil {
                let value = check.canonical { tensor in
                    JSONValue.members(["base64": .text(Base64.text(tensor.bytes))])
                }
                let inputs = try must("what was written is read again") {
                    try GoldenVector.inputs(of: value, ports: ports) { _ in nil }
                }
                for (name, tensor) in check.inputs {
                    try hold(inputs[name]?.bytes == tensor.bytes, "the elements of an input stay")
                }
                guard !check.outputs.isEmpty else { continue }
                let vector = try must("a check with outputs is a golden vector") {
                    try GoldenVector(value, ports: ports) { _ in nil }
                }
                let found = check.outputs.mapValues { ModelValue.tensor($0) }
                try hold(vector.disagreements(with: found).isEmpty, "what is expected is what is expected")
            }
        },
        FuzzTarget("tensor") { bytes in
            let tensor = try ONNXTensorFile(MemorySource(bytes))
            var count: UInt64 = 1
            for length in tensor.dimensions { count *= UInt64(length) }
            let width = UInt64(tensor.element.byteWidth ?? 0)
            try hold(UInt64(tensor.bytes.count) == count * width, "a tensor has the bytes of its shape")
        },
        FuzzTarget("check-answer") { bytes in
            let value = try JSONParser.parse(bytes, maximumLength: bytes.count)
            let answer = try CheckAnswer(json: value)
            let again = try must("what an answer writes is one") {
                try CheckAnswer(canonical: answer.canonical)
            }
            try hold(again == answer, "what an answer writes says the same")
        },
    ]
}
