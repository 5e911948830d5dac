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
        let (text, usual) = words(for: block, of: entry, in: group)
        let remedy = tunnelRemedy(for: block) ?? usual
        var reason = QueueExplanation.Reason(
            blocker: block.blocker, since: moment.at(block.since), until: block.until.map(moment.at), text: text,
            remedy: remedy)
        // What broke is asked of the Internet as a whole, which says nothing of a family that this machine never had.
        let waitsForDefault =
            group.key.destination.flatMap(destinations.route)?.own.isEmpty ?? true && lackedFamily(of: group) == nil
        // Of a tunnel that works, no link that is broken is the reason.
        let lacksPath = block.blocker == .path || block.blocker == .linkClass && network.paths?.tunnels.isEmpty != false
        if waitsForDefault, block.until == nil, lacksPath {
            reason.lacks = group.key.condition
        }
        return reason
    }

    /// What would end a wait for a path, where the kernel sends into a tunnel; `nil` for other waits.
    private func tunnelRemedy(for block: Block) -> String? {
        guard [.path, .linkClass, .target].contains(block.blocker), block.until == nil,
            let tunnels = network.paths?.tunnels, !tunnels.isEmpty
        else { return nil }
        let names = tunnels.map(DisplayText.sanitized).joined(separator: " and ")
        let condition = block.blocker == .linkClass ? "satisfies the condition" : "works"
        return "What is sent goes into the tunnel \(names) and not past it: "
            + "it starts when that \(condition), or is taken down."
    }

    private func words(
        for block: Block, of entry: QueueEntry, in group: RequestGroup
    ) -> (text: String, remedy: String) {
        let destination = destinations[entry.destination].destination.description
        let left = block.until.map { DurationText.describe(max($0 - now, .zero)) } ?? "a moment"
        switch block.blocker {
        case .requestHold: return ("A user holds it.", "It continues when it is released.")
        case .queueHold: return ("The queue is held.", "It continues when the queue is released.")
        case .fleetHold:
            let reason = owners.fleetHold?.reason.map { ": " + DisplayText.sanitized($0) } ?? ""
            return ("The fleet holds the queue\(reason).", "It continues when the fleet releases it.")
        case .order:
            let first = requests[entry.id].flatMap(requests.predecessor).map { requests[$0].id }
            return (
                "Request \(first.map(\.description) ?? ""), before it in its order, is not over.",
                "It continues when that one is over."
            )
        case .backoff: return backoffWords(for: entry, left: left)
        case .clock:
            return ("The clock is not set, so that certificates cannot be judged.", "It is tried again in \(left).")
        case .disk where block.until != nil:
            return (
                "The disk has no room for its answer.", "It is tried again in \(left), and goes on when there is room."
            )
        case .disk: return ("The queue's file cannot be written.", "It continues when there is room on the disk.")
        case .breaker:
            let remedy = block.until == nil ? "The attempt on its way decides." : "One attempt is made in \(left)."
            let last = destinations.trouble(at: entry.destination)?.lastFailure.map { failure in
                failure.trouble.map { ", the last time since \($0.words)" }
                    ?? failure.words.map { ", the last time with \($0)" } ?? ", the last time without a response"
            }
            return ("\(destination) failed too often\(last ?? "").", remedy)
        case .budget: return ("\(destination) was retried too often.", "It may be retried in \(left).")
        case .rate where block.isAsked:
            let time = block.until.map { moment.at($0).wall.description } ?? "later"
            return ("The server asked to wait until \(time).", "It may start in \(left).")
        case .rate: return ("Starts are spread over time.", "It may start in \(left).")
        case .concurrency: return ("All transfer slots are in use.", "It starts when one of them is free.")
        case .interceptor: return interceptionWords(for: entry, in: group)
        case .canary: return canaryWords(for: entry, in: group, until: block.until)
        case .join: return joinWords(of: entry, left: left)
        case .meteredBudget: return meteredWords(of: entry, in: group)
        case .window: return windowWords(for: entry, in: group, left: left)
        default: return networkWords(for: block, in: group)
        }
    }

    private func backoffWords(for entry: QueueEntry, left: String) -> (text: String, remedy: String) {
        // An interceptor has it sent again without a failure.
        guard entry.attempts > 0 || entry.flags.contains(.networkFailure) else {
            return ("It is sent again after a wait.", "It is tried again in \(left).")
        }
        let isNetwork = entry.flags.contains(.networkFailure)
        let cause = entry.failure.words ?? (isNetwork ? "the network failed" : "there was no response")
        return (
            "Attempt \(entry.tries) failed (\(cause)); retrying in \(left).",
            isNetwork ? "It is tried earlier if the network changes." : "Nothing has to be done."
        )
    }

    private func canaryWords(
        for entry: QueueEntry, in group: RequestGroup, until: BootTime?
    ) -> (text: String, remedy: String) {
        let way = group.path.map { " by \($0.interface)" } ?? ""
        let remedy = "It starts when one is answered"
        guard let canary = group.gate.canaries[entry.owner], canary.count > 0 else {
            return ("One request is sent first to see whether the link works.", "\(remedy).")
        }
        guard canary.failures > 0 else {
            return ("One request was sent first to see whether the link works.", "\(remedy).")
        }
        let next = until.map { "; the next one is sent in \(DurationText.describe(max($0 - now, .zero)))" } ?? ""
        return ("What was sent\(way) to see whether the link works was not answered.", "\(remedy)\(next).")
    }

    private func windowWords(
        for entry: QueueEntry, in group: RequestGroup, left: String
    ) -> (text: String, remedy: String) {
        let remedy = "It starts when the link stays up for longer; the next look is in \(left)."
        guard let path = group.path, let history = network.history(of: path),
            let longest = history.longestWindow(at: now, policy), let time = history.time(for: entry.bytes)
        else { return ("Its body would take longer than its link stays up.", remedy) }
        return (
            "Its body would take about \(DurationText.describe(time)), and \(path.interface) recently stayed up for "
                + "\(DurationText.describe(longest)) at most.", remedy
        )
    }

    private func interceptionWords(for entry: QueueEntry, in group: RequestGroup) -> (text: String, remedy: String) {
        let name = DisplayText.sanitized(group.key.interceptor ?? "")
        switch entry.place {
        case .preparing: return ("Its interceptor '\(name)' prepares it.", "It starts when that is done.")
        case .judged:
            return ("Its interceptor '\(name)' judges the server's answer.", "It continues when that is done.")
        default:
            guard !admission.isRegistered(group.key.interceptor) else {
                return ("Its interceptor '\(name)' prepares others first.", "It starts after them.")
            }
            return ("No interceptor is registered as '\(name)'.", "It starts when the program registers one.")
        }
    }

    private func networkWords(for block: Block, in group: RequestGroup) -> (text: String, remedy: String) {
        let condition = group.key.condition
        if let until = block.until {
            return (
                "'\(condition)' has held only for a moment.",
                "It may start in \(DurationText.describe(max(until - now, .zero))), if that lasts."
            )
        }
        switch block.blocker {
        case .metered: return ("Only metered connections are available.", "It starts when there is an unmetered one.")
        case .validated where network.paths == nil:
            return ("Nothing is known about the network yet.", "It starts when there is a path.")
        case .validated: return ("No path is proved to reach the Internet.", "It starts when a probe has proved one.")
        case .quality:
            return (
                "No line is known to be \(condition.quality?.rawValue ?? "measured").",
                "It starts when one is; only a daemon with \"quality = true\" below [connectivity] measures lines."
            )
        case .notValidated where network.paths?.paths.contains(where: \.hasPortal) == true:
            return (
                "A portal answers in the place of the Internet.", "It starts when the portal lets this machine pass."
            )
        case .notValidated
        where group.key.destination.flatMap(destinations.route)?.own.contains(where: \.hasPortal) == true:
            return (
                "Its host has a private address, as portals give to all names, and what answers is not proved to be the Internet.",
                "It starts when a probe has proved a path. With https, or an address in the URL, it need not wait."
            )
        case .notValidated:
            return (
                "It has credentials or a body in the clear, and what answers is not proved to be the Internet.",
                "It starts when a probe has proved a path."
            )
        case .otherNetwork: return networkWords(for: condition)
        case .condition:
            return (
                "This version of reach does not know its condition '\(DisplayText.sanitized(condition.description))'.",
                "It starts with the newer version that added it; or cancel it, and add it with another condition."
            )
        case .family: return ("No path has the default route it needs.", "It starts when there is one.")
        case .target:
            return ("Its host is not reachable.", "It starts when there is a path to it.")
        case .path where lackedFamily(of: group) != nil:
            let family = lackedFamily(of: group) == .ipv4 ? "IPv4" : "IPv6"
            return (
                "\(group.key.destination?.description ?? "Its host") has only an \(family) address, and no path of "
                    + "this machine has \(family).", "It starts when one has."
            )
        case .path: return ("There is no network path\(target(of: group)).", "It starts when there is one.")
        case .name:
            return (
                "Its name is not resolved by the name servers that can be reached.",
                "It is looked up again now and then, and when the network changes."
            )
        default:
            let hostPath = group.key.destination.flatMap(destinations.route)?.own.first
            guard let hostPath else { return ("No path satisfies '\(condition)'.", "It starts when there is one.") }
            return (
                "The path\(target(of: group)), by \(DisplayText.sanitized(hostPath.interface)), does not satisfy '\(condition)'.",
                "It starts when there is one that does."
            )
        }
    }

    /// The only family of its host's addresses, where it is the one that all paths lack; `nil` otherwise.
    private func lackedFamily(of group: RequestGroup) -> IPAddress.Family? {
        guard let route = group.key.destination.flatMap(destinations.route), route.own.isEmpty,
            let paths = network.paths?.paths, !paths.isEmpty, route.defaultFamilies.count == 1,
            let family = route.defaultFamilies.first, !paths.contains(where: { $0.families.contains(family) })
        else { return nil }
        return family
    }

    private func networkWords(for condition: NetworkCondition) -> (text: String, remedy: String) {
        guard let network = condition.network else {
            let names = condition.excludedNetworks.sorted().map { "'\($0)'" }.joined(separator: " and ")
            return ("Only \(names) can be reached, which it must not use.", "It starts when there is another network.")
        }
        return ("This machine is not in the network '\(network)'.", "It starts when it is.")
    }

    private func target(of group: RequestGroup) -> String { group.key.destination.map { " to \($0)" } ?? "" }
}
