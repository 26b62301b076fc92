public import Inference

/// The ways to an answer in the order of preference, from the best model to a message for the person.
///
///     let ladder = Ladder(
///         rungs: [
///             .model(try ModelRequest("vision/detector", loadOptions: LoadOptions(compute: .npu))),
///             .model(try ModelRequest("vision/detector-small")),
///             .model(try ModelRequest("vision/detector-small", loadOptions: LoadOptions(compute: .cpu))),
///             .remote(server),
///         ],
///         message: "Photos cannot be sorted right now. Close other apps and try again."
///     )
///
/// A rung that is refused, fails or does not fit leads to the next, and the
/// reason is kept; so does a model that takes other inputs than these. Inputs
/// that no model takes which was asked are the caller's mistake: they go to no
/// service, and end the ladder with the error of the first. Cancellation of
/// the caller ends it too, at once.
public struct Ladder: Sendable {
    /// One way to an answer.
    public enum Rung: Sendable {
        /// A model on this device.
        case model(ModelRequest)

        /// A service elsewhere, which the app calls itself.
        case remote(RemoteRung)
    }

    /// In the order of preference.
    public var rungs: [Rung]

    /// What to tell the person when no rung answers.
    public var message: String

    /// Declares a ladder.
    public init(rungs: [Rung], message: String) {
        self.rungs = rungs
        self.message = message
    }
}

/// A service that answers in place of a model; the library itself opens no connection.
public struct RemoteRung: Sendable {
    /// What the app's privacy rule says about these inputs now.
    public enum Permission: Equatable, Sendable {
        /// They may leave the device.
        case allowed

        /// They may not, and why.
        case denied(String)
    }

    /// For the record: `the server`.
    public let name: String

    /// The longest wait for the rule and the answer together; that of the library's configuration unless given.
    public var deadline: Duration? { didSet { deadline = deadline?.held } }

    let permission: @Sendable ([String: Tensor]) async -> Permission
    let answer: @Sendable ([String: Tensor]) async throws -> [String: ModelValue]

    /// Declares a service.
    ///
    /// - Parameters:
    ///   - name: For the record.
    ///   - deadline: The longest wait for the rule and the answer together.
    ///   - permission: The app's privacy rule, asked every time before anything is sent.
    ///   - answer: Sends the inputs and gives the outputs.
    public init(
        name: String,
        deadline: Duration? = nil,
        permission: @escaping @Sendable ([String: Tensor]) async -> Permission,
        answer: @escaping @Sendable ([String: Tensor]) async throws -> [String: ModelValue]
    ) {
        self.name = name
        self.deadline = deadline?.held
        self.permission = permission
        self.answer = answer
    }
}

/// Why a rung was left for the next.
public struct StepDown: Equatable, Sendable {
    /// `vision/detector (speed, npu)`, or the name of a service.
    public let rung: String

    /// What it said.
    public let reason: String

    /// Describes a step.
    public init(rung: String, reason: String) {
        self.rung = rung
        self.reason = reason
    }
}

/// What a ladder gave, and how far down it went.
public struct LadderAnswer: Sendable {
    /// A value for every output, by name.
    public let outputs: [String: ModelValue]

    /// The rung that answered.
    public let rung: String

    /// The version that answered; `nil` for a service.
    public let version: String?

    /// The rungs above it, each with its reason.
    public let steps: [StepDown]
}

/// No rung of a ladder answered.
public struct LadderError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What the app wants the person to read.
    public let message: String

    /// Every rung with its reason.
    public let steps: [StepDown]

    /// For logs: the message, and each rung with its reason.
    public var description: String {
        ([message] + steps.map { "\($0.rung): \($0.reason)" }).joined(separator: "; ")
    }
}

extension ModelLibrary {
    /// Gets an answer from the first rung that has one.
    ///
    /// - Parameters:
    ///   - inputs: By the name of the port; the same for every rung.
    ///   - ladder: The ways to an answer.
    /// - Returns: The answer and the reasons for each step down.
    /// - Throws: `LadderError` when no rung answers; `InferenceError` when the
    ///   inputs fit no model that was asked; `CancellationError` when the caller
    ///   is cancelled.
    public nonisolated func answer(_ inputs: [String: Tensor], by ladder: Ladder) async throws -> LadderAnswer
    {
        var steps: [StepDown] = []
        var fit = InputFit()
        for rung in ladder.rungs {
            try Task.checkCancellation()
            do {
                switch rung {
                case .model(let request):
                    let (outputs, version) = try await withModel(request) { lease in
                        do throws(InferenceError) { try lease.check(inputs) } catch {
                            fit.refused(error)
                            throw error
                        }
                        fit.isTaken = true
                        return (try await lease.run(inputs), lease.version)
                    }
                    return LadderAnswer(outputs: outputs, rung: rung.name, version: version, steps: steps)
                case .remote(let remote):
                    if let mistake = fit.mistake { throw mistake }
                    let outputs = try await answer(inputs, by: remote)
                    return LadderAnswer(outputs: outputs, rung: rung.name, version: nil, steps: steps)
                }
            } catch {
                try Task.checkCancellation()
                if case .remote = rung, let mistake = fit.mistake { throw mistake }
                let isCancelled = error is CancellationError
                let reason =
                    isCancelled ? "it ended the call as cancelled, and nobody cancelled it" : "\(error)"
                steps.append(await stepDown(rung, reason))
            }
        }
        if let mistake = fit.mistake { throw mistake }
        throw LadderError(message: ladder.message, steps: steps)
    }

    /// Asks the privacy rule, and then the service.
    private nonisolated func answer(
        _ inputs: [String: Tensor],
        by remote: RemoteRung
    ) async throws -> [String: ModelValue] {
        let longest = remote.deadline ?? configuration.deadline
        let answer = try await Deadline.answer(by: clock.now + longest, clock) {
            if case .denied(let reason) = await remote.permission(inputs) { throw Denied(reason: reason) }
            // Nothing is sent for somebody who does not wait any more.
            try Task.checkCancellation()
            return try await remote.answer(inputs)
        }
        guard let answer else { throw ModelLibraryError.timedOut(model: remote.name, after: longest) }
        return answer
    }

    private func stepDown(_ rung: Ladder.Rung, _ reason: String) -> StepDown {
        tell(.steppedDown(rung: rung.name, reason: reason))
        return StepDown(rung: rung.name, reason: reason)
    }
}

/// What the app's privacy rule said.
private struct Denied: Error, CustomStringConvertible {
    let reason: String

    var description: String { "the privacy rule says no: \(reason)" }
}

/// Whether the inputs of a ladder fit any model that was asked so far.
private struct InputFit {
    private var first: InferenceError?
    var isTaken = false

    mutating func refused(_ error: InferenceError) { if first == nil { first = error } }

    /// What the caller did wrong, when every model says that something is.
    var mistake: InferenceError? { isTaken ? nil : first }
}

extension Ladder.Rung {
    /// For the record.
    var name: String {
        switch self {
        case .model(let request):
            request.model + (request.loadOptions.map { " (\($0))" } ?? "")
        case .remote(let remote): remote.name
        }
    }
}
