// swift-format-ignore-file
// What Sealift uses of UIKit.
@_exported import Foundation

open class UIApplication: NSObject {
    public static let didReceiveMemoryWarningNotification = Notification.Name("memory")
    public static let didEnterBackgroundNotification = Notification.Name("background")
    public static let willEnterForegroundNotification = Notification.Name("foreground")
}
