import Manifest
import Names
import Registry
import RegistryAPI
import Signing
import Trust

/// A request to commit, every part of which a test may spoil before it is signed.
struct Posting {
    var roles: [SealiftRole: TargetsDocument] = [:]
    var contents: [String: [UInt8]] = [:]

    /// Who signs; other keys for single roles in `signers`.
    let key: SoftwareKey
    var signers: [SealiftRole: [any Signer]] = [:]

    /// Role files added as they are.
    var verbatim: [CommitRequest.Role] = []

    init(key: SoftwareKey) { self.key = key }

    var request: CommitRequest {
        get throws {
            var files: [CommitRequest.Role] = []
            for (role, document) in roles.sorted(by: { $0.key.name < $1.key.name }) {
                let bytes = try Authoring.envelope(signing: document, by: signers[role] ?? [key])
                files.append(CommitRequest.Role(role: role.name, metadata: bytes))
            }
            let targets = contents.sorted { $0.key < $1.key }
                .map { CommitRequest.Target(path: $0.key, content: $0.value) }
            return CommitRequest(roles: files + verbatim, targets: targets)
        }
    }

    /// Lists `content` in `role` and posts it.
    mutating func list(_ path: String, _ content: [UInt8], in role: SealiftRole) {
        contents[path] = content
        roles[role]?.targets[TargetPath(path)] = TargetFile(of: content)
    }
}

/// One published version: the manifest and what it stands for.
struct TestVersion {
    let manifest: ModelManifest
    var digest: Digest { SHA256.digest(of: manifest.canonical) }
    var listed: ListedVersion { ListedVersion(version: manifest.version, manifest: digest) }

    init(manifest: ModelManifest) { self.manifest = manifest }

    /// A version of one file of `bytes`; blocks are listed when the length asks for them.
    init(_ text: String, of model: ModelName = TestRegistry.model, bytes: [UInt8]) throws {
        let name = VariantName("cpu")
        let path = FilePath("model.bin")
        guard let name, let path else { preconditionFailure("names of the fixture") }
        var blocks: BlockListReference?
        if let list = try Self.blockList(of: bytes) {
            let reference = BlobReference(
                sha256: SHA256.digest(of: list.encoded),
                length: UInt64(list.encoded.count)
            )
            blocks = BlockListReference(size: list.plan.blockSize, list: reference)
        }
        let file = ManifestFile(
            path: path,
            length: UInt64(bytes.count),
            sha256: SHA256.digest(of: bytes),
            blocks: blocks
        )
        manifest = ModelManifest(
            model: model,
            version: version(text),
            created: TestRegistry.start,
            interface: Interface(inputs: [], outputs: [], isDeclared: true),
            variants: [Variant(name: name, format: .opaque, entry: path, files: [file])]
        )
    }

    static func blockList(of bytes: [UInt8]) throws -> BlockList? {
        guard let plan = BlockPlan.for(length: UInt64(bytes.count)) else { return nil }
        let digests = (0..<plan.blockCount).map { index in
            let range = plan.range(ofBlock: index)
            return SHA256.digest(of: Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
        }
        return try BlockList(digests, fileLength: UInt64(bytes.count))
    }
}

extension TestRegistry {
    /// The first publish of a model: namespace, live and release role in one commit.
    func firstPosting(_ first: TestVersion, now: UnixTime = start) throws -> Posting {
        var posting = Posting(key: publisher)
        let key = KeyObject(publisher.publicKey)
        let expires = now.adding(seconds: RegistryProfile.solo.offlineLifetime)
        let model = first.manifest.model
        let children = [SealiftRole.live(model), .release(model)].map { role in
            Delegation(
                name: role.name,
                keyIDs: [key.id],
                threshold: 1,
                paths: role.pattern.map { [$0] } ?? [],
                terminating: true
            )
        }
        posting.roles[.namespace(model.namespace)] = TargetsDocument(
            version: 1,
            expires: expires,
            targets: [:],
            delegations: Delegations(keys: [key], roles: children)
        )
        posting.roles[.live(model)] = TargetsDocument(version: 1, expires: expires, targets: [:])
        posting.roles[.release(model)] = TargetsDocument(version: 1, expires: expires, targets: [:])
        posting.list(first.manifest.targetPath, first.manifest.canonical, in: .release(model))
        let live = try LiveDocument(model: model).adding(first.listed, to: channel("stable"))
        posting.list(live.targetPath, live.canonical, in: .live(model))
        return posting
    }

    /// A later version, released and added to a channel.
    func nextPosting(
        after posting: Posting,
        _ next: TestVersion,
        to name: String = "stable"
    ) throws -> Posting {
        let model = next.manifest.model
        var following = Posting(key: publisher)
        for role in [SealiftRole.live(model), .release(model)] {
            guard var document = posting.roles[role] else { continue }
            document.version += 1
            following.roles[role] = document
        }
        following.list(next.manifest.targetPath, next.manifest.canonical, in: .release(model))
        let path = LiveDocument.targetPath(model: model)
        let before = try LiveDocument(canonical: posting.contents[path] ?? [])
        let live = try before.adding(next.listed, to: channel(name))
        following.list(path, live.canonical, in: .live(model))
        return following
    }

    /// Uploads a small file and publishes it as 1.0.0.
    @discardableResult
    func publishFirst() async throws -> Posting {
        let bytes = Array("weights of 1.0.0".utf8)
        _ = try await upload(bytes)
        let posting = try firstPosting(try TestVersion("1.0.0", bytes: bytes))
        _ = try await commit(posting)
        return posting
    }
}
