/// What runs on a machine, as far as somebody knows it.
///
/// A rule's input: nothing here looks around by itself. What is `nil` is not
/// known, and nothing is refused because of it.
package struct Machine: Equatable, Sendable {
    /// A program that loads models.
    package struct Runtime: Equatable, Sendable {
        /// `onnxruntime`.
        package var name: String
        package var version: String?
        package var formats: [ModelFormat]

        /// The greatest versions that it reads.
        package var irVersion: Int64?
        package var specificationVersion: Int64?
        package var opsets: [String: Int64]

        /// Whether somebody said that it runs models here; else it only lies here.
        package var isNamed = true

        package init(
            name: String,
            version: String? = nil,
            formats: [ModelFormat],
            irVersion: Int64? = nil,
            specificationVersion: Int64? = nil,
            opsets: [String: Int64] = [:]
        ) {
            self.name = name
            self.version = version
            self.formats = formats
            self.irVersion = irVersion
            self.specificationVersion = specificationVersion
            self.opsets = opsets
        }
    }

    /// `linux`, `macos`, `ios`.
    package var operatingSystem: String
    package var operatingSystemVersion: String?

    /// `x86-64`, `arm64`.
    package var architecture: String

    /// Those that somebody found; what they cannot load is refused where one of them would load it.
    package var runtimes: [Runtime]

    /// Whether there are no others; else a format is only refused when no system of this kind has a runtime for it.
    package var hasNoOtherRuntimes: Bool
    package var compute: [ComputeUnit]?

    /// Bytes that a model may take.
    package var memory: UInt64?

    /// - Parameters:
    ///   - operatingSystem: `linux`, `macos`, `ios`.
    ///   - architecture: `x86-64`, `arm64`.
    ///   - runtimes: All that are here; `nil` when nobody knows.
    package init(operatingSystem: String, architecture: String, runtimes: [Runtime]? = nil) {
        self.operatingSystem = operatingSystem
        self.architecture = architecture
        self.runtimes = runtimes ?? []
        hasNoOtherRuntimes = runtimes != nil
    }

    /// The machine that this runs on, by what was decided when it was compiled.
    package static var current: Machine {
        #if os(Linux)
        let system = "linux"
        #elseif os(macOS)
        let system = "macos"
        #elseif os(iOS)
        let system = "ios"
        #else
        let system = "unknown"
        #endif
        #if arch(x86_64)
        let architecture = "x86-64"
        #elseif arch(arm64)
        let architecture = "arm64"
        #else
        let architecture = "unknown"
        #endif
        return Machine(operatingSystem: system, architecture: architecture)
    }
}

extension Machine {
    /// Why a variant cannot run here; empty when it can, as far as anybody knows before trying.
    package func obstacles(to variant: Variant) -> [Finding] {
        systemObstacles(variant) + runtimeObstacles(variant)
    }

    private func raised(_ subject: String, here: String, needs: String) -> Finding {
        Finding(
            .requirementRaised,
            subject,
            app: "runs on \(here)",
            model: "needs \(needs)",
            remedy: "keep the version that runs here, or update this machine"
        )
    }

    /// By system and architecture alone; a variant that these do not fit can never run here.
    package func systemObstacles(_ variant: Variant) -> [Finding] {
        var found: [Finding] = []
        let wanted = variant.requires
        if let system = wanted.operatingSystem {
            let needs = [system.name, system.minimum].compactMap(\.self).joined(separator: " ")
            let here = [operatingSystem, operatingSystemVersion].compactMap(\.self).joined(separator: " ")
            if system.name.lowercased() != operatingSystem
                || Version.isOlder(operatingSystemVersion, than: system.minimum)
            {
                found.append(raised("operating system", here: here, needs: needs))
            }
        }
        if let needs = wanted.architecture, needs != architecture {
            found.append(raised("architecture", here: architecture, needs: needs))
        }
        if let need = variant.memory, let memory, need.peak > memory {
            found.append(raised("memory", here: "\(memory) bytes", needs: "\(need.peak) bytes"))
        }
        if let compute, !variant.compute.contains(where: compute.contains) {
            let (here, needs) = (compute.map(\.rawValue), variant.compute.map(\.rawValue))
            found.append(
                raised("compute", here: here.joined(separator: ", "), needs: needs.joined(separator: " or "))
            )
        }
        return found
    }

