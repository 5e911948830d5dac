internal import Foundation
internal import ReachCore
internal import ReachTesting
internal import Reachability
internal import ReachabilityFoundation
internal import Testing

struct FoundationTests {
    @Test func `Foundation's notification center receives changes too, with status and monitor`() async throws {
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
        source.report(.reachable("eth0"))
        source.report(.reachable("eth1"))
        #expect(try await log.wait(for: 3) == ["change 2 true", "state-change 2 true", "state-change 2 true"])

        monitor.stopPostingNotifications(token)
        source.report(.away)
        // Sequences come after observers, so by now an observer would have been called.
        _ = try await monitor.wait { $0.status == .notReachable }
        #expect(log.values.count == 3)
        monitor.stop()
    }
}
