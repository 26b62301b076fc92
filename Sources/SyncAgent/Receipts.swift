import Blocking
import Durable
import Generations
import Names
import Signing
import Transfer
import Trust

/// Makes receipts and sends them; whatever goes wrong with them, a sync's result stays what it was.
///
/// One is made on news (another version, a failure, the end of one) and once a
/// day, a little earlier or later on each device, so that a fleet does not
/// report at one moment. Nothing is made before the operator wants it and the
/// device is enrolled.
struct Receipts: Sendable {
    let configuration: SyncConfiguration
    let exchange: any APIExchanging

    /// So many are sent after one sync.
    private static let most = 8
    private static let day: Int64 = 86_400

    /// Takes down what a sync did, and sends what waits.
    ///
    /// - Parameters:
    ///   - report: What it did; `nil` when it was stopped.
    ///   - failure: What stopped it.
    ///   - durations: Of its phases.
    ///   - now: The time.
    /// - Returns: Warnings.
    func settle(
        _ report: SyncReport?,
        _ failure: SyncError?,
        _ durations: [SyncPhase: Int64],
        at now: UnixTime
    ) async -> [String] {
        guard configuration.sendsReceipts, let device = try? DeviceDirectory.open(configuration.directory),
            let enrollment = try? device.note(Enrollment.self), !enrollment.registry.isEmpty
        else { return [] }
        do throws(SyncError) {
            // None is made here: only the one that was enrolled counts.
            guard let key = try DeviceKey.stored(on: device),
                Authoring.keyID(of: key.publicKey) == enrollment.key
            else {
                return [
                    "no receipt was made: \(device.path)/device/key.pem is not the key that was enrolled; enroll "
                        + "this device again"
                ]
            }
            let receipt = try receipt(report, failure, durations, device, enrollment.key, now)
            try await BlockingPool.shared.run { () throws(SyncError) in
                // A courtesy between syncs that end together: who cannot have it may lose another's receipt.
                let lock = try? DirectoryLock(Self.lockPath(of: device), waiting: 2)
                defer { withExtendedLifetime(lock) {} }
                try queue(receipt, key, device, now)
            }
            // Nobody is there to take it now.
            if failure?.kind == .temporary { return [] }
            return try await send(
                to: RepositoryLocation(base: enrollment.registry),
                ReceiptQueue(device: device)
            )
        } catch {
            return ["a receipt could not be sent: \(error.message)"]
        }
    }

    /// Held by whoever writes receipts, or makes the key that signs them.
    static func lockPath(of device: DeviceDirectory) -> String { "\(device.path)/receipts.lock" }

    private func receipt(
        _ report: SyncReport?,
        _ failure: SyncError?,
        _ durations: [SyncPhase: Int64],
        _ device: DeviceDirectory,
        _ key: String,
        _ now: UnixTime
    ) throws(SyncError) -> Receipt {
        let (active, quarantine) = try onDisk { () throws(GenerationError) in
            (try device.activeGeneration()?.record, try device.note(Quarantine.self))
        }
        let models = configuration.models.sorted { $0.name < $1.name }.map { request in
            let decision = report?.models.first { $0.model == request.model }
            return Receipt.Model(
                model: request.model,
                outcome: decision?.outcome,
                active: active?.model(request.name).map { Receipt.Version($0.identity) },
                code: decision?.code,
                failed: decision?.attempted.map { Receipt.Version($0) }
            )
        }
        let wanted = Set(configuration.models.map(\.name))
        return Receipt(
            device: key,
            time: now,
            outcome: failure?.code ?? models.compactMap(\.code).first ?? "done",
            models: models,
            quarantined: quarantine.entries.filter { wanted.contains($0.model) }
                .map { (model: $0.model, version: Receipt.Version($0)) },
            durations: durations,
            tags: configuration.tags
        )
    }

    private func queue(
        _ receipt: Receipt,
        _ key: SoftwareKey,
        _ device: DeviceDirectory,
        _ now: UnixTime
    ) throws(SyncError) {
        var state = try onDisk { () throws(GenerationError) in try device.note(ReceiptState.self) }
        // A time far ahead was noted by a clock that was wrong.
        let isDue = state.next.map { now >= $0 || $0 > now.adding(seconds: 2 * Self.day) } ?? true
        guard isDue || state.last != receipt.state else { return }
        try ReceiptQueue(device: device).add(try receipt.envelope(signedBy: key), at: now)
        state.last = receipt.state
        let chance = randomBytes(2).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        state.next = now.adding(seconds: Self.day * 9 / 10 + Self.day / 5 * chance / 65_536)
        try onDisk { () throws(GenerationError) in try device.save(state) }
    }

    private func send(
        to registry: RepositoryLocation,
        _ queue: ReceiptQueue
    ) async throws(SyncError) -> [String] {
        var warnings: [String] = []
        do throws(DurableError) {
            for name in try queue.names().prefix(Self.most) {
                guard let bytes = try queue.receipt(name) else { continue }
                let request = APIRequest(
                    .post,
                    registry.api("receipts"),
                    body: .bytes(bytes, contentType: "application/json"),
                    maximumLength: .kibibytes(64),
                    deadline: 20
                )
                let status: Int
                do throws(FetchError) { status = try await exchange.send(request).status } catch {
                    return warnings + ["receipts wait until they can be sent: \(error)"]
                }
                switch status {
                // Taken, or counted before.
                case 200..<300, 409: try queue.remove(name)
                case 400, 413, 422:
                    warnings.append(
                        "\(registry) refused a receipt with status \(status); it is not sent again"
                    )
                    try queue.remove(name)
                default: return warnings + ["receipts wait: \(registry) answered with status \(status)"]
                }
            }
        } catch { throw SyncError(error) }
        return warnings
    }
}

extension Receipt.Version {
    init(_ entry: Quarantine.Entry) {
        version = entry.version
        manifest = entry.manifest
    }
}

/// How long the phases of a sync took.
final class PhaseTimes: Sendable {
    private struct State {
        var times: [SyncPhase: Int64] = [:]
        var running: (phase: SyncPhase, since: MonotonicTime)?
    }

    private let state = Guarded(State())

    /// Notes that a phase begins.
    func begin(_ phase: SyncPhase?) {
        let now = MonotonicTime.now
        state.withLock { state in
            if let running = state.running {
                state.times[running.phase, default: 0] += Int64(now.seconds(since: running.since) * 1_000)
            }
            state.running = phase.map { (phase: $0, since: now) }
        }
    }

    /// Milliseconds of each phase.
    var milliseconds: [SyncPhase: Int64] {
        begin(nil)
        return state.withLock { $0.times }
    }
}
