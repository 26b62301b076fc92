package import Names

/// How far a version number must move, SemVer 2.0.0: what apps must know of a change.
package enum VersionStep: String, Sendable, Comparable, CaseIterable {
    /// Nothing that an app can see in the interface.
    case patch

    /// Apps that lived with the version before live with this one.
    case minor

    /// Some app that lived with the version before may not live with this one.
    case major

    package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .patch: 0
        case .minor: 1
        case .major: 2
        }
    }

    /// The smallest version above `base` that moves so far.
    ///
    /// Before 1.0.0 a major step moves the second number, as SemVer 2.0.0, 4
    /// lets everything change there; a step that small still says something.
    package func applied(to base: ModelVersion) -> ModelVersion {
        switch self {
        case .patch: ModelVersion(major: base.major, minor: base.minor, patch: base.patch + 1)
        case .major where base.major > 0: ModelVersion(major: base.major + 1, minor: 0, patch: 0)
        case .minor, .major: ModelVersion(major: base.major, minor: base.minor + 1, patch: 0)
        }
    }

    /// Whether `version` is far enough above `base`; a pre-release counts as the version that it leads to.
    package func isReached(by version: ModelVersion, from base: ModelVersion) -> Bool {
        version.release >= applied(to: base)
    }
}

extension ModelVersion {
    /// The version that a pre-release leads to; of others the version itself.
    package var release: ModelVersion { ModelVersion(major: major, minor: minor, patch: patch) }
}

/// One difference between a release and the one before it.
package struct ContractChange: Equatable, Sendable, CustomStringConvertible {
    package let row: ContractRow
    package let step: VersionStep

    /// ``input `x`: float32[1, 4] became float32[n, 4]``.
    package let text: String

    package var description: String { "\(text) (row \(row.rawValue), \(row.title): \(step.rawValue))" }
}

/// Everything that changed between two releases, and the smallest step that says so.
package struct ContractChanges: Equatable, Sendable {
    package private(set) var changes: [ContractChange] = []

    /// The greatest step of any change.
    package var step: VersionStep { changes.map(\.step).max() ?? .patch }

    /// The changes that make the step as great as it is.
    package var decisive: [ContractChange] { changes.filter { $0.step == step } }

    /// Compares two interfaces.
    package init(from old: Interface, to new: Interface) { compare(old, new) }

    /// Compares two releases: interfaces by variant, formats and requirements.
    package init(from old: ModelManifest, to new: ModelManifest) {
        compare(old.interface, new.interface)
        for variant in old.variants where new[variant.name] == nil {
            // Devices that can run no other variant have no model any more.
            note(.formatChanged, .major, "variant \(variant.name) (\(variant.format.rawValue)) is gone")
        }
        for variant in new.variants {
            guard let before = old[variant.name] else {
                note(.formatChanged, .minor, "variant \(variant.name) (\(variant.format.rawValue)) is new")
                continue
            }
            if before.interface != nil || variant.interface != nil {
                compare(
                    old.interface(of: before),
                    new.interface(of: variant),
                    in: "variant \(variant.name), "
                )
            }
            if before.format != variant.format {
                let (was, now) = (before.format.rawValue, variant.format.rawValue)
                note(.formatChanged, .minor, "variant \(variant.name): \(was) became \(now)")
            }
            for raise in variant.raises(since: before) {
                let text = "variant \(variant.name) needs more of the machine: \(raise)"
                note(.requirementRaised, .minor, text)
            }
        }
    }

    mutating func note(_ row: ContractRow, _ step: VersionStep, _ text: String) {
        let change = ContractChange(row: row, step: step, text: text)
        if !changes.contains(change) { changes.append(change) }
    }
}

extension Variant {
    /// What a machine that had all that `old` needs may lack for this, each in words.
    fileprivate func raises(since old: Variant) -> [String] {
        var raises = requires.raises(since: old.requires)
        if let need = memory, need.peak > (old.memory?.peak ?? 0) {
            let before = old.memory.map { "\($0.peak) bytes" } ?? "nothing said"
            raises.append("memory, \(before) became \(need.peak) bytes")
        }
        // A machine with one of the old units alone must still do.
        if old.compute.contains(where: { !compute.contains($0) }) {
            func shown(_ units: [ComputeUnit]) -> String { units.map(\.rawValue).joined(separator: " or ") }
            raises.append("compute, \(shown(old.compute)) became \(shown(compute))")
        }
        return raises
    }
}

extension Requirements {
    /// What a machine that had all of `old` may lack of this, each in words.
    fileprivate func raises(since old: Requirements) -> [String] {
        var raises: [String] = []
        func compare(_ what: String, _ new: Int64?, _ old: Int64?) {
            guard let new, new > (old ?? 0) else { return }
            raises.append("\(what), \(old.map { "\($0)" } ?? "none") became \(new)")
        }
        func compare(_ what: String, _ new: String?, _ old: String?) {
            guard let new, new != old else { return }
            raises.append("\(what), \(old ?? "any") became \(new)")
        }
        compare("IR version", irVersion, old.irVersion)
        compare("specification version", specificationVersion, old.specificationVersion)
        for (domain, version) in opsets.sorted(by: { $0.key < $1.key }) {
            compare("operators of \(domain)", version, old.opsets[domain])
        }
        func compare(_ what: String, _ new: Minimum?, _ old: Minimum?) {
            guard let new, !new.isMet(by: old) else { return }
            raises.append("\(what), \(old?.shown ?? "any") became \(new.shown)")
        }
        compare("operating system", operatingSystem, old.operatingSystem)
        compare("runtime", runtime, old.runtime)
        compare("architecture", architecture, old.architecture)
        return raises
    }
}

extension Requirements.Minimum {
    /// Whether whoever has the other has this too.
    fileprivate func isMet(by old: Self?) -> Bool {
        guard let old, old.name == name else { return false }
        guard let minimum else { return true }
        return old.minimum.map { !Version.isOlder($0, than: minimum) } ?? false
    }

    fileprivate var shown: String { [name, minimum].compactMap(\.self).joined(separator: " ") }
}
