import Blocking
import Names
import Registry
import SQLiteKit

/// The one connection that writes, on a thread that may block.
///
/// Each method is one transaction, so decisions come one after the other here,
/// and between processes by SQLite's own lock.
actor Writer {
    private let database: Database
    private let executor: BlockingExecutor

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(database: sending Database) {
        self.database = database
        executor = BlockingExecutor(label: "registry-writer")
    }

    func create(_ first: FirstCommit) throws(RegistryError) {
        try database.decide { () throws(RegistryError) in
            guard try database.newest("root") == nil else { throw .alreadyCreated }
            try database.insertSettings(of: first)
            try database.insert(first.revision)
            try database.insert(first.timestamp)
            try database.insert(
                RegistryEvent(time: first.revision.time, kind: .created, subject: "registry", detail: "")
            )
        }
    }

    func commit(
        _ rule: @Sendable (any RegistryView) throws(RegistryError) -> Revision?
    ) throws(RegistryError) -> Revision? {
        try database.decide { () throws(RegistryError) in
            guard let revision = try rule(database) else { return nil }
            try database.insert(revision)
            for broken in revision.broken {
                try database.insert(
                    RegistryEvent(
                        time: revision.time,
                        kind: .expectationBroken,
                        subject: "\(broken.app)",
                        detail: "\(broken.model) \(broken.version): \(broken.reason)"
                    )
                )
            }
            if let author = revision.author {
                let roles = revision.files.map { "\($0.role) \($0.version)" }.joined(separator: ", ")
                try database.insert(
                    RegistryEvent(time: revision.time, kind: .committed, subject: author, detail: roles)
                )
            }
            return revision
        }
    }

    func publish(
        _ rule: @Sendable (any RegistryView) throws(RegistryError) -> TimestampFile?
    ) throws(RegistryError) -> TimestampFile? {
        try database.decide { () throws(RegistryError) in
            guard let timestamp = try rule(database) else { return nil }
            try database.insert(timestamp)
            return timestamp
        }
    }

    func lease(_ digests: [Digest], until: UnixTime) throws(RegistryError) -> [Digest] {
        try database.decide { () throws(RegistryError) in try database.lease(digests, until: until) }
    }

    func recordBlob(_ digest: Digest, length: UInt64, lease: UnixTime, now: UnixTime) throws(RegistryError) {
        try database.decide { () throws(RegistryError) in
            try database.insertBlob(digest, length: length, lease: lease, now: now)
        }
    }

    func recordBlockProof(_ proof: BlockProof) throws(RegistryError) {
        try database.decide { () throws(RegistryError) in try database.insertBlockProof(proof) }
    }

    func recordToken(_ token: Token, digest: Digest, now: UnixTime) throws(RegistryError) {
        try database.decide { () throws(RegistryError) in
            try database.insertToken(token, digest: digest, now: now)
        }
    }

    func revokeTokens(_ choice: TokenChoice, now: UnixTime) throws(RegistryError) -> [IssuedToken] {
        try database.decide { () throws(RegistryError) in try database.revokeTokens(choice, now: now) }
    }

    func recordExpectation(_ expectation: RegisteredExpectation) throws(RegistryError) {
        try database.decide { () throws(RegistryError) in
            try database.insert(expectation)
            try database.insert(
                RegistryEvent(
                    time: expectation.registeredAt,
                    kind: .expectationRegistered,
                    subject: expectation.registeredBy,
                    detail: "\(expectation.app) of \(expectation.model)"
                )
            )
        }
    }

    func removeExpectation(
        of app: AppName,
        for model: ModelName,
        by label: String,
        now: UnixTime
    ) throws(RegistryError) -> Bool {
        try database.decide { () throws(RegistryError) in
            guard try database.removeExpectation(of: app, for: model) else { return false }
            try database.insert(
                RegistryEvent(
                    time: now,
                    kind: .expectationRemoved,
                    subject: label,
                    detail: "\(app) of \(model)"
                )
            )
            return true
        }
    }

    func recordEvent(_ event: RegistryEvent) throws(RegistryError) {
        try database.decide { () throws(RegistryError) in try database.insert(event) }
    }
}
