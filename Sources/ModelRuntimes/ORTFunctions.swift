import CLinux
import Glibc

/// Places in the function table `OrtApi`, which only ever grows at its end (ONNX Runtime, API 17).
enum ORTSlot: Int {
    case getErrorCode = 1
    case getErrorMessage = 2
    case createEnvironment = 3
    case createSession = 7
    case run = 9
    case createSessionOptions = 10
    case disableMemoryPattern = 17
    case disableArena = 19
    case setLogSeverity = 22
    case setOptimizationLevel = 23
    case setIntraOpThreads = 24
    case setInterOpThreads = 25
    case inputCount = 30
    case outputCount = 31
    case initializerCount = 32
    case inputType = 33
    case outputType = 34
    case initializerType = 35
    case inputName = 36
    case outputName = 37
    case initializerName = 38
    case createRunOptions = 39
    case terminateRun = 46
    case createTensor = 48
    case tensorData = 51
    case fillText = 52
    case textLength = 53
    case textContent = 54
    case tensorInfoOfType = 55
    case kindOfType = 56
    case elementType = 60
    case dimensionCount = 61
    case dimensions = 62
    case symbols = 63
    case elementCount = 64
    case tensorInfoOfValue = 65
    case kindOfValue = 67
    case allocatorFree = 76
    case defaultAllocator = 78
    case valueAt = 80
    case valueCount = 81
    case releaseEnvironment = 92
    case releaseStatus = 93
    case releaseSession = 95
    case releaseValue = 96
    case releaseRunOptions = 97
    case releaseType = 98
    case releaseTensorInfo = 99
    case releaseSessionOptions = 100
    case addSessionConfiguration = 130
}

typealias ORTPointer = OpaquePointer
typealias ORTStatus = OpaquePointer?
typealias ORTOut = UnsafeMutablePointer<OpaquePointer?>

/// The functions of one opened ONNX Runtime library.
///
/// There is no header and no C target: the table is reached through the one
/// symbol `OrtGetApiBase`, and its places are those of the API that was asked
/// for. The library is never closed, since its threads outlive any call.
// The table and what it points to are constant memory of a library that stays loaded.
struct ORTFunctions: @unchecked Sendable {
    /// The API that is asked for: ONNX Runtime 1.17 and everything later has it.
    static let apiVersion: UInt32 = 17

    /// The first release that checks where external weights lie.
    static let neededVersion = (major: 1, minor: 24)

    let path: String
    let version: String
    private let table: UnsafePointer<UnsafeRawPointer?>

