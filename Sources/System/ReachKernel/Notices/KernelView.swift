package import ReachCore
internal import ReachLoop

/// This process's copy of the kernel's tables, and the queries that complete it. Confined to one thread.
package final class KernelView {
    package let queries: KernelQueries
    package internal(set) var table = NetworkTable()
    /// How old the parts of what is known are: what is derived from them is found again once they have changed.
    private(set) var age = ViewAge()
    /// What of the kernel's links and their addresses is in ``table``.
    var extent = Extent.all
    package let policy: LinkPolicy
    private var devices = DeviceTraits()
    private var conditions = Derived<[InterfaceIndex: LinkCondition]>([:])
    /// The conditions that rest on what carries a tunnel, which routes decide.
    private var routedConditions = Derived<[InterfaceIndex: LinkCondition]>([:])
    /// What carries the tunnels.
    let tunnels = TunnelUnderlay()
    /// How often access points have refused links since this process observes them.
    package private(set) var admissions = AdmissionCounter()
    /// The policy rules; `nil` until they are asked for.
    private var knownRules = Derived<[Rule]?>(nil)
    /// The families that have no route of the type `throw`, as far as it is known.
    private var familiesWithoutThrowRoutes = Derived<Set<IPAddress.Family>>([])
    /// When neighbours that the kernel asks, and that have not answered, count as failed.
    var unansweredUntil: [Neighbour.Key: BootTime] = [:]
    /// What dates the failures of links' neighbours, for a while.
    var datings: [InterfaceIndex: (dating: NeighbourDating, at: BootTime)] = [:]
    /// When links became usable, since this process observes them.
    private(set) var usableSince: [InterfaceIndex: BootTime] = [:]
    /// The Wi-Fi networks behind links; `nil` where no one wants to know.
    let wireless: WirelessView?
    /// What is known of the leases of links; `nil` where no one reads leases.
    var leases: LeaseFindings? {
        didSet { if leases?.hotspots != oldValue?.hotspots { age.raise(.networks) } }
    }

    /// - Parameters:
    ///   - vrf: The VRF whose paths count; `nil` for the one in which this process runs, if any.
    ///   - wantsWireless: Whether to query the Wi-Fi networks of links, which loads a library where there is Wi-Fi.
    package init(
        policy: LinkPolicy = LinkPolicy(), vrf: String? = nil, wantsWireless: Bool = false
    ) throws(NetlinkError) {
        self.policy = policy
        wireless = wantsWireless ? WirelessView() : nil
        queries = try KernelQueries(vrf: vrf)
    }

    /// What was seen of links since they are observed, by this view or by another one of the same network.
    var observed: ObservedLinks {
        get {
            var observed = ObservedLinks()
            observed.usableSince = usableSince
            (observed.carriedTunnels, observed.independentTunnels) = (tunnels.carried, tunnels.independent)
            return observed
        }
        set {
            usableSince = newValue.usableSince
            (tunnels.carried, tunnels.independent) = (newValue.carriedTunnels, newValue.independentTunnels)
        }
    }

    /// Reads everything again.
    package func refresh() throws(NetlinkError) {
        var new = NetworkTable()
        for link in try queries.links() { _ = new.apply(.link(link)) }
        for address in try queries.addresses() { _ = new.apply(.address(address)) }
        new.keepPortals(of: table)
        new.keepDomains(of: table)
        try new.keepGateways(of: table) { key throws(NetlinkError) in
            try queries.neighbourEntry(key)?.hardwareAddress
        }
        wireless?.forgetAll()
        devices.follow(from: table.links, to: new.links)
        for key in table.neighbours.keys {
            let state = try validState(of: try queries.neighbourEntry(key), key)
            // As with notices: a failed neighbour that the kernel asks again stays failed until it answers.
            let isAskedAgain = state == .incomplete && table.neighbours[key] == .failed
            new.setNeighbour(key, to: isAskedAgain ? .failed : state)
        }
        table = new
        extent = .all
        age.raiseAll()
    }

    /// The routes that end the search in their table, in all tables. The kernel walks all routes for it, of which a
    /// router has a million: so they are not read again where there are none.
    package func throwRoutes(_ family: IPAddress.Family) throws(NetlinkError) -> [Route] {
        guard !familiesWithoutThrowRoutes[age.throwRoutes].contains(family) else { return [] }
        let found = try queries.routes(of: .throw, family)
        if found.isEmpty { familiesWithoutThrowRoutes[age.throwRoutes].insert(family) }
        return found
    }

    /// To be called where the kernel reports more than before from now on: what it has not reported may matter.
    func expectMoreReports() { age.raise(.reports) }

    /// To be called where an evaluation begins: routes change without a notice, and decide what carries tunnels.
    func expectOtherRoutes() { age.raise(.routes) }

    /// The policy rules. They are read once, and again after a change.
    package func rules() throws(NetlinkError) -> [Rule] {
        if let known = knownRules[age.rules] { return known }
        let new = try queries.rules()
        knownRules[age.rules] = new
        return new
    }

    /// Whether a rule applies to some IPv4 sources only, as far as the rules have been read.
    var hasSourceRules: Bool { knownRules[age.rules]?.contains(where: \.selectsIPv4Source) == true }

    /// Whether a rule applies to some IPv4 sources only.
    func readSourceRules() throws(NetlinkError) -> Bool {
        _ = try rules()
        return hasSourceRules
    }

    /// Applies a notice to the tables.
    ///
    /// - Returns: The effect of the notice; `nil` if it changes nothing.
    package func apply(_ notice: Notice) -> NetworkTable.Effect? {
        if case .link(let link) = notice { observe(link, after: table.links[link.index]) }
        if case .linkRemoved(let index) = notice { forget(index) }
        let (gateways, domains) = (table.gateways, table.domains)
        let effect = table.apply(notice)
        age.count(notice, hasEffect: effect != nil, mayIdentifyNetwork)
        if table.gateways != gateways || table.domains != domains { age.raise(.networks) }
        return effect
    }

    private func observe(_ link: Link, after earlier: Link?) {
        if earlier?.isUsable != link.isUsable { wireless?.forget(link.index) }
        if earlier?.isUsable == false, link.isUsable { usableSince[link.index] = SystemClock.boot }
        devices.follow(link.index, from: earlier, to: link)
        admissions.observe(link, after: earlier)
    }

    private func forget(_ index: InterfaceIndex) {
        devices.follow(index, from: table.links[index], to: nil)
        tunnels.remove(index)
        usableSince[index] = nil
        datings[index] = nil
        wireless?.remove(index)
        admissions.forget(index)
    }

    /// Adds a link that was read by itself.
    func add(_ link: Link, _ addresses: [InterfaceAddress]) {
        _ = apply(.link(link))
        for address in addresses { _ = apply(.address(address)) }
    }

    // MARK: - Networks

    /// Applies what a router's advertisement says.
    ///
    /// - Returns: Its effect; `nil` if it changes nothing.
    func apply(_ announcement: DomainAnnouncement) -> NetworkTable.Effect? {
        let effect = table.apply(announcement)
        if effect != nil { age.raise(.networks) }
        return effect
    }

    /// Networks are seldom told by their prefixes, and containers change addresses all the time.
    private func mayIdentifyNetwork(_ address: InterfaceAddress) -> Bool {
        policy.networks.usesPrefixes || NetworkIdentity.appleHotspot?.contains(address.address) == true
    }

    /// Takes over the neighbour entry of what may be a gateway: who it is identifies the network.
    func noteHardwareAddress(in entry: Neighbour) {
        if table.gateways.update(entry) { age.raise(.networks) }
    }

    /// Notes the gateways of default routes: who they are identifies the network.
    ///
    /// - Returns: Whether more or something else is now known of the network behind a link, and anybody wants to know
    ///   that.
    func noteGateways(of routes: some Sequence<DefaultRoute>) throws(NetlinkError) -> Bool {
        var hasChanged = false
        for route in routes {
            guard let gateway = route.gateway, try noteGateway(gateway, of: route.key) else { continue }
            hasChanged = true
        }
        return hasChanged && policy.networks.identifiesNetworks
    }

    private func noteGateway(_ gateway: IPAddress, of route: DefaultRoute.Key) throws(NetlinkError) -> Bool {
        guard table.links[route.interface]?.isUsable == true, !table.gateways.knows(gateway, of: route) else {
            return false
        }
        let entry = try queries.neighbourEntry(Neighbour.Key(interface: route.interface, address: gateway))
        guard table.noteGateway(gateway, of: route, entry) else { return false }
        age.raise(.networks)
        return true
    }

    /// Forgets the gateways of all default routes but these, so that no network outlives its default route.
    ///
    /// - Returns: The links of whose network less is known now, if anybody wants to know that.
    func forgetGateways(besides routes: some Sequence<DefaultRoute>) -> Set<InterfaceIndex> {
        let links = table.gateways.keep(Set(routes.filter { $0.gateway != nil }.map(\.key)))
        guard policy.networks.identifiesNetworks, !links.isEmpty else { return [] }
        age.raise(.networks)
        return links
    }

    /// Forgets the Wi-Fi network of a link, so that it is queried again.
    ///
    /// - Returns: Whether it is another one than before.
    func refreshWireless(of index: InterfaceIndex) -> Bool {
        guard let wireless, wireless.refresh(index) else { return false }
        age.raise(.networks)
        return true
    }

    private func identities(of members: some Sequence<InterfaceIndex>) -> [InterfaceIndex: NetworkIdentity] {
        var identities: [InterfaceIndex: NetworkIdentity] = [:]
        for index in members {
            guard let link = table.links[index] else { continue }
            var identity = table.identity(of: index)
            if let wireless, link.isUp, devices.known[index]?.hasPHY80211 == true {
                identity.wireless = wireless.network(of: index)
            }
            identity.isAndroidHotspot = leases?.hotspots.contains(index) == true
            if identity != NetworkIdentity() { identities[index] = identity }
        }
        return identities
    }

    /// The condition of a link.
    package func condition(of index: InterfaceIndex) throws(NetlinkError) -> LinkCondition {
        if let known = conditions[age.conditions][index] { return known }
        if let known = routedConditions[age.routedConditions][index] { return known }
        let stack = try stack(for: index)
        let condition = stack.condition(of: index)
        if stack.carriesTunnels(index) {
            routedConditions[age.routedConditions][index] = condition
        } else {
            conditions[age.conditions][index] = condition
        }
        return condition
    }

    /// Whether an interface is metered; `false` if there is no such interface, or the kernel cannot say what carries
    /// it.
    package func isMetered(_ interface: String) -> Bool {
        guard let link = table.link(named: interface) else { return false }
        return (try? condition(of: link.index))?.traits.isMetered ?? false
    }

    /// The links, with the traits of the link `index` and of those below it.
    package func stack(for index: InterfaceIndex) throws(NetlinkError) -> LinkStack { try stack(for: [index]) }

    /// The links, with the traits of these and of those below them.
    func stack(for links: Set<InterfaceIndex>) throws(NetlinkError) -> LinkStack {
        var members: Set<InterfaceIndex> = []
        for index in links {
            try read(index)
            members.formUnion(try findCarriers(of: index).members(of: index))
        }
        return makeStack(identities(of: members))
    }

    /// The links without what identifies networks, with the traits of the link `index` and of those below it.
    func readStack(for index: InterfaceIndex) -> LinkStack {
        // What is read of a link may show that there is another one below it.
        while devices.read(makeStack().members(of: index), among: table.links) {}
        return makeStack()
    }

    /// These links and all below them; `nil` if it cannot be said by the table alone which those are.
    package func carriers(of carried: Set<InterfaceIndex>) -> Set<InterfaceIndex>? {
        var all: Set<InterfaceIndex> = []
        for index in carried {
            let stack = readStack(for: index)
            // A route decides what carries a tunnel, and flows decide what carries a bridge of Open vSwitch.
            guard stack.class(of: index) != .tunnel, !stack.carriesTunnels(index) else { return nil }
            for member in stack.members(of: index) {
                guard table.links[member]?.kind != LinkStack.openVSwitch else { return nil }
                all.insert(member)
            }
        }
        return all
    }

    /// All links, with their traits and with the links that carry the tunnels.
    package func fullStack() throws(NetlinkError) -> LinkStack {
        try readAll()
        _ = devices.read(table.links.keys, among: table.links)
        for index in table.links.keys.sorted() { _ = try findCarriers(of: index) }
        return makeStack(identities(of: table.links.keys))
    }

    private func makeStack(_ identities: [InterfaceIndex: NetworkIdentity] = [:]) -> LinkStack {
        LinkStack(
            links: table.links, index: table.index, traits: devices.known, policy: policy,
            tunnelCarriers: tunnels.known(at: age.carriers), identities: identities)
    }
}
