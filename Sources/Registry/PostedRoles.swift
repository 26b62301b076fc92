import Names
import RegistryAPI
import Trust

/// A role that people sign and post; the registry signs the others itself.
enum PostableRole: Hashable {
    case root
    case targets(SealiftRole)

    /// - Returns: `nil` for roles of the registry's own, and for names of no role.
    init?(_ name: String) {
        if name == "root" {
            self = .root
        } else if let role = SealiftRole(name: name), role != .hold {
            self = .targets(role)
        } else {
            return nil
        }
    }

    var roleName: RoleName {
        switch self {
        case .root: .root
        case .targets(let role): role.roleName
        }
    }

    /// Parents before what they delegate to, and `live` before `release`; also the order in the log.
    var rank: Int {
        switch self {
        case .root: 0
        case .targets(.targets): 1
        case .targets(.namespace): 2
        case .targets(.live): 3
        case .targets(.release): 4
        case .targets(.hold): 5
        }
    }
}

/// The role files of one request, each role once, parents first.
struct PostedRoles {
    struct File {
        let role: PostableRole
        let bytes: [UInt8]
    }

    let files: [File]

    /// Whose the roles are to which one of these delegates.
    let owners: [String: OwnerName]

    init(_ request: CommitRequest) throws(RegistryError) {
        guard !request.roles.isEmpty else { throw .empty }
        var files: [PostableRole: File] = [:]
        for posted in request.roles {
            guard let role = PostableRole(posted.role) else {
                throw .unpostableRole(
                    role: posted.role,
                    reason: "expected root, targets, NAMESPACE, NAMESPACE~MODEL or NAMESPACE~MODEL~live"
                )
            }
            let limit = role.roleName.maximumLength
            guard ByteCount(posted.metadata.count) <= limit else {
                throw .tooLarge(
                    what: "role \(posted.role)",
                    found: ByteCount(posted.metadata.count),
                    limit: limit
                )
            }
            guard files.updateValue(File(role: role, bytes: posted.metadata), forKey: role) == nil else {
                throw .unpostableRole(role: posted.role, reason: "it stands in the request twice")
            }
        }
        self.files = files.values.sorted { one, other in
            (one.role.rank, one.role.roleName) < (other.role.rank, other.role.roleName)
        }
        owners = request.owners
        for role in owners.keys.sorted() {
            guard let delegator = SealiftRole(name: role)?.delegator, files[.targets(delegator)] != nil else {
                throw .unpostableRole(
                    role: role,
                    reason: "its owner is named in the commit of the role that delegates to it"
                )
            }
        }
    }

    subscript(role: RoleName) -> File? { files.first { $0.role.roleName == role } }
}
