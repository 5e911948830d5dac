public import Foundation
public import Reachability

extension Notification.Name {
    /// The `NetworkReachabilityStatus` of a ``ReachabilityMonitor`` changed.
    public static let reachabilityDidChange = Notification.Name(
        ReachabilityNotification.Name.reachabilityDidChange.rawValue)
    /// Anything about a ``ReachabilityMonitor``'s target changed, even at equal status.
    public static let reachabilityStateDidChange = Notification.Name(
        ReachabilityNotification.Name.reachabilityStateDidChange.rawValue)
}

extension ReachabilityMonitor {
    /// Posts every change to Foundation's notification center as well, with this monitor as the object. The user info
    /// has the status' raw value, an `Int`, under ``ReachabilityNotification/statusKey`` and the `ReachabilityChange`
    /// under ``ReachabilityNotification/changeKey``.
    ///
    /// Posting happens where this monitor calls its observers, in order with them. Foundation makes the poster wait for
    /// an observer with an operation queue; if that queue waits for ``ReachabilityMonitor/stop()``, that is a deadlock.
    /// Observers that are added late receive only later changes, since Foundation's center keeps no state.
    ///
    /// - Returns: The observer that posts, for ``ReachabilityMonitor/stopPostingNotifications(_:)``. It also ends with
    ///   the monitor.
    @discardableResult
    public func postNotifications(to center: NotificationCenter = .default) -> ReachabilityObserver {
        notificationCenter.addObserver(forName: nil, object: self) { notification in
            center.post(
                name: Notification.Name(notification.name.rawValue), object: notification.object,
                userInfo: notification.userInfo)
        }
    }

    /// Stops posting to Foundation's notification center.
    public func stopPostingNotifications(_ observer: ReachabilityObserver) {
        notificationCenter.removeObserver(observer)
    }
}
