import Names

/// The words of one call.
///
/// Options stand before or after the command.
struct Invocation {
    enum Command {
        case initialise(trustedRoot: String)
        case refresh
        case download
    }

    let command: Command
    let metadataDirectory: String

    /// Absent only for `init`.
    let metadataURL: String?
    let targetNames: [String]
    let targetDirectory: String?
    let targetBaseURL: String?
    let certificateAuthority: String?
    let targetsLimit: ByteCount

    static let help = """
        tuf-client: a TUF 1.0 client.

          tuf-client --metadata-dir DIR init TRUSTED_ROOT
          tuf-client --metadata-dir DIR --metadata-url URL refresh
          tuf-client --metadata-dir DIR --metadata-url URL --target-name NAME [--target-name NAME …]
                     --target-dir DIR --target-base-url URL download

        Options:
          --metadata-dir DIR      trusted metadata, as received; nothing else in it ends in .json
          --metadata-url URL      where metadata is; http only for this machine itself
          --target-name NAME      a target to look up, download and verify (repeatable)
          --target-dir DIR        where downloads go, each under its percent-encoded name
          --target-base-url URL   where targets are
          --targets-limit BYTES   the longest targets file to read, 5000000 unless given, at most 32000000
          --ca FILE               the only certificate authorities to trust, PEM

        The exit code is 0 when all of it was done, and 1 otherwise.

        """

    /// The most that `--targets-limit` may ask for.
    private static let greatestTargetsLimit: UInt64 = 32_000_000

    init(_ words: [String]) throws(Refusal) {
        let known = [
            "--metadata-dir", "--metadata-url", "--target-name", "--target-dir", "--target-base-url",
            "--targets-limit", "--ca",
        ]
        var values: [String: [String]] = [:]
        var positions: [String] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            guard word != "--help", word != "-h" else { throw .help }
            guard word.hasPrefix("--") else {
                positions.append(word)
                continue
            }
            let halves = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(halves[0])
            guard known.contains(name) else { throw .usage("there is no option \(name)") }
            guard let value = halves.count == 2 ? String(halves[1]) : rest.popFirst() else {
                throw .usage("\(name) needs a value")
            }
            guard values[name] == nil || name == "--target-name" else {
                throw .usage("\(name) may be given once only")
            }
            values[name, default: []].append(value)
        }
        metadataURL = values["--metadata-url"]?.first
        targetNames = values["--target-name"] ?? []
        targetDirectory = values["--target-dir"]?.first
        targetBaseURL = values["--target-base-url"]?.first
        certificateAuthority = values["--ca"]?.first
        guard let directory = values["--metadata-dir"]?.first, !directory.isEmpty else {
            throw .usage("--metadata-dir is missing")
        }
        metadataDirectory = directory
        let limit = values["--targets-limit"]?.first ?? String(Limits.targets.rawValue)
        guard let bytes = UInt64(limit), (1...Self.greatestTargetsLimit).contains(bytes) else {
            throw .usage("--targets-limit: expected 1 to \(Self.greatestTargetsLimit) bytes, found \(limit)")
        }
        targetsLimit = ByteCount(rawValue: bytes)
        switch (positions.first, positions.count) {
        case ("init", 2): command = .initialise(trustedRoot: positions[1])
        case ("refresh", 1): command = .refresh
        case ("download", 1):
            guard !targetNames.isEmpty, targetDirectory != nil, targetBaseURL != nil else {
                throw .usage("download needs --target-name, --target-dir and --target-base-url")
            }
            command = .download
        default: throw .usage("expected ‘init TRUSTED_ROOT’, ‘refresh’ or ‘download’ and nothing behind it")
        }
        if case .initialise = command { return }
        guard metadataURL != nil else { throw .usage("--metadata-url is missing") }
    }
}
