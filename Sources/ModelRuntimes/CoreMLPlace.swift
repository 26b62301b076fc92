import Inference

/// What Core ML opens for the entry of a manifest; pure, so that it is tested where there is no Core ML.
enum CoreMLPlace {
    /// The package or compiled folder that the entry, which is always a file, lies in; else the entry itself.
    static func model(ofEntry entry: String) -> String {
        let names = entry.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let place = names.lastIndex { $0.lowercased().hasSuffix(".mlpackage") || isCompiled($0) }
        guard let place else { return entry }
        return names[...place].joined(separator: "/")
    }

    /// The folder in the app's cache that is Sealift's alone.
    static let folder = "sealift-compiled"

    /// Where a model is kept once it is compiled, below ``folder``: a folder for each path of a model, in which the
    /// version directory bears the manifest's digest, and in that one for each system and choice of processors.
    static func kept(_ model: String, build: String, compute: String) -> String {
        "\(model)/\(word(build))-\(compute).mlmodelc"
    }

    /// What can go from ``folder``: nothing that bears another name than those here, since that is somebody else's.
    ///
    /// - Parameters:
    ///   - kept: Compiled models that were found, below the folder.
    ///   - build: The system's; what another one compiled does not hold here.
    ///   - exists: Whether a path is there. A version that was collected takes its compiled model with it.
    /// - Returns: Those of `kept` that nothing can use any more.
    static func stale(_ kept: [String], build: String, exists: (String) -> Bool) -> [String] {
        kept.filter { path in
            guard let slash = path.lastIndex(of: "/") else { return false }
            let (name, model) = (path[path.index(after: slash)...], String(path[..<slash]))
            guard isKept(name), isSource(model) else { return false }
            return !name.hasPrefix("\(word(build))-") || !exists(model)
        }
    }

    /// Where a compiled model is put together before it has its place; of this process alone.
    static func partial(_ model: String, id: String) -> String { "\(model)/\(id)\(partialSuffix)" }

    /// Seconds after which nobody puts a compiled model together any more, which is a move or a copy.
    static let longestPartial = 86_400.0

    /// Whether a path below ``folder`` is what a process that was killed has left half put together.
    ///
    /// - Parameters:
    ///   - path: Below the folder.
    ///   - age: Seconds since it was changed; below zero where a clock was set.
    /// - Returns: `false` for all that bears another name, and for what may be in use.
    static func isLeftOver(_ path: String, age: Double) -> Bool {
        guard isPartial(path), let slash = path.lastIndex(of: "/") else { return false }
        return age > longestPartial && isSource(String(path[..<slash]))
    }

    /// Whether ``partial(_:id:)`` gives such paths.
    static func isPartial(_ path: String) -> Bool {
        guard let name = path.split(separator: "/").last, name.hasSuffix(partialSuffix) else { return false }
        let groups = name.dropLast(partialSuffix.count).split(
            separator: "-",
            omittingEmptySubsequences: false
        )
        return groups.map(\.count) == [8, 4, 4, 4, 12] && groups.allSatisfy { $0.allSatisfy(\.isHexDigit) }
    }

    private static let partialSuffix = ".partial"

    /// Whether ``kept(_:build:compute:)`` gives such names.
    private static func isKept(_ name: Substring) -> Bool {
        ComputeUnits.allCases.contains { name.hasSuffix("-\($0.rawValue).mlmodelc") }
    }

    /// Whether it is what Core ML compiles.
    private static func isSource(_ model: String) -> Bool {
        let name = model.lowercased()
        return name.hasSuffix(".mlpackage") || name.hasSuffix(".mlmodel")
    }

    private static func word(_ build: String) -> String {
        String(build.map { $0.isLetter || $0.isNumber || $0 == "." ? $0 : "_" })
    }

    /// Whether the model is compiled already.
    static func isCompiled(_ model: String) -> Bool { model.lowercased().hasSuffix(".mlmodelc") }
}
