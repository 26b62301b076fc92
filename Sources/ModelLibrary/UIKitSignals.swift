#if canImport(UIKit)
// The life of an app as UIKit tells it.
public import UIKit

/// Memory warnings, and the way to the background and back.
public final class UIKitSignals: PressureSource, LifecycleSource {
    private let signals = ReportedSignals()

    /// Listens from now on.
    ///
    /// - Parameter center: Where UIKit posts.
    public init(center: NotificationCenter = .default) {
        let signals = signals
        func observe(_ name: Notification.Name, _ report: @escaping @Sendable () -> Void) {
            // Kept by the center until the process ends, as these signals are.
            _ = center.addObserver(forName: name, object: nil, queue: nil) { @Sendable _ in report() }
        }
        observe(UIApplication.didReceiveMemoryWarningNotification) { signals.reportPassing(.critical) }
        observe(UIApplication.didEnterBackgroundNotification) { signals.report(.background) }
        observe(UIApplication.willEnterForegroundNotification) { signals.report(.foreground) }
    }

    /// A memory warning is critical, since the app is about to be ended, and passes as `ReportedSignals` says.
    public func levels() -> AsyncStream<MemoryPressure> { signals.levels() }

    /// The background and the foreground.
    public func phases() -> AsyncStream<LifecyclePhase> { signals.phases() }
}
#endif