    /// Opens the library at `path`, which was checked before.
    ///
    /// - Parameters:
    ///   - path: The library.
    ///   - patience: Seconds after which a library that is not open never will be.
    /// - Throws: `ONNXRuntimeError.notUsable` or `.tooOld`.
    init(path: String, patience: UInt32 = 10) throws(ONNXRuntimeError) {
        typealias Base = @convention(c) () -> UnsafePointer<UnsafeRawPointer?>?
        typealias Table = @convention(c) (UInt32) -> UnsafePointer<UnsafeRawPointer?>?
        typealias Version = @convention(c) () -> UnsafePointer<CChar>?
        // What a library does while it is opened cannot be caught; a child process tries it first.
        var outcome = clinux_attempt_library(path, patience)
        // Once more, since the child may have hung on a lock of a thread that it does not have.
        if outcome == Self.overran { outcome = clinux_attempt_library(path, patience) }
        switch outcome {
        case 0: break
        case Self.overran:
            throw .notUsable(path: path, reason: "opening it does not end within \(patience) seconds")
        case let signal where signal > 0:
            throw .notUsable(path: path, reason: "opening it ends a process with signal \(signal)")
        default: throw .notUsable(path: path, reason: "opening it ends a process")
        }
        guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            let reason = dlerror().map { String(cString: $0) } ?? "it cannot be opened"
            throw .notUsable(path: path, reason: reason)
        }
        guard let symbol = dlsym(library, "OrtGetApiBase"),
            let base = unsafeBitCast(symbol, to: Base.self)(), let getTable = base[0],
            let getVersion = base[1],
            let text = unsafeBitCast(getVersion, to: Version.self)()
        else { throw .notUsable(path: path, reason: "it has no OrtGetApiBase") }
        let version = String(cString: text)
        let needed = "\(Self.neededVersion.major).\(Self.neededVersion.minor) or later"
        guard Self.isNewEnough(version) else { throw .tooOld(path: path, found: version, needed: needed) }
        guard let table = unsafeBitCast(getTable, to: Table.self)(Self.apiVersion) else {
            throw .tooOld(path: path, found: version, needed: "one with API \(Self.apiVersion)")
        }
        self.path = path
        self.version = version
        self.table = table
    }

    /// What the attempt answers when the time was over.
    private static let overran: Int32 = -2

    static func isNewEnough(_ version: String) -> Bool {
        let numbers = version.split(separator: ".").prefix(2).compactMap { Int($0) }
        guard numbers.count == 2 else { return false }
        return (numbers[0], numbers[1]) >= (neededVersion.major, neededVersion.minor)
    }

    /// The function at `slot`.
    ///
    /// - Precondition: `Function` is its C type; the pairs stand in this module alone.
    func function<Function>(_ slot: ORTSlot, as _: Function.Type) -> Function {
        unsafeBitCast(table[slot.rawValue], to: Function.self)
    }

    /// Turns a status into an error and frees it.
    ///
    /// - Throws: `ONNXRuntimeError.failed`.
    func check(_ status: ORTStatus, _ operation: String) throws(ONNXRuntimeError) {
        guard let status else { return }
        typealias Code = @convention(c) (ORTPointer) -> Int32
        typealias Message = @convention(c) (ORTPointer) -> UnsafePointer<CChar>?
        let code = function(.getErrorCode, as: Code.self)(status)
        let message = function(.getErrorMessage, as: Message.self)(status).map { String(cString: $0) }
        release(.releaseStatus, status)
        throw .failed(operation: operation, code: code, message: message ?? "no message")
    }

    func release(_ slot: ORTSlot, _ pointer: ORTPointer) {
        function(slot, as: (@convention(c) (ORTPointer) -> Void).self)(pointer)
    }

    /// Takes over what a call wrote to its last argument.
    ///
    /// - Parameters:
    ///   - releasing: How to free it.
    ///   - operation: For the error's text: "could not …".
    ///   - body: Makes the call.
    /// - Returns: The owner of the new object.
    /// - Throws: `ONNXRuntimeError.failed`.
    func make(
        releasing: ORTSlot,
        _ operation: String,
        _ body: (ORTOut) -> ORTStatus
    ) throws(ONNXRuntimeError) -> ORTHandle {
        var pointer: ORTPointer?
        try check(body(&pointer), operation)
        guard let pointer else {
            throw .failed(operation: operation, code: -1, message: "it gave nothing")
        }
        return ORTHandle(pointer, releasing: releasing, of: self)
    }
}

/// Owns one object of ONNX Runtime and frees it exactly once.
///
/// Sessions may run from many threads at once and run options may be
/// terminated from any; every other object stays in the call that made it.
// What it points to is either safe to share, as ONNX Runtime documents for sessions, or never shared.
final class ORTHandle: @unchecked Sendable {
    private let pointer: ORTPointer
    private let slot: ORTSlot
    private let functions: ORTFunctions

    init(_ pointer: ORTPointer, releasing slot: ORTSlot, of functions: ORTFunctions) {
        self.pointer = pointer
        self.slot = slot
        self.functions = functions
    }

    deinit { functions.release(slot, pointer) }

    /// Lends the object; it is not freed before `body` returns.
    func lend<Result, Failure: Error>(
        _ body: (ORTPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(pointer)
    }
}
