import Arguments
import Glibc

/// Prints a systemd unit that keeps a device's models current.
struct Unit: Command {
    static let spec = CommandSpec(
        name: "unit",
        summary: "Print a systemd unit that runs ‘sync --watch’ as a service",
        options: [
            .value("config", "FILE", "the agent.json of the service, /etc/sealift/agent.json unless given"),
            .value("directory", "DIR", "where its models lie, /var/lib/sealift unless given"),
            .value("user", "NAME", "whom it runs as, sealift unless given"),
        ],
        example: "sealift unit --config /etc/sealift/agent.json",
        discussion:
            "Write it to /etc/systemd/system/sealift-sync.service. It may write below DIR and nowhere else. "
            + "‘systemctl reload’ makes it read its configuration again."
    )

    static func run(_ arguments: ParsedArguments, _ context: Context) async throws -> ExitCode {
        let values = [
            "PROGRAM": program(),
            "CONFIG": context.absolute(arguments["config"] ?? "/etc/sealift/agent.json"),
            "DIRECTORY": context.absolute(arguments["directory"] ?? "/var/lib/sealift"),
            "USER": arguments["user"] ?? "sealift",
        ]
        for (name, value) in values {
            let isPlain =
                value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
                && !value.contains { "\"'\\%$;".contains($0) }
            guard isPlain, !value.isEmpty else {
                throw UsageError.badValue(
                    value,
                    of: name == "PROGRAM" ? "the program's own path" : "--\(name.lowercased())",
                    expected: "a text without spaces, quotes and signs that systemd reads in its own way"
                )
            }
        }
        Output.result(page: values.reduce(text) { $0.replacing("<\($1.key)>", with: $1.value) })
        return .done
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
        ExecStart=<PROGRAM> sync --watch --config <CONFIG> --directory <DIRECTORY>
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
