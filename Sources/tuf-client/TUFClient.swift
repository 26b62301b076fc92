import Blocking
import Durable
import Glibc
import Names

/// A plain TUF client with the command line of the public conformance suite.
///
/// Rules are in `Trust`, transport in `Transfer`; here is only what joins them.
/// The exit code is 0 when everything asked for was done, and 1 otherwise.
@main
struct TUFClient {
    static func main() {
        signal(SIGPIPE, SIG_IGN)
        do { try OpenFiles.check() } catch {
            write("tuf-client: \(error)\n", to: STDERR_FILENO)
            exit(1)
        }
        Task.detached { @Sendable in exit(await run(words)) }
        while true { pause() }
    }

    private static func run(_ words: [String]) async -> Int32 {
        do {
            let invocation = try Invocation(words)
            try await Client(invocation, now: MachineClock.now).run(invocation.command)
            return 0
        } catch Refusal.help {
            write(Invocation.help, to: STDOUT_FILENO)
            return 0
        } catch {
            write("tuf-client: \(error)\n", to: STDERR_FILENO)
            return 1
        }
    }

    /// The words of this call, without the program's own name.
    ///
    /// The runtime's list is empty when a preloaded library has got in its way,
    /// as libfaketime does; the kernel's copy is then read.
    private static var words: [String] {
        guard CommandLine.arguments.isEmpty else { return Array(CommandLine.arguments.dropFirst()) }
        let kernels = try? Durable.readFile("/proc/self/cmdline", maximum: .mebibytes(4))
        let words = (kernels ?? []).split(separator: 0, omittingEmptySubsequences: false).dropLast()
        return words.dropFirst().map { String(decoding: $0, as: UTF8.self) }
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

/// Why nothing was done, besides what `Trust` and `Transfer` say.
enum Refusal: Error, CustomStringConvertible {
    case help
    case usage(String)

    /// The repository lists no such target.
    case noSuchTarget(String)

    /// A target whose name leads out of the repository's folder.
    case leadsOutside(String)

    /// `init` has not been run, or the folder is pinned to another root.
    case notInitialised(directory: String)
    case pinnedToAnother(directory: String)

    var description: String {
        switch self {
        case .help: ""
        case .usage(let sentence): "\(sentence); ‘tuf-client --help’ shows the options"
        case .noSuchTarget(let name): "no role lists the target \(name)"
        case .leadsOutside(let name): "the target \(name) has a name that leads out of its folder"
        case .notInitialised(let directory):
            "\(directory) has no pinned root: run ‘tuf-client --metadata-dir \(directory) init TRUSTED_ROOT’"
        case .pinnedToAnother(let directory):
            "\(directory) is pinned to another root; to start anew, use an empty folder"
        }
    }
}
