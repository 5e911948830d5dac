public import Foundation
public import ReachSession

extension Notification.Name {
    /// A ``RequestTask`` was resumed.
    public static let requestDidResume = Notification.Name(RequestNotification.didResume.rawValue)
    /// A ``RequestTask`` was suspended, by its user or for the network.
    public static let requestDidSuspend = Notification.Name(RequestNotification.didSuspend.rawValue)
    /// An attempt of a ``RequestTask`` is about to be sent.
    public static let requestDidStart = Notification.Name(RequestNotification.didStart.rawValue)
    /// The server continues the download of a ``RequestTask`` at ``RequestTask/resumeOffset``.
    public static let requestDidResumeAtOffset = Notification.Name(RequestNotification.didResumeAtOffset.rawValue)
    /// A ``RequestTask`` is complete.
    public static let requestDidComplete = Notification.Name(RequestNotification.didComplete.rawValue)
    /// A ``RequestSession`` was closed. The object is the session, unless it was closed by its release; the user info
    /// has under ``RequestSession/isWrittenKey`` whether all data was written.
    public static let requestSessionDidClose = Notification.Name("io.reach.session.close")
}

extension RequestSession {
    /// The key of a `Bool` in the user info of `requestSessionDidClose`.
    public static let isWrittenKey = "io.reach.session.close.written"

    /// Posts the session's notifications to Foundation's notification centre as well, with the task as the object.
    ///
    /// The user info of a completed task has AFNetworking's own keys (``RequestNotification/Key``) and Foundation's
    /// types: the bytes are `Data`, the path of a download is a file's `URL`, the error is a `LocalizedError`.
    ///
    /// They are posted where this session calls its observers, in the order of these.
    ///
    /// - Returns: The observer, for ``RequestSession/removeObserver(_:)``, which ends the posting of the tasks'
    ///   notifications. It also ends with the session, whose end is posted in any case.
    @discardableResult
    public func postNotifications(to center: NotificationCenter = .default) -> RequestObserver {
        whenClosed { [weak self] isWritten in
            center.post(name: .requestSessionDidClose, object: self, userInfo: [RequestSession.isWrittenKey: isWritten])
        }
        return addObserver { event in
            let information = event.userInfo.map { ($0.key.rawValue as AnyHashable, foundation($0.value, for: $0.key)) }
            center.post(
                name: Notification.Name(event.name.rawValue), object: event.task,
                userInfo: Dictionary(uniqueKeysWithValues: information))
        }
    }
}

private func foundation(_ value: any Sendable, for key: RequestNotification.Key) -> Any {
    switch (key, value) {
    case (.responseData, let bytes as [UInt8]): Data(bytes)
    case (.assetPath, let path as String): URL(filePath: path)
    default: value
    }
}
