public import Foundation
public import Reachability

extension Notification.Name {
    /// The status of a ``ReachabilityMonitor`` changed, as `NetworkReachabilityStatus` has it.
    public static let reachabilityDidChange = Notification.Name(
        ReachabilityNotification.Name.reachabilityDidChange.rawValue)
    /// Anything about a ``ReachabilityMonitor``'s target changed, at equal status too.
    public static let reachabilityStateDidChange = Notification.Name(
        ReachabilityNotification.Name.reachabilityStateDidChange.rawValue)
}

extension ReachabilityMonitor {
    /// Posts every change to Foundation's notification centre as well, with this monitor as the object. The user info
    /// has the status' raw value, an `Int`, under ``ReachabilityNotification/statusKey`` and the `ReachabilityChange`
    /// under ``ReachabilityNotification/changeKey``.
    ///
    /// It is posted where this monitor calls its observers, in their order. An observer with an operation queue makes
    /// the poster wait for it; where that queue waits in turn for ``ReachabilityMonitor/stop()``, neither goes on.
    /// Observers that are added late hear of the next change only: that centre keeps no state.
    ///
    /// - Returns: What ends it, by ``ReachabilityMonitor/stopPostingNotifications(_:)``. It also ends with the monitor.
    @discardableResult
    public func postNotifications(to center: NotificationCenter = .default) -> ReachabilityObserver {
        notificationCenter.addObserver(forName: nil, object: self) { notification in
            center.post(
                name: Notification.Name(notification.name.rawValue), object: notification.object,
                userInfo: notification.userInfo)
        }
    }

    /// Posts to Foundation's notification centre no more.
    public func stopPostingNotifications(_ observer: ReachabilityObserver) {
        notificationCenter.removeObserver(observer)
    }
}
