import Blocking
package import Names
package import RegistryAPI
import Trust

/// What became of a change.
package struct CeremonyReport: Sendable {
    /// `nil` when everything asked for is so already.
    package let proposal: Proposal?

    /// Signatures that are still to be collected, or would be after a dry run's.
    package let missing: [MissingSignatures]

    /// `nil` unless the registry has it now.
    package let commit: CommitResponse?

    /// What the change builds on.
    package let base: RegistryState

    /// Roles that must soon be signed again, as they are after the change.
    package let ending: [EndingRole]
}

/// One change of a registry's roles: edit, sign, rehearse, commit; built anew when somebody else was faster.
package struct Ceremony {
    /// How far to go.
    package enum Aim: Sendable, Equatable {
        /// Commit, or refuse and say who must sign.
        case commit

        /// Sign as far as the keys at hand go, and leave the rest to others.
        case collect

        /// Change and sign nothing, and refuse what would be refused, as far as that can be known before.
        case dryRun
    }

    private let client: RegistryClient
    private var view: VerifiedRegistry
    private let keys: KeyRing
    private let now: UnixTime
    private let notice: @Sendable (String) -> Void

    /// Apps whose registered expectation the change may break.
    package var breaks: [AppName] = []

    /// Roles whose lives end before it are told of.
    package var warningLimit: UnixTime

    /// - Parameters:
    ///   - client: The registry's write side.
    ///   - view: Its verified read side.
    ///   - keys: Who can sign here.
    ///   - now: The local time.
    ///   - notice: Told what a person should know meanwhile.
    package init(
        client: RegistryClient,
        view: VerifiedRegistry,
        keys: KeyRing,
        now: UnixTime,
        notice: @escaping @Sendable (String) -> Void
    ) {
        self.client = client
        self.view = view
        self.keys = keys
        self.now = now
        self.notice = notice
        warningLimit = now.adding(seconds: EndingRole.margin)
    }

    /// The registry's state, fresh.
    package mutating func state(of scope: StateScope) async throws(PublishingError) -> RegistryState {
        switch scope {
        case .model: try await view.refresh()
        case .everything: try await view.refreshToRenew()
        }
        return try await view.state(of: scope)
    }

    /// Makes a change.
    ///
    /// - Parameters:
    ///   - scope: What the change needs to see.
    ///   - aim: How far to go.
    ///   - confirm: Asked once, before anything is signed; throws to stop.
    ///   - edit: The change, made again on every state that it is built on.
    /// - Returns: What became of it.
    /// - Throws: `PublishingError`; nothing is then changed.
    package mutating func run(
        _ scope: StateScope,
        _ aim: Aim,
        confirm: (Proposal) throws(PublishingError) -> Void,
        edit: (inout RegistryDraft) throws(PublishingError) -> Void
    ) async throws(PublishingError) -> CeremonyReport {
        var isConfirmed = false
        for attempt in 0..<Contention.rebases {
            await Contention.stepAside(attempt)
            let state = try await state(of: scope)
            var draft = try RegistryDraft(on: state, now: now)
            try edit(&draft)
            guard !draft.isEmpty else { return try unchanged(state) }
            // Who collects signatures need have no token to ask with; the registry asks at ‘role import’.
            if aim != .collect, case .model(let model) = scope {
                let gate = AppGate(client: client, view: view, breaks: breaks, notice: notice)
                try await gate.check(draft, of: model, on: state)
            }
            var proposal = try draft.proposal()
            if aim == .collect { try await view.complete(&proposal, on: state) }
            guard aim != .dryRun else { return try rehearsed(proposal, on: state) }
            if !isConfirmed { try confirm(proposal) }
            isConfirmed = true
            if let report = try await finish(proposal, on: state, aim) { return report }
            if attempt == 0 { notice("somebody else published meanwhile; building on the new state") }
        }
        throw .overtaken(times: Contention.rebases, what: "the registry")
    }

    /// Commits a proposal that was signed elsewhere, with what the keys at hand add.
    ///
    /// One that is published already is no error, so that a call whose answer was lost can be repeated.
    ///
    /// - Throws: `PublishingError`, also when the registry has moved on: what others signed cannot be rebased.
    package mutating func take(
        _ proposal: Proposal,
        _ aim: Aim,
        confirm: (Proposal, RegistryState) throws(PublishingError) -> Void
    ) async throws(PublishingError) -> CeremonyReport {
        let state: RegistryState
        switch try await view.standing(of: proposal) {
        case .next(let next): state = next
        case .published(let present, let roles):
            notice("published already: \(roles)")
            return try unchanged(present)
        }
        _ = try proposal.checkedDocuments(beside: state)
        if aim != .collect {
            let gate = AppGate(client: client, view: view, breaks: breaks, notice: notice)
            try await gate.check(proposal, on: state)
        }
        guard aim != .dryRun else { return try rehearsed(proposal, on: state) }
        try confirm(proposal, state)
        guard let report = try await finish(proposal, on: state, aim) else {
            throw .unpublishable(
                "the registry changed meanwhile; make the change anew and collect signatures again"
            )
        }
        return report
    }

    /// Everything asked for is so already.
    private func unchanged(_ state: RegistryState) throws(PublishingError) -> CeremonyReport {
        let ending = try state.ending(before: warningLimit)
        return CeremonyReport(proposal: nil, missing: [], commit: nil, base: state, ending: ending)
    }

    /// What a dry run says: refused here is what signatures could not mend.
    private func rehearsed(
        _ proposal: Proposal,
        on state: RegistryState
    ) throws(PublishingError) -> CeremonyReport {
        let missing = try proposal.missing(on: state)
        if missing.isEmpty {
            try Rehearsal.check(proposal, on: state, now: now)
        } else {
            try Rehearsal.checkContents(proposal, on: state, now: now)
        }
        try keys.check(proposal)
        let rest = missing.compactMap { $0.after(signing: keys.keyIDs) }
        return try report(proposal, on: state, missing: rest, commit: nil)
    }

    private func report(
        _ proposal: Proposal,
        on state: RegistryState,
        missing: [MissingSignatures],
        commit: CommitResponse?
    ) throws(PublishingError) -> CeremonyReport {
        // What the change renews lives as long as it may. When somebody asked about a later time than that,
        // signing it once more would not help, so it is told of only when the usual warning is due.
        let soon = now.adding(seconds: EndingRole.margin)
        let renewed = Set(proposal.roles.map(\.role))
        let ending = try state.ending(before: warningLimit, after: proposal)
            .filter { $0.expires < soon || !renewed.contains($0.role) }
        return CeremonyReport(
            proposal: proposal,
            missing: missing,
            commit: commit,
            base: state,
            ending: ending
        )
    }

    /// Signs, rehearses and commits; `nil` when somebody else was faster.
    private func finish(
        _ proposal: Proposal,
        on state: RegistryState,
        _ aim: Aim
    ) async throws(PublishingError) -> CeremonyReport? {
        let keys = keys
        let signed = try await BlockingPool.shared.run { () throws(PublishingError) -> Proposal in
            var signed = proposal
            try keys.sign(&signed)
            return signed
        }
        let missing = try signed.missing(on: state)
        guard aim == .commit else {
            try Rehearsal.checkContents(signed, on: state, now: now)
            return try report(signed, on: state, missing: missing, commit: nil)
        }
        guard missing.isEmpty else {
            throw .unsigned(missing.map { $0.words(naming: keys.names) }, option: keys.option)
        }
        try Rehearsal.check(signed, on: state, now: now)
        var request = signed.request
        request.breaks = breaks
        let committed: CommitResponse
        do { committed = try await client.commit(request) } catch {
            guard case .problem(let problem, _) = error, problem.code == .conflict else { throw error }
            return nil
        }
        return try report(signed, on: state, missing: [], commit: committed)
    }
}
