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
            if variant.requires.isRaised(from: before.requires) {
                note(.requirementRaised, .minor, "variant \(variant.name) needs more of the machine")
            }
        }
    }

    mutating func note(_ row: ContractRow, _ step: VersionStep, _ text: String) {
        let change = ContractChange(row: row, step: step, text: text)
        if !changes.contains(change) { changes.append(change) }
    }
}

extension Requirements {
    /// Whether a machine that had all of `old` may lack something of this.
    func isRaised(from old: Requirements) -> Bool {
        func isMore(_ new: Int64?, _ old: Int64?) -> Bool { (new ?? 0) > (old ?? 0) }
        func differs(_ new: Minimum?, _ old: Minimum?) -> Bool { new != nil && new != old }
        return isMore(irVersion, old.irVersion) || isMore(specificationVersion, old.specificationVersion)
            || opsets.contains { isMore($0.value, old.opsets[$0.key]) }
            || differs(operatingSystem, old.operatingSystem) || differs(runtime, old.runtime)
            || (architecture != nil && architecture != old.architecture)
    }
}
