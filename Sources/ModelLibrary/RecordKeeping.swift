import Blocking
import Durable
import Names

/// What a library knows of its record's file.
struct RecordKeeping {
    /// What one library learned and the file does not say yet.
    struct News: Sendable {
        var costs = MemoryCosts()
        var proven = ProvenVersions()
    }

    /// The counts that are in the file already.
    var saved: [String: LibraryRecord.Model] = [:]
    var news = News()

    /// What the file says, once somebody asked; answered when it is taken over.
    var reading: Answer<Void>?

    /// The save that ends last.
    var last: Task<Void, Never>?

    /// Why the last save failed; `nil` when it did not.
    var failure: LibraryRecordError?
}

/// One save: what happened since the one before, added to what the file says.
struct RecordSave: Sendable {
    let file: String
    let counts: [LibraryRecord.Model]
    let news: RecordKeeping.News

    /// The longest that another writer is waited for, in seconds; what is not written comes with the next save.
    private static let patience = 5.0

    init?(
        _ metrics: [ModelMetrics],
        since saved: [String: LibraryRecord.Model],
        _ news: RecordKeeping.News,
        to file: String?
    ) {
        guard let file else { return nil }
        self.file = file
        self.news = news
        counts = metrics.map { LibraryRecord.Model($0).less(saved[$0.model]) }
    }

    /// Writes the file; may block.
    ///
    /// What is read must be what is replaced, so that of two writers, in one
    /// process or in two, neither loses what the other counted: a lock beside
    /// the file sees to that.
    ///
    /// - Returns: Why not.
    func write() -> LibraryRecordError? {
        do throws(LibraryRecordError) {
            // What is no record gets no lock beside it either.
            _ = try LibraryRecord.load(file)
            let lock = try lock()
            defer { withExtendedLifetime(lock) {} }
            var record = try LibraryRecord.load(file) ?? LibraryRecord(models: [], costs: MemoryCosts())
            record.add(counts, news.costs, news.proven)
            try record.write(to: file)
            return nil
        } catch {
            return error
        }
    }

    private func lock() throws(LibraryRecordError) -> DirectoryLock {
        do { return try DirectoryLock(file + ".lock", waiting: Self.patience) } catch { throw .disk(error) }
    }
}

extension ModelLibrary {
    /// How long a use waits to be written down.
    static let saveDelay = Duration.seconds(30)

    /// Writes the record now, if the configuration names a file; call it before the process ends.
    ///
    /// A disk that takes none is no failure: an event tells it, and what is not
    /// written yet comes with the next save. Of several processes that share a
    /// file each adds what it counted.
    public func saveRecord() async {
        guard configuration.recordFile != nil else { return }
        // One after the other, so that nothing is counted twice.
        let before = keeping.last
        let save = Task {
            await before?.value
            await self.writeRecord()
        }
        keeping.last = save
        await save.value
    }

    /// Why the record is not in its file; `nil` when it is, or none is kept.
    package var recordFailure: LibraryRecordError? { keeping.failure }

    /// Writes the record a little later; of many uses until then the first alone costs anything.
    nonisolated func saveSoon() {
        guard configuration.recordFile != nil else { return }
        let isFirst = isSaveDue.withLock { isDue in
            defer { isDue = true }
            return !isDue
        }
        guard isFirst else { return }
        let clock = clock
        Task { [weak self] in
            guard (try? await clock.sleep(until: clock.now + Self.saveDelay)) != nil else { return }
            await self?.saveRecord()
        }
    }

    /// Takes over what earlier runs learned, once; a disk that does not answer holds up no load.
    func readRecord() async {
        guard let file = configuration.recordFile else { return }
        let reading = keeping.reading ?? Answer<Void>()
        if keeping.reading == nil {
            keeping.reading = reading
            Task {
                let record = await LibraryThreads.files.run { LibraryRecord.read(file) }
                if let record {
                    costs = record.costs.followed(by: costs)
                    proven = record.proven.followed(by: proven)
                }
                reading.give(.success(()))
            }
        }
        _ = try? await reading.value(by: clock.now + .seconds(2), clock)
    }

    private func writeRecord() async {
        isSaveDue.withLock { $0 = false }
        let (metrics, news) = (metrics(), keeping.news)
        guard let save = RecordSave(metrics, since: keeping.saved, news, to: configuration.recordFile)
        else { return }
        keeping.news = RecordKeeping.News()
        let failure = await LibraryThreads.files.run { save.write() }
        if failure == nil {
            for metrics in metrics { keeping.saved[metrics.model] = LibraryRecord.Model(metrics) }
        } else {
            keeping.news.costs = news.costs.followed(by: keeping.news.costs)
            keeping.news.proven = news.proven.followed(by: keeping.news.proven)
        }
        if let failure, failure != keeping.failure {
            tell(.recordNotKept(file: save.file, reason: failure.description))
        }
        keeping.failure = failure
    }
}
