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
import Names
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
    /// What an error means to the person who typed the command; one place decides codes.
    ///
    /// An error of no known kind is a fault of this program.
    init(describing error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as UsageError: self.init(code: .usage, error.description)
        case let error as SyncError: self.init(code: error.errorCode, error.message)
        case PublishingError.breaking(let reason, let rows): self.init(code: .breaking, reason, rows: rows)
        case let error as PublishingError: self.init(code: Self.code(of: error), error.description)
        case let error as AuditError: self.init(code: Self.code(of: error), error.description)
        case let error as UpdateError: self.init(code: error.code, error.description)
        case let error as FetchError: self.init(code: error.code, error.description)
        case let error as DurableError: self.init(code: error.code, error.description)
        case let error as GenerationError: self.init(code: SyncError(error).errorCode, error.description)
        case let error as RegistryError:
            self.init(code: error.isOutage ? .temporary : .registryRefused, error.description)
        case let error as StoreError: self.init(code: Self.code(of: error), error.description)
        case let error as BlobError: self.init(code: .disk, error.description)
        case let error as HTTPServerError: self.init(code: Self.code(of: error), error.description)
        case let error as TLSError: self.init(code: .certificate, error.description)
        case let error as SigningError: self.init(code: .key, error.description)
        case let error as ManifestError: self.init(code: .document, error.description)
        case let error as ModelLibraryError: self.init(code: Self.code(of: error), error.description)
        case let error as ONNXRuntimeError: self.init(code: Self.code(of: error), error.description)
        case let error as InferenceError: self.init(code: Self.code(of: error), error.description)
        case LibraryRecordError.disk(let error): self.init(code: error.code, error.description)
        case let error as LibraryRecordError: self.init(code: .place, error.description)
        default: self.init(code: .internal, "an unexpected error, please report it: \(error)")
        }
    }

    private static func code(of error: PublishingError) -> ErrorCode {
        switch error {
        case .configuration: .configuration
        case .usage: .usage
        case .key, .signer: .key
        case .breaking: .breaking
        case .unpublishable: .refused
        case .checks: .checks
        case .unsigned: .signature
        case .overtaken: .conflict
        case .file(let error): error.code
        case .chain(let error): error.code
        case .transfer(let error): error.code
        case .token: .token
        case .problem(let problem, let status):
            switch problem.code {
            case .conflict: .conflict
            case .unauthorized, .forbidden: .token
            case .untrusted: .signature
            case .digestMismatch: .bytes
            default: status >= 500 || status == 429 ? .serverError : .registryRefused
            }
        }
    }

    private static func code(of error: AuditError) -> ErrorCode {
        switch error {
        case .chain(let error): error.code
        case .transfer(let error): error.code
        case .contradiction: .misbehaviour
        case .refused: .refused
        case .document: .document
        case .absent: .missingAtServer
        case .unknownModel: .usage
        }
    }

    private static func code(of error: ModelLibraryError) -> ErrorCode {
        switch error {
        case .invalidName: .usage
        case .notAvailable: .nothingActive
        case .noRuntime, .noProcessor: .runtimeMissing
        case .refused, .failed, .neverFits: .refused
        case .doesNotFit, .underPressure, .timedOut, .behind, .notPreloaded: .temporary
        case .leaseEnded: .internal
        }
    }

    private static func code(of error: ONNXRuntimeError) -> ErrorCode {
        switch error {
        case .notFound, .notUsable, .tooOld: .runtimeMissing
        case .refused, .failed, .unsupported: .refused
        case .anotherIsOpen: .internal
        }
    }

    private static func code(of error: InferenceError) -> ErrorCode {
        switch error {
        case .output, .unknownOutput: .interface
        case .outputsTooLarge: .refused
        case .noMemory: .temporary
        default: .usage
        }
    }

    private static func code(of error: StoreError) -> ErrorCode {
        switch error {
        case .missing, .exists: .place
        case .foreign, .damaged: .damaged
        case .newer: .newerDatabase
        case .edited: .internal
        case .failed: .disk
        }
    }

    private static func code(of error: HTTPServerError) -> ErrorCode {
        switch error {
        case .badAddress: .usage
        case .addressInUse: .portInUse
        case .notPermitted, .system: .temporary
        }
    }
}
