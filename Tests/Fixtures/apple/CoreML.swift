// swift-format-ignore-file
// What Sealift uses of Core ML, and of Dispatch where Linux's lacks it.
import Dispatch
@_exported import Foundation

public enum MLComputeUnits: Int, Sendable { case cpuOnly, cpuAndGPU, all, cpuAndNeuralEngine }

public class MLModelConfiguration: NSObject {
    public var computeUnits: MLComputeUnits = .all
    public override init() { super.init() }
}

public enum MLMultiArrayDataType: Int, Sendable { case double, float32, float16, int32 }

public class MLMultiArray: NSObject {
    public init(shape: [NSNumber], dataType: MLMultiArrayDataType) throws { throw Stub() }
    public var dataType: MLMultiArrayDataType { .double }
    public var shape: [NSNumber] { [] }
    public var strides: [NSNumber] { [] }
    public var count: Int { 0 }
    public func withUnsafeMutableBytes<R>(_ body: (UnsafeMutableRawBufferPointer, [Int]) throws -> R) rethrows -> R {
        try body(UnsafeMutableRawBufferPointer(start: nil, count: 0), [])
    }
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try body(UnsafeRawBufferPointer(start: nil, count: 0))
    }
}

public enum MLFeatureType: Int, Sendable { case invalid, int64, double, string, image, multiArray, dictionary, sequence, state }

public class MLFeatureValue: NSObject {
    public init(multiArray: MLMultiArray) {}
    public var type: MLFeatureType { .invalid }
    public var multiArrayValue: MLMultiArray? { nil }
    public var int64Value: Int64 { 0 }
    public var doubleValue: Double { 0 }
    public var stringValue: String { "" }
}

public protocol MLFeatureProvider {
    var featureNames: Set<String> { get }
    func featureValue(for name: String) -> MLFeatureValue?
}

public class MLDictionaryFeatureProvider: NSObject, MLFeatureProvider {
    public init(dictionary: [String: Any]) throws { throw Stub() }
    public var featureNames: Set<String> { [] }
    public func featureValue(for name: String) -> MLFeatureValue? { nil }
}

public class MLMultiArrayConstraint: NSObject {
    public var dataType: MLMultiArrayDataType { .double }
    public var shape: [NSNumber] { [] }
    public var shapeConstraint: MLMultiArrayShapeConstraint { MLMultiArrayShapeConstraint() }
}

public enum MLMultiArrayShapeConstraintType: Int, Sendable { case unspecified = 1, enumerated, range }

public class MLMultiArrayShapeConstraint: NSObject {
    public var type: MLMultiArrayShapeConstraintType { .unspecified }
    public var sizeRangeForDimension: [NSValue] { [] }
    public var enumeratedShapes: [[NSNumber]] { [] }
}

public class MLFeatureDescription: NSObject {
    public var name: String { "" }
    public var type: MLFeatureType { .invalid }
    public var isOptional: Bool { false }
    public var multiArrayConstraint: MLMultiArrayConstraint? { nil }
}

public class MLModelDescription: NSObject {
    public var inputDescriptionsByName: [String: MLFeatureDescription] { [:] }
    public var outputDescriptionsByName: [String: MLFeatureDescription] { [:] }
}

// Apple documents that a model may be used on any thread, one prediction at a time.
open class MLModel: NSObject, @unchecked Sendable {
    public var modelDescription: MLModelDescription { MLModelDescription() }
    public static func compileModel(at url: URL) async throws -> URL { throw Stub() }
    public static func load(contentsOf url: URL, configuration: MLModelConfiguration) async throws -> MLModel { throw Stub() }
    public func prediction(from input: any MLFeatureProvider) throws -> any MLFeatureProvider { throw Stub() }
}

extension DispatchSource {
    public struct MemoryPressureEvent: OptionSet, Sendable {
        public let rawValue: UInt
        public init(rawValue: UInt) { self.rawValue = rawValue }
        public static let normal = Self(rawValue: 1)
        public static let warning = Self(rawValue: 2)
        public static let critical = Self(rawValue: 4)
        public static let all: Self = [.normal, .warning, .critical]
    }

    public class func makeMemoryPressureSource(
        eventMask: MemoryPressureEvent,
        queue: DispatchQueue? = nil
    ) -> any DispatchSourceMemoryPressure { preconditionFailure() }
}

public protocol DispatchSourceMemoryPressure: DispatchSourceProtocol {
    var data: DispatchSource.MemoryPressureEvent { get }
}

struct Stub: Error {}
