import Durable
import Names
import Registry
import RegistryStoreSQLite
import TLS

/// What a registry's directory is asked, on its own machine; `serve` may be running on it.
struct RegistryExamination {
    let directory: String
    let context: Context

    func findings() -> [Finding] {
        let layout = RegistryLayout(context.absolute(directory))
        do throws(DurableError) {
            guard try Durable.kind(of: layout.database) != nil else {
                return [
                    .problem(
                        "registry-directory",
                        layout.directory,
                        "there is no registry: it has no registry.db",
                        "Give the directory that ‘sealift init’ made; a device's is given with --directory."
                    )
                ]
            }
        } catch {
            return [.problem("registry-directory", layout.directory, error)]
        }
        var findings = [HostExamination.space(at: layout.directory, reserve: 1 << 30, layout.directory)]
        for key in [layout.onlineKey, layout.logKey, layout.serverKey, layout.caKey, layout.database] {
            if let finding = HostExamination.privateFile(key) { findings.append(finding) }
        }
        findings.append(certificate(layout))
        let open: OpenRegistry
        do {
            // Opening it would bring it up to date, and looking changes nothing.
            let pending = try SQLiteRegistryStore.pendingMigrations(path: layout.database)
            guard pending.isEmpty else {
                return findings + [
                    .warning(
                        "database",
                        layout.database,
                        "it was made by an older program and lacks \(pending.joined(separator: ", "))",
                        "The next ‘sealift serve’ makes a backup and brings it up to date; then look again."
                    )
                ]
            }
            open = try OpenRegistry(directory, context)
            let problems = try open.store.integrityProblems()
            guard problems.isEmpty else {
                return findings + [
                    .problem(
                        "database",
                        layout.database,
                        problems.prefix(5).joined(separator: "; "),
                        "Stop ‘serve’, keep a copy of the damaged files, and restore the last backup."
                    )
                ]
            }
            findings.append(.good("database", layout.database, "SQLite finds it whole"))
        } catch {
            return findings + [.problem("database", layout.database, error)]
        }
        do {
            for life in try open.registry().lives() { findings.append(role(life)) }
        } catch {
            findings.append(.problem("online-key", layout.onlineKey, error))
        }
        return findings
    }

    private func role(_ life: RoleLife) -> Finding {
        let subject = "role \(life.role)"
        guard ["timestamp", "snapshot", "sealift~hold"].contains(life.role) else {
            return NetworkExamination.life(
                "role",
                subject,
                until: life.expires,
                context.now,
                "Its key holders sign it again: ‘sealift metadata refresh --expiring 60d’."
            )
        }
        guard life.expires > context.now else {
            return .problem(
                "role",
                subject,
                "it expired at \(life.expires)",
                "‘sealift serve’ signs it again as soon as it runs; if it does run, look at what it prints."
            )
        }
        return .good("role", subject, "valid until \(life.expires), signed again by ‘serve’")
    }

    private func certificate(_ layout: RegistryLayout) -> Finding {
        do throws(DurableError) {
            let pem = try Durable.readFile(layout.serverCertificate, maximum: .mebibytes(1))
            guard let expiry = DevelopmentCA.expiry(ofCertificatePEM: pem) else {
                return .problem(
                    "certificate",
                    layout.serverCertificate,
                    "it holds no certificate",
                    "Put the server's certificate chain there, PEM."
                )
            }
            let renews = try Durable.kind(of: layout.caKey) != nil
            return NetworkExamination.life(
                "certificate",
                layout.serverCertificate,
                until: expiry,
                context.now,
                renews
                    ? "‘sealift serve’ renews it as soon as it runs."
                    : "Get a new one from your authority, put it there, and send ‘serve’ a SIGHUP."
            )
        } catch {
            return .problem("certificate", layout.serverCertificate, error)
        }
    }
}
