import Names

/// The first stage of an update: only the root may change.
///
/// Not copyable and ended by ``settled()``, which consumes it. "No new root once
/// the timestamp is loaded" is then not a check that someone has to remember:
/// a program that breaks the rule does not compile.
package struct RootStage: ~Copyable {
    /// Every root from the pinned one to the newest, in order, if they are kept.
    package private(set) var chain: [Verified<RootDocument>]
    package private(set) var root: Verified<RootDocument>
    private let clock: TrustClock
    private let keepsChain: Bool

    /// Starts from the root this device was born with.
    ///
    /// It came by a trusted way, so its own keys are all it needs; that it may
    /// have expired since does not matter (TUF 1.0.34, 5.2).
    ///
    /// - Parameters:
    ///   - anchor: The root file that this client is pinned to.
    ///   - clock: Times and policy of the update.
    ///   - keepsChain: Whether the roots on the way are kept. Any number may follow
    ///     each other, so whoever only needs the newest holds only that one.
    /// - Throws: `TrustError` for bytes that are not a root signed by itself.
    package init(anchor: [UInt8], clock: TrustClock, keepsChain: Bool = false) throws(TrustError) {
        let anchor = try Untrusted<RootDocument>(anchor).verifiedByItself()
        if clock.policy == .sealift { try SealiftShapes.check(root: anchor.document) }
        root = anchor
        chain = keepsChain ? [anchor] : []
        self.clock = clock
        self.keepsChain = keepsChain
    }

    /// Replaces the root by its successor (TUF 1.0.34, 5.3.4 to 5.3.7).
    ///
    /// The candidate must satisfy the old root's quorum and its own, and be the
    /// very next version. On any error the stage keeps the root it had.
    ///
    /// - Throws: `TrustError` that says what the candidate lacks.
    package mutating func advance(to candidate: [UInt8]) throws(TrustError) {
        try clock.checkNotBehind()
        let untrusted = Untrusted<RootDocument>(candidate)
        let next = try untrusted.verified(by: try root.document.quorum(for: .root))
        _ = try untrusted.verified(by: try next.document.quorum(for: .root))
        let expected = root.document.version + 1
        guard next.document.version == expected else {
            throw .versionOutOfOrder(role: .root, expected: expected, found: next.document.version)
        }
        if clock.policy == .sealift { try SealiftShapes.check(root: next.document) }
        root = next
        if keepsChain { chain.append(next) }
    }

    /// Ends the stage.
    ///
    /// Expiry is judged only here, because an expired root may still lead to a
    /// current one (TUF 1.0.34, 5.3.6 and 5.3.10).
    ///
    /// - Throws: `TrustError.expired`.
    package consuming func settled() throws(TrustError) -> TimestampStage {
        try root.current(at: clock.now)
        return TimestampStage(chain: chain, root: root, clock: clock)
    }
}
