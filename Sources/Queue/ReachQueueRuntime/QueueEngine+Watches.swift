internal import ReachCore
internal import ReachLoop
package import ReachQueue

/// Watches the hosts for which requests wait.
///
/// The last one goes on for a moment when its requests are over. Of requests that come one after the other, each would
/// otherwise begin a watch: three questions to the kernel, and a quarter of what the request costs.
extension QueueEngine {
    /// A host whose requests are over, and how long its watch goes on.
    struct RestingWatch {
        var destination: Destination?
        var until = BootTime(nanoseconds: .min)
        var isTimed = false
    }

    private static let rest = Duration.seconds(1)

    package func watch(_ destination: Destination, for owner: UInt32) {
        if resting.destination == destination {
            resting.destination = nil
            if watches[destination]?.owner == owner, let known = targets[destination] {
                return report(known.state, of: destination)
            }
            endWatch(of: destination)
        }
        guard watches[destination] == nil, let target = destination.target else { return }
        let end = network.follow(target, for: owner) { [weak self] event in
            guard let self, case .change(let change) = event else { return }
            report(change.state, of: destination)
        }
        watches[destination] = (owner, end)
    }

    func report(_ state: ReachabilityState, of destination: Destination) {
        let path = feed.path(to: state)
        targets[destination] = (state, path)
        if resting.destination != destination { driver.send(.targetPath(destination, path)) }
    }

    package func unwatch(_ destination: Destination) {
        guard watches[destination] != nil else { return }
        if let before = resting.destination { endWatch(of: before) }
        resting.destination = destination
        resting.until = SystemClock.boot + Self.rest
        if !resting.isTimed { endRestLater() }
    }

    private func endRestLater() {
        resting.isTimed = true
        _ = loop.schedule(at: resting.until) { [weak self] in
            guard let self else { return }
            resting.isTimed = false
            guard let destination = resting.destination else { return }
            if resting.until > SystemClock.boot { return endRestLater() }
            resting.destination = nil
            endWatch(of: destination)
        }
    }

    private func endWatch(of destination: Destination) {
        targets[destination] = nil
        watches.removeValue(forKey: destination)?.end()
    }
}
