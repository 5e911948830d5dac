package import ReachCore
internal import ReachLoop

/// The kernel's tables as this process holds them, and the means to ask for more. Confined to one thread.
package final class KernelView {
    /// A gateway that has been asked for this long without an answer counts as failed. The kernel itself gives up after
    /// three questions, one second apart, unless it was told otherwise (mcast_solicit, retrans_time_ms).
    package static let neighbourPatience: Duration = .seconds(3)

    package let queries: KernelQueries
    package private(set) var table = NetworkTable()
    package let policy: LinkPolicy
    private let traitsReader = LinkTraitsReader()
    private var traits: [InterfaceIndex: LinkTraits] = [:]
    /// What was found out of links, until one of them changes.
    private var conditions: [InterfaceIndex: LinkCondition] = [:]
    private var unansweredSince: [Neighbour.Key: BootTime] = [:]

    package init(policy: LinkPolicy = LinkPolicy()) throws(NetlinkError) {
        self.policy = policy
        queries = try KernelQueries()
    }

    /// Reads everything anew.
    package func refresh() throws(NetlinkError) {
        var fresh = NetworkTable()
        for link in try queries.links() { _ = fresh.apply(.link(link)) }
        for address in try queries.addresses() { _ = fresh.apply(.address(address)) }
        traits = traits.filter { fresh.links[$0.key]?.isSameDevice(as: table.links[$0.key]) == true }
        for key in table.neighbours.keys { fresh.learn(try queries.neighbour(key) ?? NeighbourState.none, of: key) }
        table = fresh
        conditions = [:]
    }

    /// Folds a notice.
    package func apply(_ notice: Notice) -> NetworkTable.Effect? {
        switch notice {
        case .link(let link):
            if table.links[link.index]?.isSameDevice(as: link) == false { traits[link.index] = nil }
        case .linkRemoved(let index): traits[index] = nil
        default: return table.apply(notice)
        }
        let effect = table.apply(notice)
        if effect != nil { conditions = [:] }
        return effect
    }

    /// The condition of a link.
    ///
    /// - Parameter underlay: Which link a tunnel's packets leave by, where it was found out: then nothing is kept, for
    ///   that changes with routes.
    package func condition(
        of index: InterfaceIndex, underlay: [InterfaceIndex: InterfaceIndex] = [:]
    ) -> LinkCondition {
        if underlay.isEmpty, let known = conditions[index] { return known }
        let condition = stack(for: index, underlay: underlay).condition(of: index)
        if underlay.isEmpty { conditions[index] = condition }
        return condition
    }

    /// The links with all that is known of their kinds, those that `index` rests on included.
    ///
    /// - Parameter underlay: Which link a tunnel's packets leave by, where it was found out.
    package func stack(
        for index: InterfaceIndex, underlay: [InterfaceIndex: InterfaceIndex] = [:]
    ) -> LinkStack {
        let stack = makeStack(underlay)
        return learnTraits(of: stack.members(of: index)) ? makeStack(underlay) : stack
    }

    /// All links with all that is known of their kinds, and of what carries the tunnels.
    package func wholeStack() throws(NetlinkError) -> LinkStack {
        var underlay: [InterfaceIndex: InterfaceIndex] = [:]
        for index in table.links.keys { underlay.merge(try self.underlay(of: index)) { first, _ in first } }
        _ = learnTraits(of: Array(table.links.keys))
        return makeStack(underlay)
    }

    /// The link that a tunnel's packets leave by, where its far end is known.
    package func underlay(of index: InterfaceIndex) throws(NetlinkError) -> [InterfaceIndex: InterfaceIndex] {
        guard let remote = table.links[index]?.remote,
            case .route(let route) = try queries.routes([RouteQuestion(remote)])[0],
            let below = route.hops.first?.interface, below != index
        else { return [:] }
        return [index: below]
    }

    /// - Returns: Whether anything was learnt.
    private func learnTraits(of members: [InterfaceIndex]) -> Bool {
        let unknown = members.filter { traits[$0] == nil }
        for member in unknown {
            guard let link = table.links[member] else { continue }
            traits[member] = traitsReader.traits(of: link)
        }
        return !unknown.isEmpty
    }

    private func makeStack(_ underlay: [InterfaceIndex: InterfaceIndex]) -> LinkStack {
        LinkStack(links: table.links, traits: traits, policy: policy, tunnelUnderlay: underlay)
    }

    /// Makes sure the state of a neighbour is known.
    ///
    /// - Returns: When to look again, if it is being asked and has not answered yet.
    package func learn(_ key: Neighbour.Key) throws(NetlinkError) -> BootTime? {
        if table.neighbours[key] == nil { try ask(key) }
        guard table.neighbours[key] == .incomplete else {
            unansweredSince[key] = nil
            return nil
        }
        let now = SystemClock.boot
        let since = unansweredSince[key] ?? now
        unansweredSince[key] = since
        let deadline = since + Self.neighbourPatience
        guard now >= deadline else { return deadline }
        try ask(key)
        if table.neighbours[key] == .incomplete { table.learn(.failed, of: key) }
        return nil
    }

    /// Asks for the state of a neighbour, whatever is held of it.
    ///
    /// - Returns: Whether it differs from what was held.
    @discardableResult
    package func ask(_ key: Neighbour.Key) throws(NetlinkError) -> Bool {
        let before = table.neighbours[key]
        let state = try queries.neighbour(key) ?? NeighbourState.none
        table.learn(state, of: key)
        return state != before
    }

    /// Forgets all neighbours but these.
    package func keepNeighbours(_ keys: Set<Neighbour.Key>) {
        unansweredSince = unansweredSince.filter { keys.contains($0.key) }
        table.keepNeighbours(keys)
    }
}

extension Link {
    /// What sysfs says of it still holds: a rename moves its directory, and a modem may change its hardware type.
    fileprivate func isSameDevice(as other: Link?) -> Bool {
        guard let other else { return false }
        return name == other.name && kind == other.kind && hardwareType == other.hardwareType
    }
}
