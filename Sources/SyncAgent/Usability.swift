import Manifest
import Names

/// Whether an app on this machine can use a version, and with which variant.
enum Usability: Equatable, Sendable {
    case usable(Variant)

    /// One line for each thing in the way.
    case unusable([String])

    /// Takes the first variant that can be used, those in formats that can run on such a machine first.
    ///
    /// Without an expectation nobody says that the model is to run here, so
    /// only what is known of the system and of a runtime that would load it
    /// counts; with one, the whole rule does.
    init(
        _ manifest: ModelManifest,
        expectation: Expectation?,
        wanted: VariantName?,
        on machine: Machine
    ) {
        var reasons: [String] = []
        let named = manifest.variants.filter { wanted == nil || $0.name == wanted }
        if named.isEmpty { reasons.append("has no variant \(wanted?.description ?? "at all")") }
        let variants =
            named.filter { machine.mayRun($0.format) } + named.filter { !machine.mayRun($0.format) }
        for variant in variants {
            let obstacles =
                if let expectation {
                    Compatibility.verdict(expectation, manifest, variant: variant, on: machine).reasons
                } else {
                    (machine.systemObstacles(variant) + machine.versionObstacles(variant)).map(\.description)
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
