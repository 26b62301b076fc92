import Arguments
import Durable
import Glibc
import Names
import SyncAgent

/// Prints a systemd unit that keeps a device's models current.
struct Unit: Command {
    static let spec = CommandSpec(
        name: "unit",
        summary: "Print a systemd unit that runs ‘sync --watch’ as a service",
        options: [
            .value("config", "FILE", "the agent.json of the service, /etc/sealift/agent.json unless given"),
            .value("directory", "DIR", "where its models lie, unless as the agent.json says"),
            .value("user", "NAME", "whom it runs as, sealift unless given"),
        ],
        example: "sealift unit --config /etc/sealift/agent.json",
        discussion:
            "Write it to /etc/systemd/system/sealift-sync.service. Its first lines say what has to be there before it "
            + "starts: the user, the trust root, the directory. It may write below the directory of its models "
            + "and nowhere else, so print it again when the agent.json names another. "
            + "‘systemctl reload’ makes it read its configuration again."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let file = context.absolute(arguments["config"] ?? "/etc/sealift/agent.json")
        let given = arguments["directory"].map { context.absolute($0) }
        let (directory, root) = try places(of: file, given, isNamed: arguments.has("config"))
        let values = [
            ("PROGRAM", "the program's own path", program()), ("CONFIG", "--config", file),
            ("DIRECTORY", "the directory", directory), ("USER", "--user", arguments["user"] ?? "sealift"),
            ("ROOT", "the root of trust", PlainText.line(root)),
        ]
        for (_, place, value) in values.dropLast() {
            let isPlain =
                value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
                && !value.contains { "\"'\\%$;".contains($0) }
            guard isPlain, !value.isEmpty else {
                throw UsageError.badValue(
                    value,
                    of: place,
                    expected: "a text without spaces, quotes and signs that systemd reads in its own way"
                )
            }
        }
        // Made by systemd, for its user, where it makes such; elsewhere by hand.
        let state = "/var/lib/"
        let own = directory.dropFirst(state.utf8.count)
        let isState = directory.hasPrefix(state) && !own.isEmpty && !own.contains("..") && !own.hasSuffix("/")
        let whole = text.replacing("<OPTIONS>", with: given == nil ? "" : " --directory <DIRECTORY>")
            .replacing("<STATE>\n", with: isState ? "StateDirectory=\(own)\nStateDirectoryMode=0755\n" : "")
            .replacing(
                "<MAKE>\n",
                with: isState ? "" : "# 3. The directory: install -d -o <USER> <DIRECTORY>\n"
            )
        Output.result(page: values.reduce(whole) { $0.replacing("<\($1.0)>", with: $1.2) })
        return .done
    }

    /// Where the service writes, and where its root of trust is: what was given, else what its file says, which must
    /// then be in order.
    ///
    /// Only the usual file need not be there yet.
    private static func places(
        of file: String,
        _ given: String?,
        isNamed: Bool
    ) throws -> (directory: String, root: String) {
        if !isNamed, try Durable.kind(of: file) == nil {
            if given == nil {
                Output.note("\(file) is not there yet; the unit is for models below /var/lib/sealift")
            }
            return (given ?? "/var/lib/sealift", "\(Durable.parent(of: file))/root.json")
        }
        var configuration = try AgentFile(path: file).configuration
        if let given { configuration.directory = given }
        do throws(SyncError) { try configuration.check() } catch {
            throw Failure(code: error.errorCode, "\(file): \(error.message)")
        }
        if let fault = configuration.models.lazy.compactMap(\.fault).first {
            throw Failure(code: fault.errorCode, "\(file): \(fault.message)")
        }
        return (configuration.directory, configuration.rootFile)
    }

    private static func program() -> String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return "/usr/bin/sealift" }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static let text = """
        # Before its first start:
        # 1. The user: useradd --system --no-create-home --shell /usr/sbin/nologin <USER>
        # 2. The root of trust, which the registry's operator hands out, readable by that user: <ROOT>
        <MAKE>
        [Unit]
        Description=Sealift: keeps the models of this device current
        Wants=network-online.target
        After=network-online.target

        [Service]
        Type=notify
        NotifyAccess=main
        ExecStart=<PROGRAM> sync --watch --config <CONFIG><OPTIONS>
        ExecReload=/bin/kill -HUP $MAINPID
        Restart=on-failure
        RestartSec=30
        RestartPreventExitStatus=2 5
        TimeoutStopSec=90
        User=<USER>
        <STATE>
        UMask=0022
        Nice=10
        IOSchedulingClass=idle

        CapabilityBoundingSet=
        LockPersonality=yes
        MemoryDenyWriteExecute=yes
        NoNewPrivileges=yes
        PrivateDevices=yes
        PrivateTmp=yes
        ProtectClock=yes
        ProtectControlGroups=yes
        ProtectHome=read-only
        ProtectHostname=yes
        ProtectKernelLogs=yes
        ProtectKernelModules=yes
        ProtectKernelTunables=yes
        ProtectProc=invisible
        ProtectSystem=strict
        ReadWritePaths=<DIRECTORY>
        RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
        RestrictNamespaces=yes
        RestrictRealtime=yes
        RestrictSUIDSGID=yes
        SystemCallArchitectures=native
        SystemCallErrorNumber=EPERM
        SystemCallFilter=@system-service

        [Install]
        WantedBy=multi-user.target
        """
}
