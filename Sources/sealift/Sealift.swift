import Arguments
import CLinux
import Durable
import Glibc
import Names

/// The command line: finds the verb, runs it, and turns whatever ends it into one line and one exit code.
@main
struct Sealift {
    static let version = "0.1.0"

    static var commands: [any Command.Type] {
        [
            Init.self, Serve.self, Keygen.self, Inspect.self, Publish.self, Sync.self, Status.self, Why.self,
            Path.self, Run.self, Verify.self, Confirm.self, Rollback.self, Pin.self, Unpin.self,
            QuarantineList.self, QuarantineClear.self, Collect.self, Infer.self, LibraryStatus.self,
            History.self, ChannelSet.self, ChannelAdd.self,
            ChannelRemove.self, Rollout.self, Yank.self, Recall.self, Unyank.self, Floor.self,
            HoldList.self, Hold.self, Unhold.self, Deny.self,
            NamespaceAdd.self, NamespaceKeys.self, ModelAdd.self, ModelKeys.self,
            RootRotate.self, KeyRevoke.self,
            SettingsShow.self, SettingsSet.self,
            MetadataStatus.self, MetadataRefresh.self, RoleExport.self, RoleSign.self, RoleImport.self,
            TokenCreate.self, TokenList.self, TokenRevoke.self, Expectations.self, Compat.self,
            Schema.self, Errors.self, Config.self, Unit.self, Doctor.self,
        ]
    }

    /// Not `async`: a service's signals must be blocked before the first thread starts, so that each inherits it.
    static func main() {
        Output.openStandardStreams()
        signal(SIGPIPE, SIG_IGN)
        let words = Context.words
        // Before anything starts a thread.
        if words.first == ReadModel.name { ReadModel.main() }
        if words.first == RunChecks.name { RunChecks.main(words) }
        do { try OpenFiles.check() } catch { exit(tell(error, words).rawValue) }
        let context = Context()
        // These two have many busy threads. All others start faster with one heap, which grows in large steps.
        if words.first != Serve.spec.name, words.first != Infer.spec.name { clinux_use_one_heap() }
        if words.first == Serve.spec.name || words.first == Sync.spec.name && words.contains("--watch") {
            Signals.block()
        }
        Task.detached { @Sendable in
            var code = await run(words, context)
            if code == .done, let failure = Output.failure {
                Output.note("sealift: \(failure.line)")
                code = failure.code
            }
            // Not exit(3): a thread may still be opening a library, and may not see OpenSSL taken apart below it.
            // Nothing waits in a buffer, since every line was written by write(2).
            _exit(code.rawValue)
        }
        while true { pause() }
    }

    private static func run(_ words: [String], _ context: Context) async -> ExitCode {
        do {
            try checkText(words, context)
            // ‘help publish’ asks for what ‘publish --help’ shows.
            let isAsking = (2...3).contains(words.count) && words[0] == "help"
            let words = isAsking ? Array(words.dropFirst()) + ["--help"] : words
            guard let name = words.first, name != "--help", name != "-h", name != "help" else {
                Output.result(page: Help.overview(of: commands.map { $0.spec }, version: version))
                return words.isEmpty ? .usage : .done
            }
            guard name != "--version" else {
                Output.result("sealift \(version)")
                return .done
            }
            // ‘channel set’ is one name of two words.
            let phrase = words.prefix(2).joined(separator: " ")
            guard let command = commands.first(where: { [name, phrase].contains($0.spec.name) }) else {
                let group = commands.map { $0.spec }.filter { $0.name.hasPrefix(name + " ") }
                guard let first = group.first else {
                    throw UsageError.unknownCommand(name, suggestion: nearest(to: name))
                }
                // ‘channel’ alone, or with nothing but a wish for help, asks which there are.
                if words.count == 1 || ["--help", "-h"].contains(words[1]) {
                    Output.result(page: Help.group(name, of: group))
                    return words.count == 1 ? .usage : .done
                }
                let near = nearest(to: phrase).flatMap { $0.hasPrefix(name + " ") ? $0 : nil }
                throw UsageError.unknownCommand(phrase, suggestion: near ?? first.name)
            }
            let length = command.spec.name.split(separator: " ").count
            let arguments = try ParsedArguments(
                Array(words.dropFirst(length)),
                for: command.spec,
                environment: context.environment
            )
            guard !arguments.wantsHelp else {
                Output.result(page: Help.page(for: command.spec))
                return .done
            }
            return try await command.run(arguments, context)
        } catch {
            return tell(error, words)
        }
    }

    /// Says what ended a call.
    private static func tell(_ error: any Error, _ words: [String]) -> ExitCode {
        let failure = Failure(describing: error)
        Output.note("sealift: \(failure.line)\(failure.rows.isEmpty ? "" : ":")")
        for row in failure.rows { Output.note("  \(row)") }
        if words.prefix(while: { $0 != "--" }).contains("--json") {
            Output.result(bytes: failure.report.bytes)
        }
        return failure.code
    }

    /// Bytes that are no text have become replacement characters by now, and would name another file.
    private static func checkText(_ words: [String], _ context: Context) throws(UsageError) {
        let settings = context.environment.filter { $0.key.hasPrefix("SEALIFT_") }.map {
            "\($0.key)=\($0.value)"
        }
        guard let word = (words + settings).first(where: { $0.unicodeScalars.contains("\u{FFFD}") }) else {
            return
        }
        throw .refused("‘\(Shown.short(word))’ is not UTF-8; give names and paths in UTF-8")
    }

    private static func nearest(to name: String) -> String? {
        let names = commands.map { $0.spec.name }
        return names.first { $0.hasPrefix(name) } ?? names.first { $0.hasPrefix(name.prefix(3)) }
    }
}
