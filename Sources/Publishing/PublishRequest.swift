package import Checking
package import Manifest
package import Names
package import RegistryAPI

/// What somebody asked to be published.
package struct PublishRequest: Sendable {
    package var model: ModelName

    /// `nil` takes the smallest version that may come next.
    package var version: ModelVersion?
    package var variants: [VariantSource]
    package var card: Card?

    /// Files and folders with golden vectors.
    package var checks: [String] = []

    /// What runs golden vectors here; `nil` when there is no runtime.
    package var checkProgram: CheckProgram?

    /// Where the version goes into use; `nil` only releases it.
    package var channel: ChannelName?

    /// Ten-thousandths of the devices.
    package var rollout = Listing.fullRollout
    package var aim = Ceremony.Aim.commit

    /// Apps whose registered expectation the version may break.
    package var breaks: [AppName] = []

    package init(model: ModelName, version: ModelVersion?, variants: [VariantSource]) {
        self.model = model
        self.version = version
        self.variants = variants
    }
}

/// What became of it.
package struct PublishReport: Sendable {
    package let manifest: ModelManifest
    package let digest: Digest

    /// Bytes that went to the registry; what it had already is not sent.
    package let uploaded: UInt64
    package let total: UInt64

    /// `nil` for a dry run, while signatures are collected, and when the registry had all of it already.
    package internal(set) var commit: CommitResponse?
    package let leftOut: [String]

    /// The change, signed as far as the keys at hand go; `nil` when everything asked for is so already.
    package var proposal: Proposal?

    /// Signatures that are still to be collected, or would be after a dry run's.
    package var missing: [MissingSignatures] = []

    /// Of each variant, what became of the golden vectors here, for people; empty when there are none.
    package var checked: [String] = []

    /// Roles that must soon be signed again for devices to take this version.
    package var ending: [EndingRole] = []
}
