import Arguments
import Generations
import Glibc
import Names
import SyncAgent

/// Runs a program that uses a model, with the version it uses kept in place.
struct Run: Command {
    static let spec = CommandSpec(
        name: "run",
        summary: "Run a program with a model's active version, which stays as long as the program runs",
        positions: [.required("NS/MODEL"), .several("COMMAND")],
        options: [SharedOption.directory],
        example: "sealift run vision/detector --directory models -- sh -c 'ls \"$SEALIFT_MODEL_DIR\"'",
        discussion:
            "The program takes this one's place and gets SEALIFT_MODEL_DIR, SEALIFT_MODEL_ENTRY and "
            + "SEALIFT_MODEL_VERSION; its exit code is the exit code. Where the model was synced with --confirm, this "
            + "counts as a start of its app: after one too many without ‘sealift confirm’, the device falls back first. "
            + "A program that cannot be started counts as none."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let model = try Device.model(arguments)
        let command = Array(arguments.positions.dropFirst())
        let program = try path(of: command[0])
        let device = try Device.synced(arguments)
        let start = try device.start(of: "\(model)")
        if let left = start.left { Output.note("sealift: \(left)") }
        let (active, lease) = try leased(model, arguments)
        lease.keepAcrossExecution()
        // So that a library in the program does not count this start a second time.
        CountedStart.note(model)
        setenv("SEALIFT_MODEL_DIR", active.directory, 1)
        setenv("SEALIFT_MODEL_ENTRY", active.openedPath, 1)
        setenv("SEALIFT_MODEL_VERSION", active.version.description, 1)
        let code = withExtendedLifetime(lease) { execute(program, command) }
        device.takeBack(start)
        throw refusal(command[0], code)
    }

    /// The program that `name` means, as a shell would find it.
    ///
    /// Looked for before the start is counted.
    private static func path(of name: String) throws -> String {
        let isPath = name.utf8.contains(UInt8(ascii: "/"))
        let folders = getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin"
        // An empty one is the working directory.
        let places = folders.split(separator: ":", omittingEmptySubsequences: false).map { folder in
            folder.isEmpty ? "./\(name)" : "\(folder)/\(name)"
        }
        var code = ENOENT
        for path in isPath ? [name] : places {
            var status = stat()
            guard stat(path, &status) == 0 else {
                if isPath { code = errno }
                continue
            }
            if status.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0 { return path }
            code = EACCES
        }
        throw refusal(name, code)
    }

    private static func refusal(_ name: String, _ code: Int32) -> Failure {
        Failure(.usage, "could not run ‘\(name)’: \(String(cString: strerror(code)))")
    }

    /// The active version with a lease on it; one that is just being collected has a successor.
    private static func leased(
        _ model: ModelName,
        _ arguments: ParsedArguments
    ) throws -> (ActiveModel, DirectoryLease) {
        for _ in 0..<8 {
            let active = try Device.activeModel(arguments)
            if let lease = try active.lease() { return (active, lease) }
        }
        throw Failure(.temporary, "\(model) is replaced faster than it can be held; try again")
    }

    /// Becomes another program.
    ///
    /// - Returns: Why not.
    private static func execute(_ program: String, _ command: [String]) -> Int32 {
        signal(SIGPIPE, SIG_DFL)
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        execvp(program, &words)
        return errno
    }
}
