import Arguments
import Audit
import Blobs
import Durable
import Generations
import HTTPServer
import Inference
import Manifest
import ModelLibrary
import ModelRuntimes
import Publishing
import Registry
import RegistryAPI
import RegistryStoreSQLite
import Signing
import SyncAgent
import TLS
import Transfer
import Trust

extension Failure {
    /// What an error means to the person who typed the command; one place decides exit codes.
    ///
    /// An error of no known kind is a fault of this program.
    init(describing error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as UsageError: self.init(.usage, error.description)
        case let error as SyncError:
            self.init(ExitCode(rawValue: error.exitCode) ?? .internalError, error.message)
        case let error as PublishingError: self.init(Self.code(of: error), error.description)
        case let error as AuditError: self.init(Self.code(of: error), error.description)
        case let error as UpdateError: self.init(Self.code(of: error), error.description)
        case let error as FetchError: self.init(Self.code(of: error), error.description)
        case let error as DurableError: self.init(Self.code(of: error), error.description)
        case let error as GenerationError: self.init(SyncError(error))
        case let error as RegistryError: self.init(error.isOutage ? .temporary : .refused, error.description)
        case let error as StoreError: self.init(Self.code(of: error), error.description)
        case let error as BlobError: self.init(.temporary, error.description)
        case let error as HTTPServerError: self.init(Self.code(of: error), error.description)
        case let error as TLSError: self.init(.refused, error.description)
        case let error as SigningError: self.init(.refused, error.description)
        case let error as ManifestError: self.init(.refused, error.description)
        case let error as ModelLibraryError: self.init(Self.code(of: error), error.description)
        case let error as ONNXRuntimeError: self.init(Self.code(of: error), error.description)
        case let error as InferenceError: self.init(.usage, error.description)
        default: self.init(.internalError, "an unexpected error, please report it: \(error)")
        }
    }

    private init(_ error: SyncError) {
        self.init(ExitCode(rawValue: error.exitCode) ?? .internalError, error.message)
    }

    private static func code(of error: PublishingError) -> ExitCode {
        switch error {
        case .configuration, .usage: .usage
        case .key, .signer, .unpublishable, .unsigned: .refused
        case .overtaken: .temporary
        case .file(let error): code(of: error)
        case .chain(let error): code(of: error)
        case .transfer(let error): code(of: error)
        case .problem(let problem, let status):
            status >= 500 || status == 429 || problem.code == .conflict ? .temporary : .refused
        }
    }

    private static func code(of error: AuditError) -> ExitCode {
        switch error {
        case .chain(let error): code(of: error)
        case .transfer(let error): code(of: error)
        case .contradiction: .misbehaviour
        case .refused, .document: .refused
        case .absent: .temporary
        case .unknownModel: .usage
        }
    }

    private static func code(of error: UpdateError) -> ExitCode { error.isOutage ? .temporary : .refused }

    private static func code(of error: FetchError) -> ExitCode {
        if case .refused(.plainHTTP, _) = error { return .usage }
        return error.isOutage ? .temporary : .refused
    }

    private static func code(of error: DurableError) -> ExitCode {
        if error.isAbsent || error.isWrongPlace { return .usage }
        return error.isOutOfSpace ? .temporary : .refused
    }

    private static func code(of error: ModelLibraryError) -> ExitCode {
        switch error {
        case .invalidName, .notAvailable, .noRuntime: .usage
        case .refused, .failed: .refused
        case .leaseEnded: .internalError
        }
    }

    private static func code(of error: ONNXRuntimeError) -> ExitCode {
        switch error {
        case .notFound, .notUsable, .tooOld: .usage
        case .refused, .failed, .unsupported: .refused
        case .anotherIsOpen: .internalError
        }
    }

    private static func code(of error: StoreError) -> ExitCode {
        switch error {
        case .missing, .exists: .usage
        case .foreign, .damaged: .refused
        case .newer, .edited: .internalError
        case .failed: .temporary
        }
    }

    private static func code(of error: HTTPServerError) -> ExitCode {
        switch error {
        case .badAddress: .usage
        case .addressInUse, .notPermitted, .system: .temporary
        }
    }
}
