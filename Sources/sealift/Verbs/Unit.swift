import Arguments
import Durable
import Glibc
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
            "Write it to /etc/systemd/system/sealift-sync.service. It may write below the directory of its models "
            + "and nowhere else, so print it again when the agent.json names another. "
            + "‘systemctl reload’ makes it read its configuration again."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let file = context.absolute(arguments["config"] ?? "/etc/sealift/agent.json")
        let given = arguments["directory"].map { context.absolute($0) }
        let values = [
            ("PROGRAM", "the program's own path", program()), ("CONFIG", "--config", file),
            ("DIRECTORY", "the directory", try directory(of: file, given, isNamed: arguments.has("config"))),
            ("USER", "--user", arguments["user"] ?? "sealift"),
        ]
        for (_, place, value) in values {
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
        let whole = text.replacing("<OPTIONS>", with: given == nil ? "" : " --directory <DIRECTORY>")
        Output.result(page: values.reduce(whole) { $0.replacing("<\($1.0)>", with: $1.2) })
        return .done
    }

    /// Where the service writes: what was given, else what its file says, which must then be in order.
    ///
    /// Only the usual file need not be there yet.
    private static func directory(of file: String, _ given: String?, isNamed: Bool) throws -> String {
        if !isNamed, try Durable.kind(of: file) == nil {
            if given == nil {
                Output.note("\(file) is not there yet; the unit is for models below /var/lib/sealift")
            }
            return given ?? "/var/lib/sealift"
        }
        var configuration = try AgentFile(path: file).configuration
        if let given { configuration.directory = given }
        do throws(SyncError) { try configuration.check() } catch {
            throw Failure(code: error.errorCode, "\(file): \(error.message)")
        }
        return configuration.directory
    }

    private static func program() -> String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { return "/usr/bin/sealift" }
        return String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static let text = """
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
