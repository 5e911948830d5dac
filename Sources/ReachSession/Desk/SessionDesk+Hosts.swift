internal import ReachCore
internal import ReachQueue
internal import ReachLoop
internal import ReachQueueDriver
internal import ReachQueueStore
internal import ReachRequest

/// Requests that wait for a path to their own host. At first that may only mean that nobody has looked, or that its name is
/// being resolved: that is no pause of the network.
extension SessionDesk {
    /// Those who wait for the first look at a host.
    struct HostLook {
        var ids: Set<RequestID> = []
        var end: () -> Void = {}
    }

    func awaitLook(_ id: RequestID) {
        guard let destination = tasks[id]?.first?.plan.queued.destination, let target = destination.target else {
            return
        }
        let isFirst = looks[destination] == nil
        looks[destination, default: HostLook()].ids.insert(id)
        guard isFirst else { return }
        let end = network.watch(target) { [weak self] (news: NetworkNews) in
            guard case .state(let state) = news else { return }
            // Not from within the call that asks.
            self?.loop.afterEvents { self?.looked(destination, state) }
        }
        looks[destination]?.end = end
    }

    private func looked(_ destination: Destination, _ state: ReachabilityState) {
        guard let look = looks.removeValue(forKey: destination) else { return }
        look.end()
        guard state.status != .reachable else { return }
        let waiting = look.ids.filter { id in
            engine?.driver.explain(id)?.reasons.contains { $0.blocker == .target } ?? false
        }
        for task in waiting.flatMap({ tasks[$0] ?? [] }) { task.handle(.suspend(.network)) }
        guard state.status == .notReachable, state.reason == .nameNotResolved else { return }
        failIfOnline(waiting, "\(destination): there is no host of this name")
    }

    /// The resolver says that a name has no address. Where the Internet can be reached, who wants no second try is told so;
    /// elsewhere a resolver may say that of any name.
    private func failIfOnline(_ ids: Set<RequestID>, _ text: String) {
        let once = ids.filter { tasks[$0]?.first?.plan.queued.maximumAttempts == 1 }
        guard !once.isEmpty else { return }
        var end: (() -> Void)?
        end = network.watch(.internet) { [weak self] (news: NetworkNews) in
            guard case .state(let state) = news else { return }
            self?.loop.afterEvents {
                end?()
                end = nil
                guard let self, state.status == .reachable else { return }
                for task in once.flatMap({ self.tasks[$0] ?? [] }) {
                    if task.end(with: RequestError(.destination, "name-not-found", text)) { self.cancel(task) }
                }
            }
        }
    }
}
