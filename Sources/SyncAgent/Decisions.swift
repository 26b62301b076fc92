package import CanonicalJSON
import Durable
import Generations
import Names

/// `decisions.json` (`sealift/decisions@1`): what the last sync decided, for `why`.
///
/// A note by this device to itself; nothing is decided by it.
struct Decisions: Equatable {
    static let type = "sealift/decisions@1"

    var models: [ModelDecision]

    static func path(in device: DeviceDirectory) -> String { "\(device.path)/decisions.json" }

    static func load(from device: DeviceDirectory) throws(SyncError) -> Decisions? {
        do throws(DurableError) {
            let bytes: [UInt8]?
            do {
                bytes = try Durable.readFileIfPresent(path(in: device), maximum: .mebibytes(8))
            } catch {
                // No note of ours.
                guard error.isOfContent else { throw error }
                return nil
            }
            guard let bytes, let value = try? JSONParser.parse(bytes, maximumLength: 8 << 20),
                value["type"]?.string == type
            else { return nil }
            return Decisions(models: (value["models"]?.array ?? []).compactMap { ModelDecision($0) })
        } catch {
            throw SyncError(error)
        }
    }

    /// Keeps what was written about a model that has not moved since: it says why the active version became active.
    func keeping(_ earlier: Decisions?) -> Decisions {
        Decisions(
            models: models.map { decision in
                let old = earlier?.models.first { $0.request == decision.request }
                guard decision.outcome == .unchanged, let old, old.failure == nil else { return decision }
                // Another version that was passed over, or for another reason, is news although nothing moved.
                // So is any other reason to stay than that nothing is new.
                let isPlain =
                    decision.reason == ModelPlan.newestReason
                    && (old.outcome == .activated || old.reason == ModelPlan.newestReason)
                let isTheSame =
                    isPlain && old.active == decision.active && old.passedOver == decision.passedOver
                return isTheSame ? old : decision
            }
        )
    }

    /// Writes the file, if it says something new.
    func save(to device: DeviceDirectory) throws(SyncError) {
        let value: JSONValue = .members(["models": .array(models.map(\.value)), "type": .text(Self.type)])
        let path = Self.path(in: device)
        do throws(DurableError) {
            if (try? Durable.readFile(path, maximum: .mebibytes(8))) == value.compactJSON { return }
            try Durable.makeWay(at: path)
            try Durable.writeAtomically(path, value.compactJSON)
        } catch {
            throw SyncError(error)
        }
    }
}

extension SyncRun {
    /// Writes down what was decided and where groups stand, once all of it is done: no note undoes that any more.
    ///
    /// - Returns: Warnings.
    func note(_ models: [ModelDecision], _ groups: GroupNote, on device: DeviceDirectory) -> [String] {
        var warnings: [String] = []
        do throws(SyncError) {
            // What cannot be read tells nothing, and is replaced.
            let earlier = (try? Decisions.load(from: device)).flatMap { $0 }
            try Decisions(models: models).keeping(earlier).save(to: device)
        } catch {
            warnings.append("the decisions could not be noted: \(error.message)")
        }
        do throws(SyncError) {
            try onDisk { () throws(GenerationError) in try device.save(groups) }
        } catch {
            warnings.append("where groups stand could not be noted: \(error.message)")
        }
        return warnings
    }
}

extension ModelDecision {
    /// The stable JSON form, also of `--json`.
    package var value: JSONValue {
        var object = JSONObject()
        object["active"] = active.map { .text($0) }
        object["failure"] = failure.map { .text($0.message) }
        object["code"] = code.map { .text($0) }
        object["exit_code"] = .integer(Int64(exitCode))
        object["model"] = .text(model)
        object["outcome"] = .text(outcome.rawValue)
        object["previous"] = previous.map { .text($0) }
        object["reason"] = .text(reason)
        object["request"] = .text(request)
        object["skipped"] = .array(
            passedOver.map { passed in
                .members([
                    "reason": .text(passed.reason), "reasons": .array(passed.reasons.map { .text($0) }),
                    "version": .text(passed.version),
                ])
            }
        )
        object["checks"] = checks.map { .text($0) }
        if !variants.isEmpty { object["variants"] = .array(variants.map { .text($0) }) }
        return .object(object)
    }

    init?(_ value: JSONValue) {
        guard let model = value["model"]?.string, let request = value["request"]?.string,
            let outcome = value["outcome"]?.string.flatMap(Outcome.init(rawValue:)),
            let reason = value["reason"]?.string
        else { return nil }
        let passedOver = (value["skipped"]?.array ?? []).map { passed in
            PassedVersion(
                version: passed["version"]?.string ?? "",
                reasons: passed["reasons"]?.array?.compactMap(\.string) ?? [passed["reason"]?.string ?? ""]
            )
        }
        let code = value["code"]?.string.flatMap(ErrorCode.init(rawValue:)) ?? .internal
        let failure = value["failure"]?.string.map { SyncError(code: code, $0) }
        self.init(
            model: model,
            request: request,
            outcome: outcome,
            previous: value["previous"]?.string,
            active: value["active"]?.string,
            reason: reason,
            passedOver: passedOver,
            variants: (value["variants"]?.array ?? []).compactMap(\.string),
            checks: value["checks"]?.string,
            failure: failure
        )
    }
}
