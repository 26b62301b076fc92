import Arguments
import Blocking
import CanonicalJSON
import Names
import SyncAgent

/// `sync --watch`: syncs again and again until it is told to stop.
///
/// It ends by itself only where going on makes no sense: a configuration that
/// is wrong at the start (2), evidence against the registry (5), a fault of the
/// program (70). Whatever else happens is told, and tried again.
enum SyncWatch {
    private enum End: Sendable {
        case byItself(ExitCode)
        case asked
    }

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let agent = try agent(arguments, context)
        let schedule = PollSchedule(every: agent.configuration.pollSeconds.map { Double($0) })
        let alarm = Alarm()
        ServiceManager.tell("READY=1")
        return await withTaskGroup(of: End.self) { group in
            group.addTask {
                let asJSON = arguments.has("json")
                return .byItself(
                    await watch(agent, schedule, alarm, asJSON: asJSON) { try Self.agent(arguments, context) }
                )
            }
            group.addTask {
                for await request in Signals.requests() {
                    guard request == .reload else { break }
                    alarm.ring()
                }
                return .asked
            }
            guard case .byItself(let code)? = await group.next() else {
                ServiceManager.tell("STOPPING=1")
                // A sync in flight stops where it is: what it verified is kept, and what is active stays.
                group.cancelAll()
                if case .byItself(let code)? = await group.next(), code == .misbehaviour { return code }
                Output.note("stopped")
                return .done
            }
            group.cancelAll()
            return code
        }
    }

    private static func agent(_ arguments: ParsedArguments, _ context: Context) throws -> SyncAgent {
        var configuration = try SyncSettings(arguments, context).configuration
        configuration.isWatching = true
        if let text = arguments["poll"] { configuration.pollSeconds = try Words.duration(text, of: "--poll") }
        return try SyncAgent(configuration: configuration)
    }

    private static func watch(
        _ first: SyncAgent,
        _ start: PollSchedule,
        _ alarm: Alarm,
        asJSON: Bool,
        _ reload: () throws -> SyncAgent
    ) async -> ExitCode {
        var agent = first
        var schedule = start
        var before: SyncReport?
        while !Task.isCancelled {
            // A file that was put right meanwhile is no longer in the way.
            if agent.configuration.models.contains(where: { $0.fault != nil }), let again = try? reload() {
                agent = again
            }
            var report: SyncReport?
            var failure: SyncError?
            do throws(SyncError) { report = try await agent.sync() } catch { failure = error }
            guard !Task.isCancelled else { break }
            let code = tell(report, failure, before, asJSON: asJSON)
            before = report
            guard code != .misbehaviour, code != .internalError else { return code }
            let wait = schedule.wait(after: report, failure, chance: .random(in: 0..<1))
            ServiceManager.tell("STATUS=\(status(report, failure)); next sync in \(Int(wait)) s")
            guard await alarm.wait(seconds: wait) else { continue }
            ServiceManager.tell("RELOADING=1")
            do {
                agent = try reload()
                Output.note("the configuration was read again")
            } catch {
                Output.note("the configuration stays as it was: \(Failure(describing: error).line)")
            }
            ServiceManager.tell("READY=1")
        }
        return .done
    }

    /// One document a sync, or a few lines for each that has something new to say.
    private static func tell(
        _ report: SyncReport?,
        _ failure: SyncError?,
        _ before: SyncReport?,
        asJSON: Bool
    ) -> ExitCode {
        if let failure { Output.note("sealift: \(failure.message)") }
        guard let report else {
            return failure.flatMap { ExitCode(rawValue: $0.exitCode) } ?? .internalError
        }
        if asJSON || report.models != before?.models || report.warnings != before?.warnings {
            Sync.tell(report, [], asJSON: asJSON)
        }
        return ExitCode(rawValue: report.exitCode) ?? .internalError
    }

    private static func status(_ report: SyncReport?, _ failure: SyncError?) -> String {
        if let failure { return PlainText.line(failure.message) }
        let models = report?.models.map { "\($0.model) \($0.active ?? "none")" } ?? []
        return models.joined(separator: ", ")
    }
}

/// A wait that somebody may end early.
private final class Alarm: Sendable {
    private struct State {
        var hasRung = false
        var sleeper: Task<Void, any Error>?
    }

    private let state = Guarded(State())

    /// Ends the wait that is going on, or the next one.
    func ring() {
        let sleeper = state.withLock { state in
            state.hasRung = true
            return state.sleeper
        }
        sleeper?.cancel()
    }

    /// - Returns: Whether it was ended by ``ring()``.
    func wait(seconds: Double) async -> Bool {
        // Of its own, so that a ring ends it and nothing else.
        let sleeper = Task { try await Blocking.sleep(seconds: seconds) }
        let hasRung = state.withLock { state in
            state.sleeper = sleeper
            return state.hasRung
        }
        if hasRung { sleeper.cancel() }
        await withTaskCancellationHandler {
            _ = await sleeper.result
        } onCancel: {
            sleeper.cancel()
        }
        return state.withLock { state in
            defer { state = State() }
            return state.hasRung
        }
    }
}
