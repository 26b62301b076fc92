/// The greatest sizes that Sealift accepts; each may be configured downwards.
package enum Limits {
    package static let root = ByteCount(rawValue: 512_000)
    package static let timestamp = ByteCount(rawValue: 16_384)
    package static let snapshot = ByteCount(rawValue: 2_000_000)

    /// Holds also when a longer length is signed.
    package static let targets = ByteCount(rawValue: 5_000_000)

    /// Signatures of one metadata file: more than a root of greatest length has room for keys.
    package static let signatures = 4_096

    /// Root versions followed in one refresh.
    package static let rootsPerRefresh = 256

    /// Delegated roles visited in one search.
    package static let delegationsVisited = 32

    package static let manifest = ByteCount.mebibytes(1)

    /// Nesting of arrays and objects.
    package static let jsonDepth = 32

    /// One log entry (C2SP tlog-tiles: a 16-bit length).
    package static let logEntry = ByteCount(rawValue: 65_535)

    package static let file = ByteCount(rawValue: 1 << 40)
    package static let filesInVariant = 4_096
    package static let httpHead = ByteCount.kibibytes(16)
    package static let apiBody = ByteCount.mebibytes(8)
}
