import Durable
import Names
import TLS
import Transfer

/// What lies between this machine and its registries: proxy, authority, name, connection.
struct NetworkExamination {
    let registries: [String]
    let caFile: String?
    let fetcher: CurlFetcher
    let environment: [String: String]
    let now: UnixTime

    func findings() async -> [Finding] {
        var findings = [authority()]
        for registry in registries {
            findings.append(proxy(registry))
            findings.append(await reach(registry))
        }
        if registries.isEmpty {
            findings.append(
                .warning(
                    "registry",
                    "configuration",
                    "no registry is known",
                    "Give --registry URL, or --config FILE."
                )
            )
        }
        return findings
    }

    private func authority() -> Finding {
        guard let caFile else { return .good("ca", "authorities", "those of the system") }
        do throws(DurableError) {
            let pem = try Durable.readFile(caFile, maximum: .mebibytes(1))
            guard let expiry = DevelopmentCA.expiry(ofCertificatePEM: pem) else {
                return .problem(
                    "ca",
                    caFile,
                    "it holds no certificate",
                    "Give the PEM file that the registry's operator hands out: --ca FILE"
                )
            }
            return Self.life(
                "ca",
                caFile,
                until: expiry,
                now,
                "Get the new one from the registry's operator."
            )
        } catch {
            return .problem("ca", caFile, error)
        }
    }

    private func proxy(_ registry: String) -> Finding {
        switch ProxyChoice(for: registry, environment: environment) {
        case .direct: .good("proxy", registry, "none")
        case .proxy(let address, let variable): .good("proxy", registry, "\(address), by \(variable)")
        case .exempt(let variable): .good("proxy", registry, "none for this host, by \(variable)")
        case .malformed(let variable):
            .problem("proxy", registry, FetchError.refused(.proxy(variable: variable), url: registry))
        }
    }

    private func reach(_ registry: String) async -> Finding {
        let url = RepositoryLocation(base: registry).metadata("timestamp.json")
        do throws(FetchError) {
            let request = FetchRequest(url: url, maximumLength: Limits.timestamp)
            guard case .bytes = try await fetcher.fetch(request) else {
                return .problem(
                    "registry",
                    registry,
                    "it answers, and has no metadata",
                    "Compare the address with the one that ‘sealift serve’ printed; a mirror may be empty."
                )
            }
            return .good("registry", registry, "name, connection and certificate are as they should be")
        } catch {
            return .problem("registry", registry, error)
        }
    }

    /// How long something lives; too short a rest is told in time.
    static func life(
        _ check: String,
        _ subject: String,
        until expiry: UnixTime,
        _ now: UnixTime,
        _ remedy: String
    ) -> Finding {
        let days = expiry.seconds(since: now) / 86_400
        if expiry <= now { return .problem(check, subject, "it expired at \(expiry)", remedy) }
        if days < 7 { return .problem(check, subject, "it expires at \(expiry), in \(days) days", remedy) }
        if days < 30 { return .warning(check, subject, "it expires at \(expiry), in \(days) days", remedy) }
        return .good(check, subject, "valid until \(expiry)")
    }
}
