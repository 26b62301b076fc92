package import Durable
package import RegistryAPI
package import Signing
package import Transfer

/// Why a version, a key or a configuration did not become what was asked.
///
/// Nothing was published: the registry takes a commit whole or not at all.
package enum PublishingError: Error, Sendable {
    /// The client configuration is not one.
    case configuration(String)

    /// A key could not be used; the sentence never holds the key.
    case key(path: String, SigningError)

    /// A program that signs did not do so.
    case signer(command: String, reason: String)

    /// A file of this machine could not be read or written.
    case file(DurableError)

    /// The model's files, or what was said of them, cannot be published.
    case unpublishable(String)

    /// A model does not reproduce its own golden vectors.
    case checks(String)

    /// A version that changes more than may be; a line for each change.
    case breaking(String, rows: [String])

    /// Too few of the keys that count have signed; each line says who must sign what.
    ///
    /// `option` is the one by which keys are given.
    case unsigned([String], option: String)

    /// Others published all the time, so that no commit was built on a state that still stood.
    case overtaken(times: Int, what: String)

    /// The call makes no sense.
    case usage(String)

    /// The registry's signed state was not accepted.
    case chain(UpdateError)

    /// A transfer did not end well.
    case transfer(FetchError)

    /// The registry does not know the token that was shown, or none was.
    case token(Problem, file: String?)

    /// The registry said no, and why.
    case problem(Problem, status: Int)
}

extension PublishingError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .configuration(let reason):
            "the client configuration cannot be used: \(reason); ‘sealift init’ writes a good one"
        case .key(let path, let error): "the key \(path) cannot be used: \(error)"
        case .signer(let command, let reason): "the signer \(command) failed: \(reason)"
        case .file(let error): error.description
        case .unpublishable(let reason), .usage(let reason), .checks(let reason): reason
        case .breaking(let reason, let rows): ([reason] + rows).joined(separator: "\n  ")
        case .unsigned(let lines, let option):
            "signatures are missing, so nothing was changed: " + lines.joined(separator: "; ")
                + "; give more keys with --\(option), or --out FILE to collect signatures in a file"
        case .overtaken(let times, let what):
            "\(what): others published \(times) times meanwhile; try again when it is quieter"
        case .chain(let error): "\(error)"
        case .transfer(let error): error.description
        case .token(let problem, let file):
            "the registry answered \(problem.code.title): \(problem.detail); "
                + (file.map { "the token is \($0), and tokens end" }
                    ?? "no token was shown: --token-file FILE")
                + (file == nil
                    ? "" : ": 30 days after ‘init’ or ‘sealift token create’ unless --for says otherwise")
                + "; on the registry's machine ‘sealift token list DIR’ shows them, and ‘sealift token create DIR FILE’ "
                + "makes one"
        case .problem(let problem, let status):
            "the registry answered \(status), \(problem.code.title): \(problem.detail)"
        }
    }
}
