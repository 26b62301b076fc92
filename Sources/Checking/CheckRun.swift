import CanonicalJSON
import Durable
package import Inference
package import Manifest
package import Names

/// Runs golden vectors in the process that was started for it.
package struct CheckRun: Sendable {
    /// Bytes that one file of a vector may have.
    package static let longestFile = GoldenVector.longestFile

    /// Bytes of all outputs that one answer may record.
    static let mostRecorded = 24 << 20

    private let request: CheckRequest
    private let ports: ModelPorts

    package init(_ request: CheckRequest) {
        self.request = request
        ports = ModelPorts(request.interface)
    }

    /// Loads the model and calls it with each vector.
    ///
    /// - Parameters:
    ///   - runtime: What loads it.
    ///   - tell: Told each step before it is taken.
    /// - Returns: The answer; whatever goes wrong is in it.
    package func answer(
        by runtime: any ModelRuntime,
        telling tell: @Sendable (CheckAccount.Line) -> Void
    ) async -> CheckAnswer {
        let model: any LoadedModel
        do {
            // One thread, so that the order of additions is the same each time.
            model = try await runtime.load(entry: request.entry, options: LoadOptions(threads: 1))
        } catch {
            let reason = "\(runtime.name) does not load the model: \(error)"
            return CheckAnswer(error.isSaidOfModel ? .failed(reason) : .untried(reason))
        }
        tell(.loaded)
        let differences = ports.disagreements(withRuntime: model.ports)
        guard differences.isEmpty else {
            return CheckAnswer(.failed(differences.joined(separator: "; ")))
        }
        var recorded: [[String: [UInt8]]] = []
        for (index, check) in request.checks.enumerated() {
            tell(.check(index))
            do throws(CheckFault) {
                switch request.wish {
                case .compare: try await compare(check, model)
                case .record: recorded.append(try await record(check, model))
                }
            } catch {
                switch error {
                case .failed(let reason): return CheckAnswer(.failed("check \(index): \(reason)"))
                case .untried(let reason): return CheckAnswer(.untried("check \(index): \(reason)"))
                case .unreadable(let reason): return CheckAnswer(.unreadable("check \(index): \(reason)"))
                }
            }
        }
        return CheckAnswer(request.wish == .compare ? .passed : .recorded(recorded))
    }

    private func compare(_ check: JSONValue, _ model: any LoadedModel) async throws(CheckFault) {
        let files = GoldenFiles(request.files)
        let vector: GoldenVector
        do { vector = try GoldenVector(check, ports: ports) { files.bytes($0) } } catch {
            throw files.fault ?? .failed("\(error)")
        }
        let differences = vector.disagreements(with: try await outputs(of: model, vector.inputs))
        guard differences.isEmpty else { throw .failed(differences.joined(separator: "; ")) }
    }

    private func record(
        _ check: JSONValue,
        _ model: any LoadedModel
    ) async throws(CheckFault) -> [String: [UInt8]] {
        let files = GoldenFiles(request.files)
        let inputs: [String: Tensor]
        do { inputs = try GoldenVector.inputs(of: check, ports: ports) { files.bytes($0) } } catch {
            throw files.fault ?? .failed("\(error)")
        }
        let found = try await outputs(of: model, inputs)
        var recorded: [String: [UInt8]] = [:]
        for port in ports.outputs {
            guard let tensor = found[port.name]?.tensor, tensor.element.size != nil else { continue }
            if let index = tensor.widened?.firstIndex(where: \.isNaN) {
                throw .failed(
                    "the output '\(port.name)' is NaN at element \(index), which nobody should expect unseen"
                )
            }
            recorded[FeatureName.key(of: port.name)] = tensor.bytes
        }
        guard !recorded.isEmpty else { throw .failed("the model gives no tensor of numbers to record") }
        guard recorded.values.reduce(0, { $0 + $1.count }) <= Self.mostRecorded else {
            throw .failed("the outputs have more than \(Self.mostRecorded) bytes, too many to record")
        }
        return recorded
    }

    private func outputs(
        of model: any LoadedModel,
        _ inputs: [String: Tensor]
    ) async throws(CheckFault) -> [String: ModelValue] {
        do throws(InferenceError) { try ports.check(inputs) } catch { throw .failed("\(error)") }
        let outputs: [String: ModelValue]
        let policy = OutputPolicy()
        do { outputs = try await model.run(inputs, within: policy) } catch {
            throw error.isSaidOfModel
                ? CheckFault.failed("the call fails: \(error)")
                : .untried("the call cannot be made: \(error)")
        }
        // As of every prediction: what an app would not get must not pass here.
        do throws(InferenceError) { try ports.check(outputs: outputs, policy: policy) } catch {
            throw .failed("\(error)")
        }
        return outputs
    }
}

extension Error {
    /// What it says of the model: nothing where a runtime lacks something, and that it is broken otherwise.
    ///
    /// The process may take what the model should need and a gibibyte more, and
    /// the system that has less ends it without a word: memory that runs out
    /// here is more than the model may take.
    fileprivate var isSaidOfModel: Bool {
        guard let failure = self as? any RuntimeFailure else { return !(self is CancellationError) }
        return failure.isModelAtFault || failure.isForWantOfMemory
    }
}

private enum CheckFault: Error {
    case failed(String)
    case untried(String)
    case unreadable(String)
}

/// The files that a vector names, and what went wrong with the disk meanwhile.
private final class GoldenFiles {
    private let locations: [FilePath: String]
    private(set) var fault: CheckFault?

    init(_ locations: [FilePath: String]) { self.locations = locations }

    /// - Returns: `nil` for a name that is none of the files, or that cannot be read.
    func bytes(_ name: String) -> [UInt8]? {
        guard let location = FilePath(name).flatMap({ locations[$0] }) else { return nil }
        do throws(DurableError) { return try Durable.readFile(location, maximum: CheckRun.longestFile) } catch
        {
            if case .system = error { fault = .unreadable("\(error)") }
            return nil
        }
    }
}
