import Blocking
import Durable
import Names

/// What a library knows of its record's file.
struct RecordKeeping {
    /// The counts that are in the file already.
    var saved: [String: LibraryRecord.Model] = [:]

    /// The save that ends last.
    var last: Task<Void, Never>?

    /// Why the last save failed; `nil` when it did not.
    var failure: LibraryRecordError?
}

/// One save: what happened since the one before, added to what the file says.
struct RecordSave: Sendable {
    let file: String
    let news: [LibraryRecord.Model]
    let costs: MemoryCosts

    init?(
        _ metrics: [ModelMetrics],
        since saved: [String: LibraryRecord.Model],
        costs: MemoryCosts,
        to file: String?
    ) {
        guard let file else { return nil }
        self.file = file
        self.costs = costs
        news = metrics.map { LibraryRecord.Model($0).less(saved[$0.model]) }
    }

    /// Writes the file; may block.
    ///
    /// - Returns: Why not.
    func write() -> LibraryRecordError? {
        do throws(LibraryRecordError) {
            var record = try LibraryRecord.load(file) ?? LibraryRecord(models: [], costs: MemoryCosts())
            record.add(news, costs)
            try record.write(to: file)
            return nil
        } catch {
            return error
        }
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

    private func writeRecord() async {
        isSaveDue.withLock { $0 = false }
        let metrics = metrics()
        guard let save = RecordSave(metrics, since: keeping.saved, costs: costs, to: configuration.recordFile)
        else { return }
        let failure = await BlockingPool.shared.run { save.write() }
        if failure == nil {
            for metrics in metrics { keeping.saved[metrics.model] = LibraryRecord.Model(metrics) }
        } else if let failure, failure != keeping.failure {
            tell(.recordNotKept(file: save.file, reason: failure.description))
        }
        keeping.failure = failure
    }
}
