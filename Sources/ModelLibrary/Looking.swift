import Blocking
import Names

/// What one look at the device found.
struct Sight: Sendable {
    /// When it began, in the order of `nextNumber()`.
    let number: Int
    let stamp: SourceStamp?

    /// `nil` when the stamp is the one that was known.
    let version: Result<LibraryVersion, ModelLibraryError>?
}

/// Which look at the device says that a version is active.
struct Look: Sendable {
    let stamp: SourceStamp?
    let number: Int
}

/// What is looked for: a model, or whether anything changed since a stamp.
struct LookKey: Hashable, Sendable {
    let name: ModelName
    let known: SourceStamp?
}

/// Looks at the device for one key, one after the other.
struct LooksInProgress {
    var running: Answer<Sight>

    /// The one that begins afterwards, for those who asked since the first began: that one may have missed a switch.
    var next: Answer<Sight>?
}

/// What waits until fewer looks are under way.
enum WaitingLook: Sendable {
    case look(LookKey)

    /// Another question, which nobody waits for after a deadline.
    case question(until: Duration, @Sendable () async -> Void)
}

/// A device directory may lie on a disk that is slow, or does not answer at
/// all. So all who ask at a time share a look, few looks of a library are under
/// way at once, on threads that nothing else needs, and nobody waits for one
/// beyond a deadline.
extension ModelLibrary {
    /// As many looks of one library as are under way at once.
    private static var mostLooks: Int { 4 }

    /// What the device says now.
    ///
    /// - Throws: `ModelLibraryError.timedOut` at the deadline; `CancellationError`.
    func look(for key: LookKey, until deadline: Duration) async throws -> Sight {
        let answer = Answer<Sight>()
        let joined: Answer<Sight>
        if let looks = looks[key] {
            joined = looks.next ?? answer
            self.looks[key]?.next = joined
        } else {
            joined = answer
            looks[key] = LooksInProgress(running: answer)
            begin(.look(key))
        }
        return try await inTime(joined, of: key.name, until: deadline)
    }

    /// Asks the device something else, in the turn of looks.
    ///
    /// - Throws: What `body` throws, and as above.
    func ask<Value: Sendable>(
        about name: ModelName,
        until deadline: Duration,
        _ body: @escaping @Sendable () throws(ModelLibraryError) -> Value
    ) async throws -> Value {
        let answer = Answer<Value>()
        let question = WaitingLook.question(until: deadline) {
            do throws(ModelLibraryError) {
                answer.give(.success(try await LibraryThreads.looks.run(body)))
            } catch {
                answer.give(.failure(error))
            }
        }
        begin(question)
        return try await inTime(answer, of: name, until: deadline)
    }

    /// What somebody else finds out about a model, if that comes before the deadline.
    ///
    /// - Throws: As above, and what is given in place of an answer.
    func inTime<Value>(
        _ answer: Answer<Value>,
        of name: ModelName,
        until deadline: Duration
    ) async throws -> Value {
        let began = clock.now
        if let value = try await answer.value(by: deadline, clock) { return value }
        throw ModelLibraryError.timedOut(model: name.description, after: max(.zero, deadline - began))
    }

    private func begin(_ waiting: WaitingLook) {
        guard looksUnderWay < Self.mostLooks else {
            let now = clock.now
            looksToBegin.removeAll { $0.isLate(at: now) }
            looksToBegin.append(waiting)
            return
        }
        looksUnderWay += 1
        // Of no caller: what does not answer cannot be stopped either.
        switch waiting {
        case .look(let key): begin(key)
        case .question(_, let run):
            Task {
                await run()
                endOne()
            }
        }
    }

    private func begin(_ key: LookKey) {
        let (number, source) = (nextNumber(), source)
        Task {
            let sight = await LibraryThreads.looks.run { () -> Sight in
                let stamp = source.stamp()
                if let stamp, stamp == key.known { return Sight(number: number, stamp: stamp, version: nil) }
                let version: Result<LibraryVersion, ModelLibraryError>
                do throws(ModelLibraryError) {
                    version = .success(try source.activeVersion(of: key.name))
                } catch {
                    version = .failure(error)
                }
                return Sight(number: number, stamp: stamp, version: version)
            }
            end(key, sight)
        }
    }

    private func end(_ key: LookKey, _ sight: Sight) {
        let ended = looks.removeValue(forKey: key)
        if let next = ended?.next {
            looks[key] = LooksInProgress(running: next)
            looksToBegin.append(.look(key))
        }
        endOne()
        ended?.running.give(.success(sight))
    }

    private func endOne() {
        looksUnderWay -= 1
        let now = clock.now
        looksToBegin.removeAll { $0.isLate(at: now) }
        if !looksToBegin.isEmpty { begin(looksToBegin.removeFirst()) }
    }
}

extension WaitingLook {
    /// Whether nobody waits for the answer any more.
    fileprivate func isLate(at now: Duration) -> Bool {
        if case .question(let deadline, _) = self { deadline <= now } else { false }
    }
}
