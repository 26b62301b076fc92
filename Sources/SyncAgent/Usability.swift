import Manifest
import Names

/// Whether an app on this machine can use a version, and with which variant.
enum Usability: Equatable, Sendable {
    /// With why this variant and no other, a line each where there are several.
    case usable(Variant, choice: [String])

    /// One line for each thing in the way.
    case unusable([String])

    /// Takes the first variant that can be used, those in formats that can run on such a machine first.
    ///
    /// Without an expectation and a named runtime nobody says that the model is
    /// to run here, so only what is known of the system, and of a runtime that
    /// was found and would load it, counts; with either, the whole rule does.
    /// Where a runtime of this machine loads what is active, it is these
    /// runtimes that run the model, and what none of them loads is no step
    /// forward.
    ///
    /// - Parameters:
    ///   - manifest: Of the version.
    ///   - expectation: What the app needs, if anybody said so.
    ///   - wanted: The one variant that is asked for.
    ///   - machine: With the runtimes that were named or found.
    ///   - running: The format of the active version; `nil` when none is.
    init(
        _ manifest: ModelManifest,
        expectation: Expectation?,
        wanted: VariantName?,
        on machine: Machine,
        running: ModelFormat?
    ) {
        var reasons: [String] = []
        var machine = machine
        if let running, machine.runtimes.contains(where: { $0.formats.contains(running) }) {
            machine.hasNoOtherRuntimes = true
        }
        let runsModels = machine.hasNoOtherRuntimes || machine.runtimes.contains(where: \.isNamed)
        let named = manifest.variants.filter { wanted == nil || $0.name == wanted }
        if named.isEmpty { reasons.append("has no variant \(wanted?.description ?? "at all")") }
        let variants =
            named.filter { machine.mayRun($0.format) } + named.filter { !machine.mayRun($0.format) }
        for variant in variants {
            let obstacles =
                if let expectation {
                    Compatibility.verdict(expectation, manifest, variant: variant, on: machine).reasons
                } else if runsModels {
                    machine.obstacles(to: variant).map(\.description)
                } else {
                    (machine.systemObstacles(variant) + machine.versionObstacles(variant)).map(\.description)
                }
            let isOne = manifest.variants.count == 1
            guard !obstacles.isEmpty else {
                let names = variants.map { "\($0.name)" }.joined(separator: ", ")
                let rule =
                    wanted == nil ? "the first of \(names) that can be used here" : "it is the one asked for"
                self = .usable(variant, choice: isOne ? [] : ["variant \(variant.name): \(rule)"] + reasons)
                return
            }
            let prefix = isOne ? "" : "variant \(variant.name): "
            reasons += obstacles.map { prefix + $0 }
        }
        self = .unusable(reasons)
    }
}
