import Blocking
import Glibc
import Inference

/// A session of ONNX Runtime; freed when the last reference goes.
final class ONNXModel: LoadedModel {
    let ports: ModelPorts

    private let functions: ORTFunctions
    private let session: ORTHandle

    init(functions: ORTFunctions, session: ORTHandle, ports: ModelPorts) {
        self.functions = functions
        self.session = session
        self.ports = ports
    }

    func run(_ inputs: [String: Tensor]) async throws -> [String: ModelValue] {
        try await run(inputs, within: OutputPolicy())
    }

    /// Runs on a thread that may block; cancelling the task stops the run at its next operator.
    func run(
        _ inputs: [String: Tensor],
        within policy: OutputPolicy
    ) async throws -> [String: ModelValue] {
        try Self.checkTexts(of: inputs)
        let call = try ORTCall(functions: functions)
        let outcome = await BlockingPool.shared.run(
            onCancel: { call.stop() },
            { self.outcome(inputs, call, policy) }
        )
        if case .failure = outcome, Task.isCancelled { throw CancellationError() }
        return try outcome.get()
    }

    /// Texts go to ONNX Runtime as C has them.
    private static func checkTexts(of inputs: [String: Tensor]) throws(InferenceError) {
        for (name, tensor) in inputs.sorted(by: { $0.key < $1.key }) {
            guard let index = tensor.strings.firstIndex(where: { $0.utf8.contains(0) }) else { continue }
            throw .inputText(name, at: index, reason: "has a NUL, which ONNX Runtime would cut off")
        }
    }

    private func outcome(
        _ inputs: [String: Tensor],
        _ call: ORTCall,
        _ policy: OutputPolicy
    ) -> Result<[String: ModelValue], any Error> {
        Result { try compute(inputs, options: call.options, policy) }
    }

    private func compute(
        _ inputs: [String: Tensor],
        options: ORTHandle,
        _ policy: OutputPolicy
    ) throws -> [String: ModelValue] {
        let values = ORTValues(functions: functions)
        var budget = OutputBudget(policy)
        for name in inputs.keys where !ports.inputs.contains(where: { $0.name.utf8.elementsEqual(name.utf8) })
        {
            throw ONNXRuntimeError.unsupported(port: name, what: "an input that ONNX Runtime lets nobody set")
        }
        var given: [(name: String, value: ORTHandle)] = []
        for port in ports.inputs {
            guard let tensor = inputs[port.name] else { continue }
            given.append((port.name, try values.value(of: tensor)))
        }
        let results = try call(given, options: options)
        var outputs: [String: ModelValue] = [:]
        for (port, result) in zip(ports.outputs, results) {
            guard let result else { continue }
            outputs[port.name] = try values.modelValue(of: result, port: port.name, &budget)
        }
        return outputs
    }

    /// One call of `Run`; an output that the model left out is `nil`.
    private func call(
        _ inputs: [(name: String, value: ORTHandle)],
        options: ORTHandle
    ) throws(ONNXRuntimeError) -> [ORTHandle?] {
        typealias Text = UnsafePointer<CChar>
        typealias Run =
            @convention(c) (
                ORTPointer, ORTPointer?, UnsafePointer<Text?>?, UnsafePointer<ORTPointer?>?, Int,
                UnsafePointer<Text?>?, Int, ORTOut?
            ) -> ORTStatus
        let copies = inputs.map { strdup($0.name) } + ports.outputs.map { strdup($0.name) }
        defer { for copy in copies { free(copy) } }
        guard !copies.contains(nil) else {
            throw .failed(operation: "run the model", code: -1, message: "no memory")
        }
        let names = copies.map { $0.map { Text($0) } }
        let inputNames = Array(names[..<inputs.count])
        let outputNames = Array(names[inputs.count...])
        let values: [ORTPointer?] = inputs.map { $0.value.lend { $0 } }
        var results = [ORTPointer?](repeating: nil, count: outputNames.count)
        let run = functions.function(.run, as: Run.self)
        let status = session.lend { session in
            options.lend { options in
                run(
                    session,
                    options,
                    inputNames,
                    values,
                    inputs.count,
                    outputNames,
                    outputNames.count,
                    &results
                )
            }
        }
        withExtendedLifetime(inputs) {}
        let owned = results.map { $0.map { ORTHandle($0, releasing: .releaseValue, of: functions) } }
        try functions.check(status, "run the model")
        return owned
    }
}

/// The options of one run, by which it can be told to stop.
struct ORTCall: Sendable {
    let options: ORTHandle

    private let functions: ORTFunctions

    init(functions: ORTFunctions) throws(ONNXRuntimeError) {
        self.functions = functions
        options = try functions.make(releasing: .releaseRunOptions, "make run options") { out in
            functions.function(.createRunOptions, as: (@convention(c) (ORTOut) -> ORTStatus).self)(out)
        }
    }

    /// Asks the run to stop; it may be before, during or after it, on any thread.
    func stop() {
        let terminate = functions.function(.terminateRun, as: (@convention(c) (ORTPointer) -> ORTStatus).self)
        if let status = options.lend({ terminate($0) }) { functions.release(.releaseStatus, status) }
    }
}
