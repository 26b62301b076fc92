import Blocking
import Glibc
public import Inference

/// ONNX Runtime, found on the machine when it is needed.
///
/// Nothing of it is linked or bundled. A process has one copy and one
/// environment, both kept until the process ends. Loads and runs happen on
/// threads that may block, never on those of Swift's concurrency pool.
///
/// Its Linux builds from 1.29 on report usage to their maker unless
/// `ORT_DISABLE_TELEMETRY` is set before the library is opened; opening does
/// that. A program with threads that change the environment at the same time
/// sets the variable itself, first thing.
public struct ONNXRuntime: ModelRuntime {
    /// `onnxruntime`.
    public var name: String { "onnxruntime" }

    /// The library's version, such as `1.28.0`.
    public var version: String { environment.functions.version }

    /// The real path of the library.
    public var libraryPath: String { environment.functions.path }

    private let environment: ORTEnvironment

    /// Finds and opens the library, or gives the copy that this process opened before.
    ///
    /// - Parameter locator: Where to look.
    /// - Throws: `ONNXRuntimeError`, whose text says how to install what is missing.
    public init(_ locator: ONNXRuntimeLocator = ONNXRuntimeLocator()) async throws(ONNXRuntimeError) {
        environment = try await ORTOpening.shared.environment(locator)
    }

    /// True for `onnx`.
    public func runs(format: String) -> Bool { format == "onnx" }

    /// Loads a model file; external weights are found beside it.
    ///
    /// - Parameters:
    ///   - entry: The absolute path of the `.onnx` file.
    ///   - options: Threads beyond the number of processors are not used.
    /// - Returns: The model, ready to run.
    /// - Throws: `ONNXRuntimeError.failed` when the file is damaged or asks for
    ///   operators that this version does not have.
    public func load(entry: String, options: LoadOptions) async throws -> any LoadedModel {
        let environment = environment
        return try await BlockingPool.shared.run { () throws(ONNXRuntimeError) in
            let session = try environment.session(entry: entry, options: options)
            let ports = try ORTPortReader(functions: environment.functions, session: session).ports()
            return ONNXModel(functions: environment.functions, session: session, ports: ports)
        }
    }
}

/// Opens the one environment of this process, on a thread of its own, since that takes a tenth of a second.
private actor ORTOpening {
    static let shared = ORTOpening()

    private let executor = BlockingExecutor(label: "sealift.onnxruntime")
    private var opened: ORTEnvironment?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func environment(_ locator: ONNXRuntimeLocator) throws(ONNXRuntimeError) -> ORTEnvironment {
        let path = try locator.locate()
        if let opened {
            guard opened.functions.path == path else {
                throw .anotherIsOpen(open: opened.functions.path, asked: path)
            }
            return opened
        }
        let environment = try ORTEnvironment(path: path)
        opened = environment
        return environment
    }
}

/// The environment that all sessions of this process share and need as long as they live.
private final class ORTEnvironment: Sendable {
    let functions: ORTFunctions
    private let handle: ORTHandle

    init(path: String) throws(ONNXRuntimeError) {
        setenv("ORT_DISABLE_TELEMETRY", "1", 1)
        let functions = try ORTFunctions(path: path)
        typealias Create = @convention(c) (Int32, UnsafePointer<CChar>, ORTOut) -> ORTStatus
        handle = try functions.make(releasing: .releaseEnvironment, "start") { out in
            // Nothing below what ends a process is logged: each failure comes back as an error with the same text.
            functions.function(.createEnvironment, as: Create.self)(4, "sealift", out)
        }
        self.functions = functions
    }

    /// Loads a file with the settings that keep memory low and threads few.
    func session(entry: String, options: LoadOptions) throws(ONNXRuntimeError) -> ORTHandle {
        let settings = try ORTSettings(functions: functions)
        try settings.apply(options)
        typealias Create =
            @convention(c) (ORTPointer, UnsafePointer<CChar>, ORTPointer, ORTOut) -> ORTStatus
        let create = functions.function(.createSession, as: Create.self)
        return try functions.make(releasing: .releaseSession, "load \(entry)") { out in
            handle.lend { environment in
                settings.handle.lend { settings in create(environment, entry, settings, out) }
            }
        }
    }
}

/// The options of one session.
private struct ORTSettings {
    let functions: ORTFunctions
    let handle: ORTHandle

    init(functions: ORTFunctions) throws(ONNXRuntimeError) {
        self.functions = functions
        handle = try functions.make(releasing: .releaseSessionOptions, "make options") { out in
            functions.function(.createSessionOptions, as: (@convention(c) (ORTOut) -> ORTStatus).self)(out)
        }
    }

    func apply(_ options: LoadOptions) throws(ONNXRuntimeError) {
        let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        let threads = min(max(1, options.threads ?? 4), processors)
        // The arena and the memory pattern keep the greatest run's memory for good.
        try set(.disableArena)
        try set(.disableMemoryPattern)
        try set(.setLogSeverity, 4)
        try set(.setOptimizationLevel, 99)
        try set(.setIntraOpThreads, Int32(threads))
        try set(.setInterOpThreads, 1)
        try set("session.intra_op.allow_spinning", "0")
        try set("session.inter_op.allow_spinning", "0")
        if options.priority == .memory { try set("session.disable_prepacking", "1") }
    }

    private func set(_ slot: ORTSlot) throws(ONNXRuntimeError) {
        let call = functions.function(slot, as: (@convention(c) (ORTPointer) -> ORTStatus).self)
        try functions.check(handle.lend { call($0) }, "set an option")
    }

    private func set(_ slot: ORTSlot, _ value: Int32) throws(ONNXRuntimeError) {
        let call = functions.function(slot, as: (@convention(c) (ORTPointer, Int32) -> ORTStatus).self)
        try functions.check(handle.lend { call($0, value) }, "set an option")
    }

    private func set(_ key: String, _ value: String) throws(ONNXRuntimeError) {
        typealias Add = @convention(c) (ORTPointer, UnsafePointer<CChar>, UnsafePointer<CChar>) -> ORTStatus
        let call = functions.function(.addSessionConfiguration, as: Add.self)
        try functions.check(handle.lend { call($0, key, value) }, "set \(key)")
    }
}
