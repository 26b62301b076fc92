import Glibc

/// Where to look for the ONNX Runtime library, and what is refused.
///
/// The first of these that is set or there decides, and a bad one is an error
/// rather than a reason to look further:
///
/// 1. an explicit path;
/// 2. `SEALIFT_ORT_LIBRARY`, the absolute path of the library;
/// 3. `SEALIFT_ORT_DIR`, a directory that holds it, or a Python environment
///    in which the `onnxruntime` package is installed;
/// 4. `VIRTUAL_ENV`, a Python environment, when the package is there;
/// 5. the system's library directories.
///
/// A library that is no regular file, or that stands in a directory or is a
/// file that everybody may write, is refused: loading it would run whatever
/// somebody else put there.
public struct ONNXRuntimeLocator: Sendable {
    private let explicit: String?
    private let environment: [String: String]
    private let systemDirectories: [String]

    /// Looks in the places above.
    ///
    /// - Parameters:
    ///   - path: The library to use, before all others.
    ///   - environment: The variables to read; those of this process unless given.
    public init(path: String? = nil, environment: [String: String]? = nil) {
        self.init(
            path: path,
            environment: environment ?? Self.processEnvironment,
            systemDirectories: [
                "/usr/local/lib", "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                "/usr/lib",
            ]
        )
    }

    init(path: String?, environment: [String: String], systemDirectories: [String]) {
        explicit = path
        self.environment = environment
        self.systemDirectories = systemDirectories
    }

    /// Finds the library and checks who may write it; nothing is opened.
    ///
    /// - Returns: Its real path.
    /// - Throws: `ONNXRuntimeError.notFound` or `.refused`.
    public func locate() throws(ONNXRuntimeError) -> String {
        if let explicit { return try Self.checked(explicit) }
        if let path = environment["SEALIFT_ORT_LIBRARY"], !path.isEmpty {
            guard path.hasPrefix("/") else {
                throw .refused(path: path, reason: "SEALIFT_ORT_LIBRARY must be an absolute path")
            }
            return try Self.checked(path)
        }
        if let directory = environment["SEALIFT_ORT_DIR"], !directory.isEmpty {
            guard let path = Self.library(in: directory) ?? Self.library(inPython: directory) else {
                throw .notFound(searched: [directory])
            }
            return try Self.checked(path)
        }
        var searched = ["SEALIFT_ORT_LIBRARY", "SEALIFT_ORT_DIR"]
        if let directory = environment["VIRTUAL_ENV"], !directory.isEmpty {
            if let path = Self.library(inPython: directory) { return try Self.checked(path) }
            searched.append(directory)
        }
        for directory in systemDirectories {
            if let path = Self.library(in: directory) { return try Self.checked(path) }
        }
        throw .notFound(searched: searched + systemDirectories)
    }

    /// The version of the library, by its file's name where that says it, else by asking the library.
    ///
    /// - Returns: Such as `1.28.0`.
    /// - Throws: `ONNXRuntimeError`, as ``locate()`` and opening the library do.
    public func installedVersion() throws(ONNXRuntimeError) -> String {
        let path = try locate()
        let name = path.split(separator: "/").last ?? ""
        let version = name.dropFirst("libonnxruntime.so.".utf8.count)
        if version.split(separator: ".").count >= 2 { return String(version) }
        do { return try ORTFunctions(path: path).version } catch {
            guard case .tooOld(_, let found, _) = error else { throw error }
            return found
        }
    }

    /// The real path of `path`, if nobody else may write it.
    private static func checked(_ path: String) throws(ONNXRuntimeError) -> String {
        guard let resolved = realpath(path, nil) else {
            throw .refused(path: path, reason: "there is no such file")
        }
        defer { free(resolved) }
        let real = String(cString: resolved)
        var status = stat()
        guard lstat(real, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .refused(path: path, reason: "it is not a regular file")
        }
        guard status.st_mode & S_IWOTH == 0 else {
            throw .refused(path: real, reason: "everybody may write the file; run chmod o-w on it")
        }
        let directory = real.lastIndex(of: "/").map { String(real[..<$0]) } ?? ""
        guard stat(directory.isEmpty ? "/" : directory, &status) == 0, status.st_mode & S_IWOTH == 0 else {
            throw .refused(path: real, reason: "everybody may write its directory; run chmod o-w on it")
        }
        return real
    }

    /// The library's file in `directory`, the greatest name when there are several.
    private static func library(in directory: String) -> String? {
        let stem = "libonnxruntime.so"
        let names = names(in: directory, from: stem).filter { $0 == stem || $0.hasPrefix("\(stem).") }
        return names.max().map { "\(directory)/\($0)" }
    }

    private static func library(inPython environment: String) -> String? {
        let versions = names(in: "\(environment)/lib", from: "python3").sorted()
        return versions.lazy.reversed()
            .compactMap { library(in: "\(environment)/lib/\($0)/site-packages/onnxruntime/capi") }
            .first
    }

    /// Names that begin with `stem`; a system's library directory has a thousand others, so no text is made of those.
    private static func names(in directory: String, from stem: String) -> [String] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                let name = bytes.prefix { $0 != 0 }
                return name.starts(with: stem.utf8) ? String(decoding: name, as: UTF8.self) : nil
            }
            if let name { names.append(name) }
        }
        return names
    }

    private static var processEnvironment: [String: String] {
        var variables: [String: String] = [:]
        for name in ["SEALIFT_ORT_LIBRARY", "SEALIFT_ORT_DIR", "VIRTUAL_ENV"] {
            if let value = getenv(name) { variables[name] = String(cString: value) }
        }
        return variables
    }
}
