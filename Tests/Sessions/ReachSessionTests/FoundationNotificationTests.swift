import Foundation
import ReachCore
import ReachSession
import ReachSessionFoundation
import ReachTesting
import Testing

/// Notifications through Foundation.
@Suite(.timeLimit(.minutes(1))) struct FoundationNotificationTests {
    @Test func `Foundation's notification centre receives notifications of tasks`() async throws {
        let stage = try SessionStage()
        let center = NotificationCenter()
        let log = EventLog<String>()
        for name in [Notification.Name.requestDidResume, .requestDidSuspend, .requestDidComplete] {
            _ = center.addObserver(forName: name, object: nil, queue: nil) { notification in
                let object = notification.userInfo?[RequestNotification.Key.serializedResponse.rawValue]
                log.append("\(notification.name.rawValue) \((object as? ResponseObject)?.json == nil)")
            }
        }
        let token = stage.session.postNotifications(to: center)
        try await stage.session.get("").response()
        #expect(try await log.wait(for: 2) == ["io.reach.request.resume true", "io.reach.request.complete false"])
        stage.session.removeObserver(token)
        try await stage.session.get("").response()
        #expect(log.values.count == 2)
    }
}
