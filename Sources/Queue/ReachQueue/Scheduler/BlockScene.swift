internal import ReachCore

/// What a blocker is, and what would end it, in whole sentences.
typealias BlockWords = (text: String, remedy: String)

/// What the words of a blocker may name: the request that it keeps from starting, and the scheduler.
struct BlockScene {
    let scheduler: QueueScheduler
    let block: QueueScheduler.Block
    let entry: QueueEntry
    let group: RequestGroup

    private var now: BootTime { scheduler.now }
    private var network: NetworkState { scheduler.network }
    var condition: NetworkCondition { group.key.condition }

    var destination: String { scheduler.destinations[entry.destination].destination.description }

    /// The time until it ends by itself.
    var left: String { block.until.map { DurationText.describe(max($0 - now, .zero)) } ?? "a moment" }

    private var route: DestinationRoute? { group.key.destination.flatMap(scheduler.destinations.route) }

    /// The request's host, with a word before it.
    private var toHost: String { group.key.destination.map { " to \($0)" } ?? "" }

    // MARK: - What it waits for itself

    var predecessor: String {
        scheduler.requests[entry.id].flatMap(scheduler.requests.predecessor)
            .map { scheduler.requests[$0].id.description } ?? ""
    }

    var fleetsReason: String { scheduler.owners.fleetHold?.reason.map { ": " + DisplayText.sanitized($0) } ?? "" }

