import Glibc

/// How often a test repeats what chance decides.
///
/// `make test` runs a short form; `make soak` sets SEALIFT_SOAK=1 and takes the
/// time it takes. What chance decides prints its seed.
package enum Soak {
    package static let isWhole = getenv("SEALIFT_SOAK").map { String(cString: $0) == "1" } ?? false

    /// The number of rounds of this run.
    package static func rounds(_ short: Int, whole: Int) -> Int { isWhole ? whole : short }

    /// A seed of its own for each run, or SEALIFT_SEED.
    package static let seed: UInt64 = {
        let wanted = getenv("SEALIFT_SEED").flatMap { UInt64(String(cString: $0)) }
        return wanted ?? UInt64.random(in: 0 ... .max)
    }()
}
