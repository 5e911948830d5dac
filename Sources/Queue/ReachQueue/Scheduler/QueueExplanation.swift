package import ReachCore

/// Why a request is not running, and what would let it.
package struct QueueExplanation: Hashable, Sendable {
    /// One of the reasons.
    package struct Reason: Hashable, Sendable {
        package var blocker: Blocker
        package var since: Instant
        /// When it ends by itself, if that is known.
        package var until: Instant?
        /// Whole sentences: what it is, and what would end it.
        package var text: String
        package var remedy: String
        /// What a default route has to satisfy, if the request waits for one; `nil` if it waits for something else.
        package var lacks: NetworkCondition?

        package init(blocker: Blocker, since: Instant, until: Instant?, text: String, remedy: String) {
            self.blocker = blocker
            self.since = since
            self.until = until
            self.text = text
            self.remedy = remedy
        }
    }

    package let state: QueuedRequestState
    package let owner: UInt32
    /// Empty when it runs, or will in a moment.
    package let reasons: [Reason]
    /// The path it would take or takes.
    package let path: QueuePath?
    package let attempts: Int
    package let networkFailures: Int
    package let tries: Int
    /// When it dies.
    package let deadline: Instant
    /// Why it died.
    package let death: DeathReason?
}

extension QueueScheduler {
    /// Takes microseconds, however many requests wait.
    ///
    /// - Parameter moment: Now; not earlier than that of the last command.
    /// - Returns: `nil` for requests that are done, cancelled or unknown.
    package func explain(_ id: RequestID, at moment: Instant) -> QueueExplanation? {
        guard let slot = requests[id] else { return nil }
        var copy = self
        copy.turn.moment = moment
        return copy.explanation(of: slot)
    }

    private func explanation(of slot: Slot) -> QueueExplanation {
        let entry = requests[slot]
        let group = gates[entry.group]
        let attempt = attempts.first(at: slot)
        let isIdle = attempt == nil && entry.place != .dead && entry.place != .storing
        let reasons = isIdle ? blocks(of: slot).map { reason(for: $0, of: entry, in: group) } : []
        return QueueExplanation(
            state: state(of: slot), owner: entry.owner, reasons: reasons,
            path: attempt?.path ?? (group.gate.isClosed ? nil : group.path),
            attempts: Int(entry.attempts), networkFailures: Int(entry.networkFailures), tries: Int(entry.tries),
            deadline: moment.at(entry.deadline), death: entry.reason)
    }

    private func reason(for block: Block, of entry: QueueEntry, in group: RequestGroup) -> QueueExplanation.Reason {
        let scene = BlockScene(scheduler: self, block: block, entry: entry, group: group)
        let (text, remedy) = block.blocker.row?.words(scene) ?? ("", "")
        var reason = QueueExplanation.Reason(
            blocker: block.blocker, since: moment.at(block.since), until: block.until.map(moment.at), text: text,
            remedy: scene.tunnelRemedy ?? remedy)
        // What broke is asked of the Internet as a whole, which says nothing of a family that this machine never had.
        let waitsForDefault =
            group.key.destination.flatMap(destinations.route)?.own.isEmpty ?? true && scene.lackedFamily == nil
        // Of a tunnel that works, no link that is broken is the reason.
        let lacksPath = block.blocker == .path || block.blocker == .linkClass && network.paths?.tunnels.isEmpty != false
        if waitsForDefault, block.until == nil, lacksPath {
            reason.lacks = group.key.condition
        }
        return reason
    }
}
