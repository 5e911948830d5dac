import Glibc
import ReachCore
import ReachFleet
import ReachFleetLink
import Synchronization

/// An operator who follows the events of all hosts, across the engine's failures.
final class OperatorReader: Sendable {
    private struct State {
        var order = StreamOrder()
        var interruptions = 0
    }

    private let settings: NATSSettings
    private let state = Mutex(State())
    private let follower = Mutex<StreamFollower?>(nil)

    init(_ settings: NATSSettings) {
        var settings = settings
        settings.reconnection = .always(wait: .milliseconds(200), jitter: .milliseconds(100))
        self.settings = settings
    }

    func start() {
        guard let link = try? NATSLink.connect(settings) else { return }
        let made = StreamFollower(
            link, stream: FleetNames.events, filter: FleetNames.eventSubject(of: "*"), from: .first)
        follower.withLock { $0 = made }
        made.start { [self] event in
            state.withLock {
                switch event {
                case .message(let message): _ = $0.order.apply(message)
                case .restarted: $0.order.faults.append("the stream seemed to begin again")
                case .interrupted: $0.interruptions += 1
                case .caughtUp: break
                }
            }
        }
    }

    /// Ends after a moment without a message.
    func end() -> (order: StreamOrder, interruptions: Int) {
        var known = -1
        while known != state.withLock({ $0.order.events }) {
            known = state.withLock { $0.order.events }
            sleep(3)
        }
        follower.withLock { $0?.stop() }
        return state.withLock { ($0.order, $0.interruptions) }
    }
}
