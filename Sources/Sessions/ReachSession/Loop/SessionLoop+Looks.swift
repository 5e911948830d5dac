internal import ReachCore
internal import ReachQueue
internal import ReachLoop
internal import ReachQueueRuntime

/// Requests that wait for a path, to their own host or to the Internet. At first the path may only be unchecked, or a
/// name may still be in the resolver: neither suspends the task for the network.
extension SessionLoop {
    /// The requests that wait for the first state of a target.
    struct FirstLook {
        var ids: Set<RequestID> = []
        var end: () -> Void = {}
    }

    func awaitLook(_ id: RequestID) {
        guard let request = tasks[id]?.first?.plan.queued.specification else { return }
        let target = (request.condition.isTargetReachable ? request.destination.target : nil) ?? .internet
        let isFirst = looks[target] == nil
        looks[target, default: FirstLook()].ids.insert(id)
        guard isFirst else { return }
        let end = network.follow(target) { [weak self] event in
            guard case .change(let change) = event else { return }
            // Runs outside the call that starts the watch, and after the queue has received the state.
            self?.loop.afterEvents { self?.looked(target, change.state) }
        }
        looks[target]?.end = end
    }

    private func looked(_ target: Target, _ state: ReachabilityState) {
        guard let look = looks.removeValue(forKey: target) else { return }
        look.end()
        let waiting = look.ids.filter { !networkBlockers(of: $0).isEmpty && !answerWhenOffline($0) }
        for id in waiting { isOffline(id, tasks[id] ?? []) }
        guard case .name(let name) = target.subject, state.status == .notReachable, state.reason == .nameNotResolved
        else { return }
        failIfOnline(waiting, "\(name): there is no host of this name")
    }

    private func networkBlockers(of id: RequestID) -> Blocker {
        let reasons = engine?.driver.explain(id)?.reasons ?? []
        return reasons.reduce(into: Blocker()) { $0.insert($1.blocker) }.intersection(.network)
    }

    /// Fails requests whose host name has no address, where they allow a single attempt and the Internet is reachable.
    /// Without the Internet a resolver may give that answer for any name.
    private func failIfOnline(_ ids: Set<RequestID>, _ text: String) {
        let once = ids.filter { tasks[$0]?.first?.plan.queued.specification.maximumAttempts == 1 }
        guard !once.isEmpty else { return }
        lastOnlineWatch += 1
        let number = lastOnlineWatch
        onlineWatches[number] = network.follow(.internet) { [weak self] event in
            guard case .change(let change) = event else { return }
            // Runs outside the call that starts the watch.
            self?.loop.afterEvents {
                guard let self, let end = self.onlineWatches.removeValue(forKey: number) else { return }
                end()
                guard change.state.status == .reachable else { return }
                for task in once.flatMap({ self.tasks[$0] ?? [] }) {
                    if task.end(with: RequestError(.destination, "name-not-found", text)) { self.cancel(task) }
                }
            }
        }
    }
}
