package import ReachCore

extension KernelView {
    /// Whether what leaves by a link goes into a tunnel; a link that is not known yet may be one.
    func leadsIntoTunnel(_ index: InterfaceIndex) -> Bool {
        guard table.links[index] != nil else { return true }
        return readStack(for: index).leadsIntoTunnel(index)
    }

    /// Finds out what carries the tunnels among a link and those below it.
    ///
    /// - Returns: The links, as ``readStack(for:)`` has them then.
    func findCarriers(of index: InterfaceIndex) throws(NetlinkError) -> LinkStack {
        while true {
            let stack = readStack(for: index)
            let open = stack.members(of: index).first { member in
                tunnels.known(at: age.carriers)[member] == nil && table.links[member].map(stack.needsCarriers) ?? false
            }
            guard let open, let link = table.links[open] else { return stack }
            try tunnels.find(link, in: self)
        }
    }

    /// The links that could carry a tunnel whose far end is not known.
    func carrierCandidates() throws(NetlinkError) -> [CarrierCandidate] {
        typealias Found = (index: InterfaceIndex, isHardware: Bool, works: Bool)
        var links: [Found] = []
        // Those without ports of others: few, also where there are thousands of containers.
        for link in table.links.values where link.controller == nil && !link.flags.contains(.loopback) {
            guard table.addresses[link.index] != nil || !link.isUsable else { continue }
            let stack = readStack(for: link.index)
            guard stack.couldCarryTunnels(link) else { continue }
            let isHardware = stack.isHardware(link.index)
            links.append((link.index, isHardware, stack.trouble(with: link.index) == nil))
        }
        let rank = { (link: Found) in
            (link.isHardware ? 0 : 1, link.works ? 0 : 1, link.index)
        }
        links.sort { rank($0) < rank($1) }
        links = Array(links.prefix(Self.mostCarriers))
        let anchors = IPAddress.Family.allCases.compactMap { family in
            ReferenceAddresses.standard.first { $0.family == family }
        }
        let answers = try queries.routes(
            links.flatMap { link in anchors.map { RouteQuestion($0, interface: link.index, matchesTable: true) } })
        return links.enumerated().map { place, link in
            let metrics = answers[place * anchors.count..<(place + 1) * anchors.count].compactMap { answer -> UInt32? in
                guard case .route(let route) = answer, route.type == .unicast else { return nil }
                return route.metric ?? 0
            }
            return CarrierCandidate(
                index: link.index, isHardware: link.isHardware, works: link.works,
                isInUse: table.addressedLinks.contains(link.index), metric: metrics.min())
        }
    }

    /// More than the links to the Internet of any machine.
    private static var mostCarriers: Int { 16 }

    /// Whether the far ends of a WireGuard link are silent; `nil` for other links, and without the right to ask.
    package func silence(ofTunnel index: InterfaceIndex, at now: Timestamp) -> TunnelSilence? {
        table.links[index].flatMap(tunnels.wireGuardDevice)?.silence(at: now)
    }
}
