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
/// build of the system compiled, and what a process left half put together a
/// day ago; what somebody else put there stays. A disk
/// that is full says nothing of a model, and a compiled model that rotted is
/// compiled again.
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
    public init(cache: String) {
        self.cache = URL(fileURLWithPath: cache).appendingPathComponent(CoreMLPlace.folder)
    }

    /// True for `coreml-package`, `coreml-model` and `coreml-compiled`.
    public func runs(format: String) -> Bool { format.hasPrefix("coreml-") }

    /// Loads a model, compiling it first if that was not done before.
    ///
    /// - Throws: Core ML's own error where it refuses the model; `CoreMLError` where the system is to blame, and for
    ///   ports that Sealift does not carry.
    public func load(entry: String, options: LoadOptions) async throws -> any LoadedModel {
        let configuration = MLModelConfiguration()
        configuration.computeUnits = Self.units(options.compute)
        let model = CoreMLPlace.model(ofEntry: entry)
        guard !CoreMLPlace.isCompiled(model) else {
            return CoreMLModel(try await Self.loaded(URL(fileURLWithPath: model), configuration))
        }
        let place = CoreMLPlace.kept(model, build: version, compute: options.compute.rawValue)
        let kept = cache.appendingPathComponent(place)
        if FileManager.default.fileExists(atPath: kept.path) {
            if let whole = try? await MLModel.load(contentsOf: kept, configuration: configuration) {
                return CoreMLModel(whole)
            }
            // It may have rotted; the model itself was verified.
            try? FileManager.default.removeItem(at: kept)
        }
        try await compile(model, to: kept)
        return CoreMLModel(try await Self.loaded(kept, configuration))
    }

    private static func loaded(
        _ place: URL,
        _ configuration: MLModelConfiguration
    ) async throws -> MLModel {
        do { return try await MLModel.load(contentsOf: place, configuration: configuration) } catch {
            throw CoreMLError.ofSystem("load", place.path, error) ?? error
        }
    }

    private static func units(_ compute: ComputeUnits) -> MLComputeUnits {
        switch compute {
        case .any: .all
        case .cpu: .cpuOnly
        case .gpu: .cpuAndGPU
        case .npu: .cpuAndNeuralEngine
        }
    }

    private func compile(_ model: String, to kept: URL) async throws {
        collect()
        let fresh: URL
        do { fresh = try await MLModel.compileModel(at: URL(fileURLWithPath: model)) } catch {
            throw CoreMLError.ofSystem("compile", model, error) ?? error
        }
        let files = FileManager.default
        defer { try? files.removeItem(at: fresh) }
        let folder = kept.deletingLastPathComponent()
        // Beside its place first: on another volume a move is a copy, which may stop half way.
        let partial = cache.appendingPathComponent(CoreMLPlace.partial(model, id: UUID().uuidString))
        do {
            try files.createDirectory(at: folder, withIntermediateDirectories: true)
            try files.moveItem(at: fresh, to: partial)
            try files.moveItem(at: partial, to: kept)
        } catch {
            try? files.removeItem(at: partial)
            // Another process may have been first; one that is whole is as good as this.
            guard files.fileExists(atPath: kept.path) else {
                throw CoreMLError.system(
                    operation: "keep the compiled model at",
                    path: kept.path,
                    reason: "\(error)"
                )
            }
        }
    }

    /// Deletes compiled models that nothing can use any more; one that cannot be deleted is tried again next time.
    private func collect() {
        let files = FileManager.default
        guard let walk = files.enumerator(atPath: cache.path) else { return }
        var kept: [String] = []
        while let path = walk.nextObject() as? String {
            if CoreMLPlace.isPartial("/" + path) {
                walk.skipDescendants()
                let place = cache.appendingPathComponent(path)
                let changed = try? files.attributesOfItem(atPath: place.path)[.modificationDate] as? Date
                let age = changed.map { Date().timeIntervalSince($0) } ?? 0
                if CoreMLPlace.isLeftOver("/" + path, age: age) { try? files.removeItem(at: place) }
                continue
            }
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

/// What Core ML gives or takes and Sealift does not carry, and what the system could not do for it.
public enum CoreMLError: Error, Equatable, Sendable {
    /// The port has another kind than a tensor, a number or a text.
    case unsupported(port: String, what: String)

    /// The system could not, for want of room, rights, memory or descriptors, or for its disk.
    case system(operation: String, path: String, reason: String)

    /// Such an error, where one that Core ML gave is; `nil` where the model is to blame.
    static func ofSystem(_ operation: String, _ path: String, _ error: any Error) -> CoreMLError? {
        var chain: [CoreMLFault.Link] = []
        var next: NSError? = error as NSError
        while let found = next, chain.count < 16 {
            chain.append(CoreMLFault.Link(domain: found.domain, code: found.code))
            next = found.userInfo[NSUnderlyingErrorKey] as? NSError
        }
        guard CoreMLFault.isPassing(chain) else { return nil }
        return .system(operation: operation, path: path, reason: "\(error)")
    }
}

extension CoreMLError: RuntimeFailure {
    /// Whether the same files would fail again: not where the system could not.
    public var isModelAtFault: Bool {
        switch self {
        case .unsupported: true
        case .system: false
        }
    }
}

extension CoreMLError: CustomStringConvertible {
    /// For people.
    public var description: String {
        switch self {
        case .unsupported(let port, let what): "'\(port)' is \(what), which Sealift does not carry"
        case .system(let operation, let path, let reason):
            "Core ML could not \(operation) \(path): \(reason); make room, or see to its folder, and ask again"
        }
    }
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
