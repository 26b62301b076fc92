import CanonicalJSON
import Durable
import Manifest
import Names
import Publishing
import RegistryAPI
import Signing
import Support
import Transfer
import Trust

/// A publisher who signs an interface that the file does not have.
struct FalseInterface {
    let world: World

    private let fetcher: CurlFetcher
    private let location: RepositoryLocation
    private let key: SoftwareKey
    private let model: ModelName

    init(_ world: World) throws {
        self.world = world
        let bytes = try Durable.readFile(world.configuration, maximum: .kibibytes(64))
        let configuration = try ClientConfiguration(bytes, folder: world.scratch.path("config"))
        var transfer = TransferConfiguration()
        transfer.certificateAuthority = configuration.ca
        guard let file = configuration.tokenFile, let model = ModelName("vision/detector") else {
            throw Trouble("no token in the client configuration")
        }
        let token = try Durable.readFile(file, maximum: .kibibytes(4)).prefix { $0 > 0x20 }
        transfer.credential = Credential(origin: world.url, token: String(decoding: token, as: UTF8.self))
        fetcher = CurlFetcher(configuration: transfer)
        location = RepositoryLocation(base: world.url)
        key = try KeyFile.read("\(world.keys)/vision.pem") { () throws(PublishingError) -> [UInt8]? in nil }
        self.model = model
    }

    /// Puts the files of `honest`, a released version, into use as `version` with the interface of `other`.
    func publish(_ version: String, filesOf honest: String, interfaceOf other: String) async throws {
        let release = SealiftRole.release(model)
        let live = SealiftRole.live(model)
        var releases = try await newest(release)
        var channels = try await newest(live)
        guard let version = ModelVersion(version), let stable = ChannelName("stable") else {
            throw Trouble("no version \(version)")
        }
        var manifest = try await manifest(honest, in: releases)
        manifest.interface = try await self.manifest(other, in: releases).interface
        manifest.version = version
        let bytes = try manifest.encoded()
        releases.version += 1
        releases.targets[TargetPath(manifest.targetPath)] = TargetFile(of: bytes)
        let livePath = LiveDocument.targetPath(model: model)
        let before = try LiveDocument(canonical: try await content(livePath, in: channels), at: livePath)
        let listed = ListedVersion(version: version, manifest: SHA256.digest(of: bytes))
        let document = try before.adding(listed, to: stable).encoded()
        channels.version += 1
        channels.targets[TargetPath(livePath)] = TargetFile(of: document)
        let request = CommitRequest(
            roles: [
                CommitRequest.Role(
                    role: release.name,
                    metadata: try Authoring.envelope(signing: releases, by: [key])
                ),
                CommitRequest.Role(
                    role: live.name,
                    metadata: try Authoring.envelope(signing: channels, by: [key])
                ),
            ],
            targets: [
                CommitRequest.Target(path: manifest.targetPath, content: bytes),
                CommitRequest.Target(path: livePath, content: document),
            ]
        )
        _ = try await RegistryClient(fetcher, at: location).commit(request)
    }

    private func manifest(_ version: String, in role: TargetsDocument) async throws -> ModelManifest {
        try ModelManifest(canonical: try await content("\(model)/\(version).json", in: role))
    }

    private func newest(_ role: SealiftRole) async throws -> TargetsDocument {
        var found: TargetsDocument?
        for version in 1...50 {
            guard let bytes = try await fetch(location.metadata("\(version).\(role.name).json")) else {
                break
            }
            let value = try JSONParser.parse(bytes, maximumLength: bytes.count)
            guard let signed = value["signed"] else { break }
            found = try TargetsDocument(signed: signed, role: role.roleName)
        }
        guard let found else { throw Trouble("no role \(role)") }
        return found
    }

    private func content(_ path: String, in role: TargetsDocument) async throws -> [UInt8] {
        guard let digest = role.targets[TargetPath(path)]?.sha256,
            let bytes = try await fetch(location.target(path, digest: digest))
        else { throw Trouble("no \(path)") }
        return bytes
    }

    private func fetch(_ url: String) async throws -> [UInt8]? {
        let request = FetchRequest(url: url, maximumLength: Limits.manifest)
        guard case .bytes(let bytes, _) = try await fetcher.fetch(request) else { return nil }
        return bytes
    }
}
