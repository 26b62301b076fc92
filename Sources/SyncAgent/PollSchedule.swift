import Names

/// When a watching agent syncs next.
///
/// Devices that poll at one time would all come at once, so each wait is drawn
/// a little shorter or longer; and a registry in trouble is asked less and less
/// often, never more often than it wants.
package struct PollSchedule: Sendable {
    /// A first try again after an outage comes this soon, in seconds.
    private static let firstRetry = 5.0

    /// Seconds between polls; the registry's signed settings decide unless the operator did.
    private let override: Double?
    private var signed: Int64 = 3_600
    private var outages = 0

    package init(every seconds: Double? = nil) { override = seconds }

    /// What the next wait is, in seconds.
    ///
    /// - Parameters:
    ///   - report: What the sync did; `nil` when it was stopped.
    ///   - failure: What stopped it.
    ///   - chance: From 0 up to but not 1.
    /// - Returns: Seconds.
    package mutating func wait(
        after report: SyncReport?,
        _ failure: SyncError?,
        chance: Double
    ) -> Double {
        if let report { signed = report.pollSeconds }
        let poll = override ?? Double(signed)
        let failures = [failure].compactMap { $0 } + (report?.models.compactMap(\.failure) ?? [])
        let asked = Double(failures.compactMap(\.retryAfter).max() ?? 0)
        let isOutage = failures.contains { $0.kind == .temporary && $0.errorCode != .paused }
        guard isOutage else {
            outages = 0
            return max(poll * (0.9 + 0.2 * chance), asked)
        }
        outages += 1
        let ceiling = min(poll, Self.firstRetry * Double(UInt64(1) << UInt64(min(outages - 1, 20))))
        // Behind what was asked for, and not all in one moment.
        return max(ceiling * (0.5 + 0.5 * chance), asked * (1 + 0.1 * chance))
    }
}
