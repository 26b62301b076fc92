import Durable
import Names
import Signing
import Trust

/// What the machine of a publisher or an administrator is asked: its keys and tokens.
struct PublisherExamination {
    /// The folder of keys.
    let keys: String?

    /// The trust root that the client is pinned to.
    let rootFile: String?
    let tokenFiles: [String]

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
            let here = names.filter { $0.hasSuffix(".pem.pub") }.compactMap { name in
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
        let root: RootDocument
        do { root = try Untrusted<RootDocument>(bytes).verifiedByItself().document } catch {
            return .problem("root", rootFile, error)
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
                "\(held.count) of the root keys lie here, \(threshold) are needed"
            )
        }
        return .warning(
            "root-keys",
            folder,
            "\(held.count) of the root keys lie here, and \(threshold) are enough to replace every key",
            "Give each key to its holder and delete it here, or ‘sealift root rotate’ to keys that were made by "
                + "their holders."
        )
    }
}
