import Testing

@testable import Inference

@Suite("Tensors")
struct TensorTests {
    @Test("numbers are little-endian, row-major, and come back as they went in")
    func roundTrip() throws {
        let tensor = try Tensor([Int32(1), -2, .max, .min], shape: [2, 2])
        #expect(tensor.element == .int32)
        #expect(Array(tensor.bytes.prefix(8)) == [1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF])
        #expect(try tensor.values(as: Int32.self) == [1, -2, .max, .min])
        #expect(
            try Tensor([Float(1.5), -0.0], shape: [2]).values(as: Float.self).map(\.bitPattern) == [
                0x3FC0_0000, 0x8000_0000,
            ]
        )
        #expect(try Tensor([Double.pi], shape: []).values(as: Double.self) == [.pi])
        #expect(try Tensor([UInt64.max], shape: [1]).values(as: UInt64.self) == [.max])
        #expect(try Tensor([Int8.min], shape: [1]).values(as: Int8.self) == [.min])
        #expect(try Tensor([true, false], shape: [2]).bytes == [1, 0])
    }

    @Test("shape and bytes must agree, and no product overflows")
    func shapes() throws {
        #expect(throws: InferenceError.count(shape: [3], expected: 12, found: 11, unit: "bytes")) {
            try Tensor(element: .float32, shape: [3], bytes: [UInt8](repeating: 0, count: 11))
        }
        #expect(throws: InferenceError.shape([-1])) { try Tensor([Float](), shape: [-1]) }
        #expect(throws: InferenceError.shape([.max, .max])) { try Tensor([Float](), shape: [.max, .max]) }
        #expect(throws: InferenceError.shape([1 << 52, 4])) {
            try Tensor(element: .float64, shape: [1 << 52, 4], bytes: [])
        }
        let deep = [Int](repeating: 1, count: 33)
        #expect(throws: InferenceError.shape(deep)) { try Tensor([Float(0)], shape: deep) }
        #expect(try Tensor([Float](), shape: [0, .max]).count == 0)
        #expect(throws: InferenceError.self) { try Tensor(strings: ["a"], shape: [2]) }
        #expect(throws: InferenceError.self) { try Tensor(element: .string, shape: [1], bytes: [65]) }
    }

    @Test("a tensor is read as what it is and nothing else")
    func elementMustMatch() throws {
        let tensor = try Tensor([Int32(1)], shape: [1])
        #expect(throws: InferenceError.element(expected: "float32", found: .int32)) {
            try tensor.values(as: Float.self)
        }
        #expect(tensor.widened == nil)
    }

    @Test("bools from outside are 0 or 1, whatever byte stood there")
    func bools() throws {
        let tensor = try Tensor(element: .bool, shape: [3], bytes: [0, 7, 255])
        #expect(tensor.bytes == [0, 1, 1])
    }

    @Test("texts are compared byte for byte")
    func texts() throws {
        let composed = try Tensor(strings: ["\u{E9}"], shape: [1])
        let decomposed = try Tensor(strings: ["e\u{301}"], shape: [1])
        #expect(composed != decomposed)
    }

    @Test(
        "binary16 has the values that IEEE 754 says",
        arguments: [
            (0x0000, 0), (0x3C00, 1), (0xC000, -2), (0x7BFF, 65_504), (0x0001, 0x1p-24), (0x0400, 0x1p-14),
            (0x03FF, 0x1.FF8p-15), (0x3555, 0x1.554p-2),
        ] as [(UInt16, Float)]
    )
    func binary16(word: UInt16, value: Float) {
        #expect(HalfPrecision.float(binary16: word) == value)
        #expect(HalfPrecision.binary16.word(Double(value)) == word)
    }

    @Test("every binary16 and bfloat16 comes back from its value")
    func halfRoundTrip() {
        for word in UInt16.min...UInt16.max {
            let half = HalfPrecision.float(binary16: word)
            if !half.isNaN { #expect(HalfPrecision.binary16.word(Double(half)) == word) }
            let brain = HalfPrecision.float(bfloat16: word)
            if !brain.isNaN { #expect(HalfPrecision.bfloat16.word(Double(brain)) == word) }
        }
        #expect(HalfPrecision.float(binary16: HalfPrecision.binary16.word(.nan)).isNaN)
        #expect(HalfPrecision.float(bfloat16: HalfPrecision.bfloat16.word(.nan)).isNaN)
    }

    @Test("halves round to even and overflow to infinity")
    func halfRounding() {
        #expect(HalfPrecision.binary16.word(1 + 0x1p-11) == 0x3C00)
        #expect(HalfPrecision.binary16.word(1 + 3 * 0x1p-11) == 0x3C02)
        #expect(HalfPrecision.binary16.word(65_519) == 0x7BFF)
        #expect(HalfPrecision.binary16.word(65_520) == 0x7C00)
        #expect(HalfPrecision.binary16.word(-.infinity) == 0xFC00)
        #expect(HalfPrecision.binary16.word(0x1p-25) == 0)
        #expect(HalfPrecision.binary16.word(0x1.8p-25) == 1)
        #expect(HalfPrecision.bfloat16.word(1 + 0x1p-8) == 0x3F80)
        #expect(HalfPrecision.bfloat16.word(1 + 3 * 0x1p-8) == 0x3F82)
        #expect(HalfPrecision.bfloat16.word(Double(Float.greatestFiniteMagnitude)) == 0x7F80)
    }
}
