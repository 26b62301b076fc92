import Blocking

/// Places that have the same small files, of which any may give any file.
///
/// What a file must be is known before it is asked for, or judged after it
/// came, so which of them gave it says nothing. One that gave a wrong answer or
/// none is asked last, and is left alone for a while where all are asked.
package struct Mirrors: Sendable {
    package let locations: [RepositoryLocation]
    private let standings: MirrorStandings
    private let policy = RetryPolicy()

    /// Seconds that the slower ones have once one has answered.
    private static let patience = 5.0

    package init(_ locations: [RepositoryLocation], _ standings: MirrorStandings = MirrorStandings()) {
        self.locations = locations
        self.standings = standings
    }

    /// All of them, those that failed lately last.
    package var inOrder: [RepositoryLocation] {
        locations.filter { standings[$0].failures == 0 } + locations.filter { standings[$0].failures > 0 }
    }

    /// Those that are not left alone now; all when none would be left.
    private var awake: [RepositoryLocation] {
        let now = MonotonicTime.now
        let awake = locations.filter { location in
            standings[location].notBefore.map { $0.seconds(since: now) <= 0 } ?? true
        }
        return awake.isEmpty ? locations : awake
    }

    package func succeeded(_ location: RepositoryLocation) { standings.succeeded(location) }

    /// Notes a wrong answer, or none.
    ///
    /// - Parameters:
    ///   - location: That failed.
    ///   - what: Happened, for people.
    ///   - asked: Seconds for which it asks to be left alone.
    package func failed(_ location: RepositoryLocation, _ what: String, asked: Double? = nil) {
        // With nobody else to ask there is nothing to prefer.
        guard locations.count > 1 else { return }
        standings.note(what, of: location)
        standings.failed(location, moved: false) { inARow in
            max(policy.delay(afterFailures: inARow, jitter: Double.random(in: 0...1)), asked ?? 0)
        }
    }

    /// What went wrong with each location lately, in their order, where another did better.
    package var troubles: [(location: RepositoryLocation, what: String)] {
        guard locations.count > 1 else { return [] }
        return locations.compactMap { location in
            standings.trouble(of: location).map { (location, $0) }
        }
    }

    /// What one of them said.
    struct Answer: Sendable {
        let location: RepositoryLocation
        let outcome: Result<FetchOutcome, FetchError>
    }

    private enum Arrival: Sendable {
        case answer(Int, Answer)
        case timeUp
    }

    /// Asks all at once, so that none can keep back what another has, and none holds up the others for long.
    ///
    /// - Parameters:
    ///   - fetcher: By which they are asked.
    ///   - request: What each is asked for.
    /// - Returns: An answer of each that was asked, in their order.
    func answers(
        _ fetcher: any Fetching,
        _ request: @Sendable (RepositoryLocation) -> FetchRequest
    ) async -> [Answer] {
        let asked = awake
        if asked.count == 1 { return [await Self.ask(asked[0], fetcher, request(asked[0]))] }
        return await withTaskGroup(of: Arrival.self) { group in
            for (index, location) in asked.enumerated() {
                let wanted = request(location)
                group.addTask { .answer(index, await Self.ask(location, fetcher, wanted)) }
            }
            var found: [Int: Answer] = [:]
            var isTimed = false
            while found.count < asked.count, let arrival = await group.next() {
                guard case .answer(let index, let answer) = arrival else { break }
                found[index] = answer
                guard !isTimed, case .success = answer.outcome else { continue }
                isTimed = true
                group.addTask {
                    try? await Blocking.sleep(seconds: Self.patience)
                    return .timeUp
                }
            }
            group.cancelAll()
            return asked.indices.map { index in
                found[index] ?? Self.tooLate(asked[index], request(asked[index]).url)
            }
        }
    }

    private static func ask(
        _ location: RepositoryLocation,
        _ fetcher: any Fetching,
        _ request: FetchRequest
    ) async -> Answer {
        do throws(FetchError) {
            return Answer(location: location, outcome: .success(try await fetcher.fetch(request)))
        } catch {
            return Answer(location: location, outcome: .failure(error))
        }
    }

    private static func tooLate(_ location: RepositoryLocation, _ url: String) -> Answer {
        Answer(location: location, outcome: .failure(.outage(.timedOut(seconds: patience), url: url)))
    }
}
