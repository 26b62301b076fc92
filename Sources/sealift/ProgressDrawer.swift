import Blocking
import Names
import SyncAgent

/// What a sync is doing, drawn over itself on a terminal and nowhere else.
final class ProgressDrawer: Sendable {
    private let meter = Guarded(TransferMeter())

    func show(_ event: SyncEvent) {
        guard Output.isTerminal else { return }
        switch event {
        case .phase(let phase): Output.progress(Self.words[phase] ?? "\(phase)")
        case .progress(let verified, let total):
            let (rate, left) = meter.withLock { meter in
                meter.note(verified: verified, of: total)
                return (meter.bytesPerSecond, meter.secondsLeft)
            }
            Output.progress(Self.line(verified, total, rate, left))
        case .decided: break
        }
    }

    func end() { if Output.isTerminal { Output.progress("") } }

    private static let words: [SyncPhase: String] = [
        .refreshing: "asking the registry for what is current", .choosing: "choosing versions",
        .downloading: "downloading", .checking: "checking the received files",
        .activating: "switching to the new generation", .collecting: "removing what nothing needs",
    ]

    /// For example `downloading: 3.1 MB of 12.4 MB, 25 %, 1.2 MB/s, 8 s left`.
    static func line(_ verified: UInt64, _ total: UInt64, _ rate: Double?, _ left: Double?) -> String {
        let share = total > 0 ? Int(Double(verified) / Double(total) * 100) : 100
        var line =
            "downloading: \(ByteCount(rawValue: verified)) of \(ByteCount(rawValue: total)), \(share) %"
        if let rate { line += ", \(ByteCount(rawValue: UInt64(min(max(rate, 0), 1e15))))/s" }
        if let left { line += ", \(duration(left)) left" }
        return line
    }

    private static func duration(_ seconds: Double) -> String {
        let whole = Int(min(max(seconds, 0), 1e9).rounded(.up))
        if whole < 120 { return "\(whole) s" }
        if whole < 7_200 { return "\(whole / 60) min" }
        return "\(whole / 3_600) h \(whole / 60 % 60) min"
    }
}
