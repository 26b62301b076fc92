import Foundation
import Inference
import Testing

/// Inputs and outputs that the official Python runtime computed, as the fixtures' `expected.json` has them.
struct Vector {
    let inputs: [String: Tensor]
    let outputs: [String: Any]

    static func all(of fixture: String) throws -> [Vector] {
        let data = try Data(contentsOf: URL(fileURLWithPath: fixture + ".expected.json"))
        let document = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let vectors = try #require(document["vectors"] as? [[String: Any]])
        return try vectors.map { vector in
            let inputs = try #require(vector["inputs"] as? [String: [String: Any]])
            return Vector(
                inputs: try inputs.mapValues { try tensor($0) },
                outputs: try #require(vector["outputs"] as? [String: Any])
            )
        }
    }

    private static func tensor(_ value: [String: Any]) throws -> Tensor {
        let shape = try #require(value["shape"] as? [Int])
        let numbers = try #require(value["data"] as? [NSNumber])
        switch value["dtype"] as? String {
        case "float32": return try Tensor(numbers.map(\.floatValue), shape: shape)
        case "uint8": return try Tensor(numbers.map(\.uint8Value), shape: shape)
        case "int64": return try Tensor(numbers.map(\.int64Value), shape: shape)
        default: throw VectorError.unknownType("\(value["dtype"] ?? "none")")
        }
    }

    /// Compares with absolute and relative tolerance 1e-5; texts and integers exactly.
    static func expect(_ found: ModelValue?, matches expected: Any, at place: String) throws {
        switch try #require(found, "\(place) is missing") {
        case .tensor(let tensor):
            let value = try #require(expected as? [String: Any], "\(place) is no tensor")
            let data = try #require(value["data"] as? [Any])
            #expect(tensor.shape == value["shape"] as? [Int], "\(place)")
            #expect(tensor.count == data.count, "\(place)")
            try expect(tensor, matches: data, at: place)
        case .sequence(let elements):
            let values = try #require(expected as? [Any], "\(place) is no sequence")
            #expect(elements.count == values.count, "\(place)")
            for (element, value) in zip(elements, values) { try expect(element, matches: value, at: place) }
        case .map(let keys, let values):
            let expected = try #require(expected as? [String: NSNumber], "\(place) is no map")
            let floats = try values.values(as: Float.self)
            #expect(Set(keys.strings) == Set(expected.keys), "\(place)")
            for (key, value) in zip(keys.strings, floats) {
                expectClose(Double(value), try #require(expected[key]).doubleValue, at: place)
            }
        }
    }

    private static func expect(_ tensor: Tensor, matches data: [Any], at place: String) throws {
        if tensor.element == .string {
            #expect(tensor.strings == data as? [String], "\(place)")
        } else if let numbers = tensor.widened {
            let expected = try #require(data as? [NSNumber], "\(place)")
            for (found, number) in zip(numbers, expected) {
                expectClose(found, number.doubleValue, at: place)
            }
        } else {
            #expect(try tensor.values(as: Int64.self) == (data as? [NSNumber])?.map(\.int64Value), "\(place)")
        }
    }

    private static func expectClose(_ found: Double, _ expected: Double, at place: String) {
        #expect(abs(found - expected) <= 1e-5 + 1e-5 * abs(expected), "\(place)")
    }
}

enum VectorError: Error { case unknownType(String) }
