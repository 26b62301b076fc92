import Manifest
import Names

/// The machine that would run a model.
struct Platform: Sendable, Equatable {
    var operatingSystem: String
    var architecture: String

    static var current: Platform {
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
        return Platform(operatingSystem: system, architecture: architecture)
    }

    /// Why a variant cannot run here; empty when it can, as far as a machine knows before it tries.
    func obstacles(to variant: Variant) -> [String] {
        var obstacles: [String] = []
        if let wanted = variant.requires.operatingSystem, wanted.name.lowercased() != operatingSystem {
            obstacles.append("needs \(wanted.name), this is \(operatingSystem)")
        }
        if let wanted = variant.requires.architecture, wanted != architecture {
            obstacles.append("needs the architecture \(wanted), this is \(architecture)")
        }
        return obstacles
    }
}

/// Whether an app on this machine can use a version, and with which variant.
enum Usability: Equatable, Sendable {
    case usable(Variant)

    /// One line for each thing in the way.
    case unusable([String])

    init(
        _ manifest: ModelManifest,
        expectation: Expectation?,
        wanted: VariantName?,
        on platform: Platform
    ) {
        var reasons: [String] = []
        let variants = manifest.variants.filter { wanted == nil || $0.name == wanted }
        if variants.isEmpty { reasons.append("has no variant \(wanted?.description ?? "at all")") }
        for variant in variants {
            var obstacles = platform.obstacles(to: variant)
            if let expectation {
                let interface = manifest.interface(of: variant)
                obstacles += Compatibility.verdict(expectation, interface, version: manifest.version).reasons
            }
            guard !obstacles.isEmpty else {
                self = .usable(variant)
                return
            }
            let prefix = manifest.variants.count > 1 ? "variant \(variant.name): " : ""
            reasons += obstacles.map { prefix + $0 }
        }
        self = .unusable(reasons)
    }
}
