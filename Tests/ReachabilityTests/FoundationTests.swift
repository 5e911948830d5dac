internal import Foundation
internal import ReachCore
internal import ReachTesting
internal import Reachability
internal import ReachabilityFoundation
internal import Testing

struct FoundationTests {
    @Test func `Foundation's notification centre hears of changes too, with status and monitor`() async throws {  // A.4
        let source = FakeSource()
        let monitor = ReachabilityMonitor(source)
        let center = NotificationCenter()
        let log = EventLog<String>()
        let key = ReachabilityNotification.statusKey
        for name in [Notification.Name.reachabilityDidChange, .reachabilityStateDidChange] {
            _ = center.addObserver(forName: name, object: monitor, queue: nil) { notification in
                let status = (notification.userInfo?[key] as? Int).flatMap(NetworkReachabilityStatus.init)
                let isMine = notification.object as? ReachabilityMonitor === monitor
                log.append("\(name.rawValue.split(separator: ".").last ?? "") \(status?.rawValue ?? 9) \(isMine)")
            }
        }
        let token = monitor.postNotifications(to: center)
        monitor.start()
        source.see(.reachable("eth0"))
        source.see(.reachable("eth1"))
        #expect(try await log.wait(for: 3) == ["change 2 true", "state-change 2 true", "state-change 2 true"])

        monitor.stopPostingNotifications(token)
        source.see(.away)
        // Blocks come before observers, and sequences after: then nobody has been told.
        _ = await monitor.wait { $0.status == .notReachable }
        #expect(log.values.count == 3)
        monitor.stop()
    }
}