    /// Whether some system of this kind has a runtime for a format.
    package func mayRun(_ format: ModelFormat) -> Bool {
        switch format {
        case .coreMLPackage, .coreMLModel, .coreMLCompiled:
            !["linux", "windows", "android"].contains(operatingSystem)
        case .onnx, .tflite, .gguf, .safetensors, .opaque: true
        }
    }

    private func runtimeObstacles(_ variant: Variant) -> [Finding] {
        let format = variant.format.rawValue
        let isThere = runtimes.contains { $0.formats.contains(variant.format) }
        guard mayRun(variant.format), isThere || !hasNoOtherRuntimes else {
            return [
                Finding(
                    .formatChanged,
                    "format",
                    app: "runs where no runtime loads \(format)",
                    model: "is \(format)",
                    remedy: "install a runtime for it, or publish a variant in a format that runs here"
                )
            ]
        }
        return versionObstacles(variant)
    }

    /// By the versions of the runtimes that were found for the variant's format; none where none was.
    package func versionObstacles(_ variant: Variant) -> [Finding] {
        let fitting = runtimes.filter { $0.formats.contains(variant.format) }
        let tries = fitting.map { obstacles(to: variant.requires, in: $0) }
        return tries.contains([]) ? [] : tries.first ?? []
    }

    private func obstacles(to wanted: Requirements, in runtime: Runtime) -> [Finding] {
        var found: [Finding] = []
        let here = [runtime.name, runtime.version].compactMap(\.self).joined(separator: " ")
        if let need = wanted.runtime,
            need.name != runtime.name || Version.isOlder(runtime.version, than: need.minimum)
        {
            let needs = [need.name, need.minimum].compactMap(\.self).joined(separator: " ")
            found.append(raised("runtime", here: here, needs: needs))
        }
        if let needs = wanted.irVersion, let greatest = runtime.irVersion, needs > greatest {
            found.append(raised("IR version", here: "\(here), which reads \(greatest)", needs: "\(needs)"))
        }
        if let needs = wanted.specificationVersion, let greatest = runtime.specificationVersion,
            needs > greatest
        {
            found.append(
                raised("specification version", here: "\(here), which reads \(greatest)", needs: "\(needs)")
            )
        }
        for (domain, needs) in wanted.opsets.sorted(by: { $0.key < $1.key }) {
            guard let greatest = runtime.opsets[domain], needs > greatest else { continue }
            found.append(
                raised("operators of \(domain)", here: "\(here), which has \(greatest)", needs: "\(needs)")
            )
        }
        return found
    }
}

/// Versions of systems and runtimes, which are not all semantic ones.
enum Version {
    /// Whether a dotted version is below another; `false` when either is not known.
    static func isOlder(_ version: String?, than minimum: String?) -> Bool {
        guard let version, let minimum else { return false }
        return numbers(version).lexicographicallyPrecedes(numbers(minimum))
    }

    /// `1.24.3-rc1` as 1, 24, 3; trailing zeros do not count.
    static func numbers(_ version: String) -> [Int] {
        var numbers: [Int] = []
        for part in version.split(separator: ".", omittingEmptySubsequences: false) {
            let digits = part.prefix { $0.isASCII && $0.isNumber }
            guard let number = Int(digits) else { break }
            numbers.append(number)
            if digits.count < part.count { break }
        }
        while numbers.last == 0 { numbers.removeLast() }
        return numbers
    }
}
