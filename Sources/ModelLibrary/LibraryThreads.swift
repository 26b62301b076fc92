import Blocking

/// Threads of the libraries of this process, apart from those of everybody else and by what may hold them up.
///
/// A disk that does not answer, or an engine that does not come back, then
/// holds up neither a call of a model nor each other.
enum LibraryThreads {
    /// For looks at device directories.
    static let looks = BlockingPool(width: 16)

    /// For files: versions that are opened, golden vectors, records.
    static let files = BlockingPool(width: 8)

    /// For questions about memory.
    static let memory = BlockingPool(width: 4)

    /// For engines that free models.
    static let engines = BlockingPool(width: 8)
}