    var backoff: BlockWords {
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

    var rate: BlockWords {
        guard block.isAsked else { return ("Starts are spread over time.", "It may start in \(left).") }
        let time = block.until.map { scheduler.moment.at($0).wall.description } ?? "later"
        return ("The server asked to wait until \(time).", "It may start in \(left).")
    }

    var breaker: BlockWords {
        let remedy = block.until == nil ? "The attempt on its way decides." : "One attempt is made in \(left)."
        let last = scheduler.destinations.trouble(at: entry.destination)?.lastFailure.map { failure in
            failure.trouble.map { ", the last time since \($0.words)" }
                ?? failure.words.map { ", the last time with \($0)" } ?? ", the last time without a response"
        }
        return ("\(destination) failed too often\(last ?? "").", remedy)
    }

    var interception: BlockWords {
        let name = DisplayText.sanitized(group.key.interceptor ?? "")
        switch entry.place {
        case .preparing: return ("Its interceptor '\(name)' prepares it.", "It starts when that is done.")
        case .judged:
            return ("Its interceptor '\(name)' judges the server's answer.", "It continues when that is done.")
        default:
            guard !scheduler.admission.isRegistered(group.key.interceptor) else {
                return ("Its interceptor '\(name)' prepares others first.", "It starts after them.")
            }
            return ("No interceptor is registered as '\(name)'.", "It starts when the program registers one.")
        }
    }

    // MARK: - What is tried first

    var canary: BlockWords {
        let way = group.path.map { " by \($0.interface)" } ?? ""
        let remedy = "It starts when one is answered"
        guard let canary = group.gate.canaries[entry.owner], canary.count > 0 else {
            return ("One request is sent first to see whether the link works.", "\(remedy).")
        }
        guard canary.failures > 0 else {
            return ("One request was sent first to see whether the link works.", "\(remedy).")
        }
        let next = block.until.map { "; the next one is sent in \(DurationText.describe(max($0 - now, .zero)))" } ?? ""
        return ("What was sent\(way) to see whether the link works was not answered.", "\(remedy)\(next).")
    }

    var window: BlockWords {
        let remedy = "It starts when the link stays up for longer; the next look is in \(left)."
        guard let path = group.path, let history = network.history(of: path),
            let longest = history.longestWindow(at: now, scheduler.policy), let time = history.time(for: entry.bytes)
        else { return ("Its body would take longer than its link stays up.", remedy) }
        return (
            "Its body would take about \(DurationText.describe(time)), and \(path.interface) recently stayed up for "
                + "\(DurationText.describe(longest)) at most.", remedy
        )
    }

    // MARK: - Paths

    /// Where a path is there, and has to stay for a moment; `nil` where it is missing.
    var settling: BlockWords? {
        guard let until = block.until else { return nil }
        return (
            "'\(condition)' has held only for a moment.",
            "It may start in \(DurationText.describe(max(until - now, .zero))), if that lasts."
        )
    }

    /// What would end a wait for a path, where the kernel sends into a tunnel; `nil` for other waits.
    var tunnelRemedy: String? {
        guard let lack = block.blocker.row?.tunnelLacks, block.until == nil, let tunnels = network.paths?.tunnels,
            !tunnels.isEmpty
        else { return nil }
        let names = tunnels.map(DisplayText.sanitized).joined(separator: " and ")
        return "What is sent goes into the tunnel \(names) and not past it: "
            + "it starts when that \(lack), or is taken down."
    }

    var withoutPath: BlockWords {
        guard let family = lackedFamily else {
            return ("There is no network path\(toHost).", "It starts when there is one.")
        }
        return (
            "\(group.key.destination?.description ?? "Its host") has only an \(family.title) address, and no path of "
                + "this machine has \(family.title).", "It starts when one has."
        )
    }

    /// The path by a route of the host's own, which alone the condition is asked of.
    private var ownPath: QueuePath? { condition.isTargetReachable ? group.targetPath : route?.own.first }

    /// Such as `The path to http://192.0.2.1:80, by eth0,`; `nil` where the host has no path of its own.
    private var theOwnPath: String? {
        ownPath.map { "The path\(toHost), by \(DisplayText.sanitized($0.interface))," }
    }

    var withoutClass: BlockWords {
        guard let theOwnPath else { return ("No path satisfies '\(condition)'.", "It starts when there is one.") }
        return ("\(theOwnPath) does not satisfy '\(condition)'.", "It starts when there is one that does.")
    }

    var withoutUnmetered: BlockWords {
        guard let theOwnPath else {
            return ("Only metered connections are available.", "It starts when there is an unmetered one.")
        }
        return ("\(theOwnPath) is metered.", "It starts when there is an unmetered one.")
    }

    var withoutProof: BlockWords {
        guard let paths = network.paths else {
            return ("Nothing is known about the network yet.", "It starts when there is a path.")
        }
        guard let ownPath, let theOwnPath else {
            return ("No path is proved to reach the Internet.", "It starts when a probe has proved one.")
        }
        let text = "\(theOwnPath) is not proved to reach the Internet."
        guard paths[interfaceIndex: ownPath.interfaceIndex] == nil else {
            return (text, "It starts when a probe has proved it.")
        }
        return (
            text,
            "Only links with a default route are tested. A host that is reached without the Internet needs no 'validated'."
        )
    }

    var withoutQuality: BlockWords {
        let quality = condition.quality?.rawValue ?? "measured"
        return (
            theOwnPath.map { "\($0) is not known to be \(quality)." } ?? "No line is known to be \(quality).",
            "It starts when one is; only a daemon with \"quality = true\" below [connectivity] measures lines."
        )
    }

    var notValidated: BlockWords {
        if network.paths?.paths.contains(where: \.hasPortal) == true {
            return (
                "A portal answers in the place of the Internet.", "It starts when the portal lets this machine pass."
            )
        }
        if route?.own.contains(where: \.hasPortal) == true {
            return (
                "Its host has a private address, as portals give to all names, and what answers is not proved to be the Internet.",
                "It starts when a probe has proved a path. With https, or an address in the URL, it need not wait."
            )
        }
        return (
            "It has credentials or a body in the clear, and what answers is not proved to be the Internet.",
            "It starts when a probe has proved a path."
        )
    }

    var otherNetwork: BlockWords {
        if let theOwnPath {
            return ("\(theOwnPath) does not satisfy '\(condition)'.", "It starts when there is one that does.")
        }
        guard let network = condition.network else {
            let names = condition.excludedNetworks.sorted().map { "'\($0)'" }.joined(separator: " and ")
            return ("Only \(names) can be reached, which it must not use.", "It starts when there is another network.")
        }
        return ("This machine is not in the network '\(network)'.", "It starts when it is.")
    }

    /// The only family of its host's addresses, where it is the one that all paths lack; `nil` otherwise.
    var lackedFamily: IPAddress.Family? {
        guard let route, route.own.isEmpty,
            let paths = network.paths?.paths, !paths.isEmpty, route.defaultFamilies.count == 1,
            let family = route.defaultFamilies.first, !paths.contains(where: { $0.families.contains(family) })
        else { return nil }
        return family
    }
}
