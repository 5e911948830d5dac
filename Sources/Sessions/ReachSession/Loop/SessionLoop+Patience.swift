internal import ReachCore
internal import ReachLoop
internal import ReachQueue
internal import ReachQueueRuntime

/// Requests that wait while the network does not allow them, and for how long: a person waits for those of a session in
/// memory.
extension SessionLoop {
    /// Suspends a request's tasks for the network, or ends them where they do not wait for it.
    func isOffline(_ id: RequestID, _ tasks: [RequestTask]) {
        guard !impatient.contains(id) else { return endOffline(id, tasks) }
        for task in tasks { task.handle(.suspend(.network)) }
        if tasks.contains(where: waitsBriefly) { limitPatience() }
    }

    /// Handles the loss of the network of some requests: those that have not started have no event of their own.
    func gateClosed() {
        for id in impatient { endOffline(id, tasks[id] ?? []) }
        if tasks.values.contains(where: { $0.contains(where: waitsBriefly) }) { limitPatience() }
    }

    /// Whether nobody said for how long, or for which network, the request of the task waits.
    private func waitsBriefly(_ task: RequestTask) -> Bool {
        let wishes = task.options
        return !keepsOnDisk && wishes.waitsForConnectivity == nil && wishes.expiresAfter == nil
            && (wishes.constraint == .reachable || wishes.constraint == .any)
    }

    private func limitPatience() {
        if patience == nil { lookAgain(at: SystemClock.boot + options.patience) }
    }

    private func lookAgain(at time: BootTime) {
        patience = loop.schedule(at: time) { [weak self] in
            self?.patience = nil
            self?.endImpatient()
        }
    }

    /// Ends those that have waited long enough, and looks again later for the others.
    private func endImpatient() {
        let now = SystemClock.boot
        var next: BootTime?
        let brief = tasks.values.joined().filter(waitsBriefly)
        for task in brief {
            guard let id = task.requestID, let since = networkReasons(of: id).map(\.since.boot).min() else { continue }
            let end = since + options.patience
            if end <= now { endOffline(id, [task]) } else { next = min(next ?? end, end) }
        }
        if let next, patience == nil { lookAgain(at: next) }
    }

    private func endOffline(_ id: RequestID, _ tasks: [RequestTask]) {
        let reasons = networkReasons(of: id)
        guard let first = reasons.first else { return }
        let text = reasons.map { "\($0.text) \($0.remedy)" }.joined(separator: " ")
        for task in tasks {
            if task.end(with: RequestError(.offline, first.blocker.words.first ?? "no-path", text)) { cancel(task) }
        }
    }

    /// Why the network does not allow a request. A network that has just come settles for a moment, which is no reason.
    private func networkReasons(of id: RequestID) -> [QueueExplanation.Reason] {
        engine?.driver.explain(id)?.reasons.filter { $0.blocker.isOfNetwork && $0.until == nil } ?? []
    }
}
