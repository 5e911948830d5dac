package import ReachCore
internal import ReachLoop

/// This process's copy of the kernel's tables, and the queries that complete it. Confined to one thread.
package final class KernelView {
    /// The time after which a gateway that does not answer counts as failed. By default the kernel itself gives up
    /// after three solicitations, one second apart (mcast_solicit, retrans_time_ms).
    package static let neighbourPatience: Duration = .seconds(3)

    package let queries: KernelQueries
    package internal(set) var table = NetworkTable()
    /// What of the kernel's links and their addresses is in ``table``.
    var extent = Extent.all
    package let policy: LinkPolicy
    private let traitsReader = LinkTraitsReader()
    private var traits: [InterfaceIndex: LinkTraits] = [:]
    /// The conditions found so far; emptied when any link changes.
    private var conditions: [InterfaceIndex: LinkCondition] = [:]
    /// Those of them that rest on routes: see ``forgetCarriers()``.
    private var routedConditions: Set<InterfaceIndex> = []
    /// What carries the tunnels.
    let tunnels = TunnelUnderlay()
    /// How often access points have refused links since this process observes them.
    package private(set) var admissions = AdmissionCounter()
    /// The policy rules; `nil` until they are asked for, and after a change.
    private var knownRules: [Rule]?
    /// The families that have no route of the type `throw`, as far as it is known: each new one that covers a watched
    /// address comes with a notice.
    private var familiesWithoutThrowRoutes: Set<IPAddress.Family> = []
    /// Since when the kernel asks neighbours that have not answered.
    var unansweredSince: [Neighbour.Key: BootTime] = [:]
    /// What dates the failures of links' neighbours, for a while.
    var datings: [InterfaceIndex: (dating: NeighbourDating, at: BootTime)] = [:]
    /// When links became usable, since this process observes them.
    private(set) var usableSince: [InterfaceIndex: BootTime] = [:]
    /// The Wi-Fi networks behind links; `nil` where no one wants to know.
    let wireless: WirelessView?
    /// What is known of the leases of links; `nil` where no one reads leases.
    private(set) var leases: LeaseFindings?
    /// Whether what is known of a network changed in a way that may concern both families.
    private var hasOtherIdentity = false
    /// Whether anybody wants to know the networks behind links. Without that, a gateway is only a part of a path.
    private let identifiesNetworks: Bool

    /// - Parameters:
    ///   - vrf: The VRF whose paths count; `nil` for the one in which this process runs, if any.
    ///   - wantsWireless: Whether to query the Wi-Fi networks of links, which loads a library where there is Wi-Fi.
    package init(
        policy: LinkPolicy = LinkPolicy(), vrf: String? = nil, wantsWireless: Bool = false
    ) throws(NetlinkError) {
        self.policy = policy
        identifiesNetworks = policy.networks.identifiesNetworks
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
        traits = traits.filter { new.links[$0.key]?.isSameDevice(as: table.links[$0.key]) == true }
        for key in table.neighbours.keys {
            let state = try validState(of: try queries.neighbourEntry(key), key)
            // As with notices: a failed neighbour that the kernel asks again stays failed until it answers.
            let isAskedAgain = state == .incomplete && table.neighbours[key] == .failed
            new.setNeighbour(key, to: isAskedAgain ? .failed : state)
        }
        table = new
        extent = .all
        hasOtherIdentity = true
        conditions = [:]
        tunnels.forget()
        knownRules = nil
        forgetThrowRoutes()
    }

    /// The routes that end the search in their table, in all tables. The kernel walks all routes for it, of which a
    /// router has a million: so they are not read again where there are none.
    package func throwRoutes(_ family: IPAddress.Family) throws(NetlinkError) -> [Route] {
        guard !familiesWithoutThrowRoutes.contains(family) else { return [] }
        let found = try queries.routes(of: .throw, family)
        if found.isEmpty { familiesWithoutThrowRoutes.insert(family) }
        return found
    }

    /// Makes the next question read them again. To be called where more addresses are watched than before.
    func forgetThrowRoutes() { familiesWithoutThrowRoutes = [] }

    /// The policy rules. They are read once, and again after a change.
    package func rules() throws(NetlinkError) -> [Rule] {
        if let knownRules { return knownRules }
        let new = try queries.rules()
        knownRules = new
        return new
    }

    /// Whether a rule applies to some IPv4 sources only, as far as the rules have been read.
    var hasSourceRules: Bool { knownRules?.contains(where: \.selectsIPv4Source) == true }

    /// Whether a rule applies to some IPv4 sources only.
    func readSourceRules() throws(NetlinkError) -> Bool {
        _ = try rules()
        return hasSourceRules
    }

    /// Applies a notice to the tables.
    ///
    /// - Returns: The effect of the notice; `nil` if it changes nothing.
    package func apply(_ notice: Notice) -> NetworkTable.Effect? {
        switch notice {
        case .link(let link):
            let earlier = table.links[link.index]
            if earlier?.isUsable != link.isUsable { wireless?.forget(link.index) }
            if earlier?.isUsable == false, link.isUsable { usableSince[link.index] = SystemClock.boot }
            if earlier?.isSameDevice(as: link) == false { traits[link.index] = nil }
            admissions.observe(link, after: earlier)
        case .linkRemoved(let index):
            traits[index] = nil
            tunnels.remove(index)
            usableSince[index] = nil
            datings[index] = nil
            wireless?.remove(index)
            admissions.forget(index)
        case .rule, .ruleRemoved:
            knownRules = nil
            return table.apply(notice)
        case .route(let route, _):
            if route.type == .throw { forgetThrowRoutes() }
            return table.apply(notice)
        case .address(let address), .addressRemoved(let address):
            let effect = table.apply(notice)
            if effect != nil { noteAddressChange(of: address) }
            return effect
        case .neighbour(let neighbour):
            let earlier = table.gateways
            let effect = table.apply(notice)
            if table.gateways != earlier { noteIdentityChange(of: neighbour.key.interface) }
            return effect
        default: return table.apply(notice)
        }
        let effect = table.apply(notice)
        if effect != nil {
            conditions = [:]
            tunnels.forget()
        }
        return effect
    }

    /// Adds a link that was read by itself.
    func add(_ link: Link, _ addresses: [InterfaceAddress]) {
        _ = table.apply(.link(link))
        for address in addresses { _ = table.apply(.address(address)) }
    }

    // MARK: - Networks

    /// Applies what a router's advertisement says.
    ///
    /// - Returns: Its effect; `nil` if it changes nothing.
    func apply(_ announcement: DomainAnnouncement) -> NetworkTable.Effect? {
        let effect = table.apply(announcement)
        if effect != nil { noteIdentityChange(of: announcement.interface) }
        return effect
    }

    /// Networks are seldom told by their prefixes, and containers change addresses all the time.
    private func noteAddressChange(of address: InterfaceAddress) {
        guard policy.networks.usesPrefixes || NetworkIdentity.appleHotspot?.contains(address.address) == true else {
            return
        }
        noteIdentityChange(of: address.interface)
    }

    func noteIdentityChange(of interface: InterfaceIndex) {
        conditions = [:]
        hasOtherIdentity = true
    }

    /// Whether what is known of a network has changed since the last call.
    package func takeIdentityChange() -> Bool {
        defer { hasOtherIdentity = false }
        return hasOtherIdentity
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
        return hasChanged && identifiesNetworks
    }

    private func noteGateway(_ gateway: IPAddress, of route: DefaultRoute.Key) throws(NetlinkError) -> Bool {
        guard table.links[route.interface]?.isUsable == true, !table.gateways.knows(gateway, of: route) else {
            return false
        }
        let entry = try queries.neighbourEntry(Neighbour.Key(interface: route.interface, address: gateway))
        guard table.noteGateway(gateway, of: route, entry) else { return false }
        noteIdentityChange(of: route.interface)
        return true
    }

    /// Forgets the gateways of all default routes but these, so that no network outlives its default route.
    ///
    /// - Returns: The links of whose network less is known now, if anybody wants to know that.
    func forgetGateways(besides routes: some Sequence<DefaultRoute>) -> Set<InterfaceIndex> {
        let links = table.gateways.keep(Set(routes.filter { $0.gateway != nil }.map(\.key)))
        guard identifiesNetworks else { return [] }
        for link in links { noteIdentityChange(of: link) }
        return links
    }

    /// - Parameter new: What is known of the leases of links; `nil` where no one reads leases.
    /// - Returns: Whether it differs from what was known.
    package func setLeases(_ new: LeaseFindings?) -> Bool {
        guard new != leases else { return false }
        if new?.hotspots != leases?.hotspots {
            conditions = [:]
            hasOtherIdentity = true
        }
        leases = new
        return true
    }

    /// Forgets the Wi-Fi network of a link, so that it is queried again.
    ///
    /// - Returns: Whether it is another one than before.
    func refreshWireless(of index: InterfaceIndex) -> Bool {
        guard let wireless, wireless.refresh(index) else { return false }
        noteIdentityChange(of: index)
        return true
    }

    private func identities(of members: some Sequence<InterfaceIndex>) -> [InterfaceIndex: NetworkIdentity] {
        var identities: [InterfaceIndex: NetworkIdentity] = [:]
        for index in members {
            guard let link = table.links[index] else { continue }
            var identity = table.identity(of: index)
            if let wireless, link.isUp, traits[index]?.hasPHY80211 == true {
                identity.wireless = wireless.network(of: index)
            }
            identity.isAndroidHotspot = leases?.hotspots.contains(index) == true
            if identity != NetworkIdentity() { identities[index] = identity }
        }
        return identities
    }

    /// The condition of a link.
    package func condition(of index: InterfaceIndex) throws(NetlinkError) -> LinkCondition {
        if let cached = conditions[index] { return cached }
        let stack = try stack(for: index)
        let condition = stack.condition(of: index)
        conditions[index] = condition
        // Routes, of which many change without a notice, decide what carries a tunnel.
        if stack.carriesTunnels(index) { routedConditions.insert(index) }
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
            try findCarriers(of: index)
            members.formUnion(readStack(for: index).members(of: index))
        }
        return makeStack(tunnels.known, identities(of: members))
    }

    /// The links without what identifies networks, with the traits of the link `index` and of those below it.
    func readStack(for index: InterfaceIndex) -> LinkStack {
        // What is read of a link may show that there is another one below it.
        while readTraits(of: makeStack(tunnels.known).members(of: index)) {}
        return makeStack(tunnels.known)
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
        _ = readTraits(of: table.links.keys)
        for index in table.links.keys.sorted() { try findCarriers(of: index) }
        return makeStack(tunnels.known, identities(of: table.links.keys))
    }

    // MARK: - What carries tunnels

    /// Makes the next questions find out again what carries tunnels. The routes that decide it change without a notice.
    func forgetCarriers() {
        tunnels.forget()
        for index in routedConditions { conditions[index] = nil }
        routedConditions = []
    }

    /// Reads the traits of those links whose traits are not known yet.
    ///
    /// - Returns: Whether there were any.
    private func readTraits(of members: some Sequence<InterfaceIndex>) -> Bool {
        // A look for the key alone, since traits would be copied: each loss asks for those of all links.
        let unknown = members.filter { traits.index(forKey: $0) == nil }.compactMap { table.links[$0] }
        for link in unknown { traits[link.index] = traitsReader.traits(of: link) }
        return !unknown.isEmpty
    }

    private func makeStack(
        _ carriers: [InterfaceIndex: TunnelCarriers], _ identities: [InterfaceIndex: NetworkIdentity] = [:]
    ) -> LinkStack {
        LinkStack(
            links: table.links, index: table.index, traits: traits, policy: policy, tunnelCarriers: carriers,
            identities: identities)
    }
}

extension Link {
    /// Whether traits that were read from sysfs still hold: a rename moves the link's directory, and a modem may change
    /// its hardware type.
    fileprivate func isSameDevice(as other: Link?) -> Bool {
        guard let other else { return false }
        return name == other.name && kind == other.kind && hardwareType == other.hardwareType
    }
}
