#if canImport(CoreML)
import CoreML
public import Inference

/// Core ML, for packages, single files and compiled models.
///
/// What is not compiled yet is compiled at its first load and kept: in a folder
/// of its own for each path of a model, in which the version directory bears
/// the manifest's digest, under each build of the system and each choice of
/// processors, since a compiled model holds for exactly these. Before another
/// one is compiled, those go whose version was collected or that an earlier
/// build of the system compiled.
public struct CoreMLRuntime: ModelRuntime {
    /// `coreml`.
    public let name = "coreml"

    /// The system's version and build.
    public var version: String { ProcessInfo.processInfo.operatingSystemVersionString }

    /// All of them; Core ML itself decides which part of a model runs where.
    public let processors: Set<ComputeUnits> = [.cpu, .gpu, .npu]

    private let cache: URL

    /// A runtime that keeps compiled models.
    ///
    /// - Parameter cache: The path of a folder that nobody but the app writes.
    public init(cache: String) { self.cache = URL(fileURLWithPath: cache) }

    /// True for `coreml-package`, `coreml-model` and `coreml-compiled`.
    public func runs(format: String) -> Bool { format.hasPrefix("coreml-") }

    /// Loads a model, compiling it first if that was not done before.
    ///
    /// - Throws: Core ML's own error, or `CoreMLError` for ports that Sealift does not carry.
    public func load(entry: String, options: LoadOptions) async throws -> any LoadedModel {
        let configuration = MLModelConfiguration()
        configuration.computeUnits = Self.units(options.compute)
        let compiled = try await compiled(CoreMLPlace.model(ofEntry: entry), options.compute)
        return CoreMLModel(try await MLModel.load(contentsOf: compiled, configuration: configuration))
    }

    private static func units(_ compute: ComputeUnits) -> MLComputeUnits {
        switch compute {
        case .any: .all
        case .cpu: .cpuOnly
        case .gpu: .cpuAndGPU
        case .npu: .cpuAndNeuralEngine
        }
    }

    private func compiled(_ model: String, _ compute: ComputeUnits) async throws -> URL {
        guard !CoreMLPlace.isCompiled(model) else { return URL(fileURLWithPath: model) }
        let place = CoreMLPlace.kept(model, build: version, compute: compute.rawValue)
        let kept = cache.appendingPathComponent(place)
        if FileManager.default.fileExists(atPath: kept.path) { return kept }
        collect()
        let fresh = try await MLModel.compileModel(at: URL(fileURLWithPath: model))
        let folder = kept.deletingLastPathComponent()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        do { try FileManager.default.moveItem(at: fresh, to: kept) } catch {
            // Another process may have been first; one that is whole is as good as this.
            guard FileManager.default.fileExists(atPath: kept.path) else { throw error }
        }
        return kept
    }

    /// Deletes compiled models that nothing can use any more; one that cannot be deleted is tried again next time.
    private func collect() {
        let files = FileManager.default
        guard let walk = files.enumerator(atPath: cache.path) else { return }
        var kept: [String] = []
        while let path = walk.nextObject() as? String {
            guard CoreMLPlace.isCompiled(path) else { continue }
            kept.append("/" + path)
            // What is below a compiled model is part of it.
            walk.skipDescendants()
        }
        for path in CoreMLPlace.stale(kept, build: version, exists: { files.fileExists(atPath: $0) }) {
            try? files.removeItem(at: cache.appendingPathComponent(path))
        }
    }
}

/// What Core ML gives or takes and Sealift does not carry.
public enum CoreMLError: Error, Equatable, Sendable {
    /// The port has another kind than a tensor, a number or a text.
    case unsupported(port: String, what: String)
}

final class CoreMLModel: LoadedModel {
    let ports: ModelPorts
    private let model: MLModel

    init(_ model: MLModel) {
        self.model = model
        let description = model.modelDescription
        ports = ModelPorts(
            inputs: description.inputDescriptionsByName.values.map { Inference.Port($0) }.sorted {
                $0.name < $1.name
            },
            outputs: description.outputDescriptionsByName.values.map { Inference.Port($0) }.sorted {
                $0.name < $1.name
            }
        )
    }

    @concurrent
    func run(_ inputs: [String: Tensor]) async throws -> [String: ModelValue] {
        var features: [String: Any] = [:]
        for (name, tensor) in inputs {
            features[name] = MLFeatureValue(multiArray: try CoreMLTensor.array(tensor, port: name))
        }
        let answer = try model.prediction(from: try MLDictionaryFeatureProvider(dictionary: features))
        var outputs: [String: ModelValue] = [:]
        for name in answer.featureNames {
            guard let value = answer.featureValue(for: name) else { continue }
            outputs[name] = .tensor(try CoreMLTensor.tensor(value, port: name))
        }
        return outputs
    }
}

// Foundation has a `Port` too.
extension Inference.Port {
    fileprivate init(_ description: MLFeatureDescription) {
        let kind: Inference.Port.Kind =
            switch description.type {
            case .multiArray:
                if let constraint = description.multiArrayConstraint {
                    .tensor(CoreMLTensor.element(constraint.dataType), PortShape(constraint))
                } else {
                    .other("a tensor of unknown type")
                }
            case .int64: .tensor(.int64, [])
            case .double: .tensor(.float64, [])
            case .string: .tensor(.string, [])
            default: .other("kind \(description.type.rawValue) of Core ML")
            }
        self.init(name: description.name, kind: kind, isOptional: description.isOptional)
    }
}

extension PortShape {
    fileprivate init(_ constraint: MLMultiArrayConstraint) {
        switch constraint.shapeConstraint.type {
        case .enumerated:
            self = .oneOf(constraint.shapeConstraint.enumeratedShapes.map { $0.map(\.intValue) })
        case .range:
            let dimensions = constraint.shapeConstraint.sizeRangeForDimension.map { value in
                let range = value.rangeValue
                // A range without an end is written as the greatest length.
                let most = range.length >= Int(Int32.max) ? nil : range.location + range.length - 1
                return most == range.location
                    ? PortDimension.fixed(range.location) : .range(range.location, most)
            }
            self = .dimensions(dimensions)
        case .unspecified:
            self = .dimensions(constraint.shape.map { .fixed($0.intValue) })
        }
    }
}
#endif
