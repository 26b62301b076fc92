import Arguments
import Durable
import Names
import Publishing
import RegistryAPI
import Signing
import Trust

/// What the machine of a publisher or an administrator is asked: its keys and tokens.
struct PublisherExamination {
    /// The folder of keys.
    let keys: String?

    /// The trust root that the client is pinned to.
    let rootFile: String?

    /// The newest root that the client has seen, which may name other keys than the pinned one.
    let newestRoot: [UInt8]?
    let tokenFiles: [String]

    /// Asks the registry whether it still takes the tokens; an outage is for others to report.
    static func tokens(_ arguments: ParsedArguments, _ context: Context) async -> [Finding] {
        var findings: [Finding] = []
        var seen: Set<String> = []
        for authority in [ClientSession.Authority.publisher, .administrator] {
            guard let session = try? ClientSession(arguments, context, asking: authority),
                let file = session.tokenFile, seen.insert(file).inserted
            else { continue }
            do {
                _ = try await session.registryClient().owners()
                findings.append(.good("token", file, "the registry takes it"))
            } catch PublishingError.token(let problem, _) {
                findings.append(
                    .problem(
                        "token",
                        file,
                        "the registry does not take it: \(problem.detail)",
                        "On the registry's machine: ‘sealift token list DIR’ shows until when each is valid, ‘sealift "
                            + "token create DIR FILE’ makes another."
                    )
                )
            } catch { continue }
        }
        return findings
    }

    func findings() -> [Finding] {
        var findings = tokenFiles.compactMap { HostExamination.privateFile($0) }
        guard let keys else { return findings }
        do throws(DurableError) {
            guard try Durable.kind(of: keys) == .directory else {
                return findings + [
                    .warning(
                        "keys",
                        keys,
                        "the folder of keys is not there",
                        "Name it in the configuration: ‘keys’."
                    )
                ]
            }
            let names = try Durable.names(in: keys).sorted()
            findings += names.filter { $0.hasSuffix(".pem") }.compactMap {
                HostExamination.privateFile("\(keys)/\($0)")
            }
            // A public half alone is a key that is somewhere else.
            let here = names.filter { $0.hasSuffix(".pem.pub") && names.contains(String($0.dropLast(4))) }
                .compactMap {
                    name in
                    (try? Durable.readFile("\(keys)/\(name)", maximum: .kibibytes(64)))
                        .flatMap { PublicKey(pem: String(decoding: $0, as: UTF8.self)) }
                }
            if let rootFile { findings.append(try rootKeys(Set(here), keys, rootFile)) }
        } catch {
            findings.append(.problem("keys", keys, error))
        }
        return findings
    }

    /// Keys that are to be held by several people are worth nothing while they lie in one place.
    private func rootKeys(
        _ here: Set<PublicKey>,
        _ folder: String,
        _ rootFile: String
    ) throws(DurableError) -> Finding {
        let bytes = try Durable.readFile(rootFile, maximum: Limits.root)
        var root: RootDocument
        do { root = try Untrusted<RootDocument>(bytes).verifiedByItself().document } catch {
            return .problem("root", rootFile, error)
        }
        if let newestRoot, let newest = try? Untrusted<RootDocument>(newestRoot).verifiedByItself().document,
            newest.version > root.version
        {
            root = newest
        }
        let role = root.roles[.root]
        let held = (role?.keyIDs ?? []).filter { id in
            root.keys[id]?.publicKey.map { here.contains($0) } ?? false
        }
        let threshold = role?.threshold ?? 1
        guard threshold > 1, held.count >= threshold else {
            return .good(
                "root-keys",
                folder,
                "\(held.count) of the keys of root \(root.version) lie here, \(threshold) must sign"
            )
        }
        return .warning(
            "root-keys",
            folder,
            "\(held.count) of the keys of root \(root.version) lie here, and \(threshold) are enough to replace every key",
            "Give each key to its holder and delete it here, or ‘sealift root rotate’ to keys that were made by "
                + "their holders."
        )
    }
}
