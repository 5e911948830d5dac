internal import ReachCore

extension EncodedEvent {
    /// What somebody is told who watches through the daemon.
    package init(_ event: DaemonEvent) {
        switch event {
        case .change(let change), .unavailable(_, let change): self = .change(change, source: .daemon)
        case .resync(let moment, let reason): self = .resync(reason: reason, at: moment)
        case .wake(let moment, let slept): self = .wake(slept: slept, at: moment)
        case .dropped(let moment, let count): self = .dropped(count: count, at: moment)
        case .snapshot(let moment, let state, _):
            self = .snapshot(state, source: .daemon, isInitial: false, cause: .resync, at: moment)
        case .other(let moment, let type, let json): self = .other(type, json, at: moment)
        case .disconnected(let moment, let error, let state):
            self = .disconnected(reason: error.description, state, source: .daemon, at: moment)
        case .reconnected(let moment, let away): self = .reconnected(away: away, at: moment)
        }
    }
}
