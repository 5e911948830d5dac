extension RootCauseFinder {
    // MARK: - One link

    /// Why a link cannot carry packets: the lowest broken link of those that carry it. `nil` if no problem is known.
    func linkCause(of index: InterfaceIndex) -> RootCause? {
        guard stack.trouble(with: index) != nil, var broken = table.links[index] else { return nil }
        // The kernel nests links at most eight deep; the table may contain a cycle for a moment.
        for _ in 0..<32 {
            guard broken.isUp, let next = stack.firstBroken(below: broken.index)?.link, next.index != broken.index
            else { break }
            broken = next
        }
        return RootCause(kind(ofBroken: broken), interface: broken.name)
    }

    private func kind(ofBroken link: Link) -> RootCause.Kind {
        let linkClass = stack.class(of: link.index)
        if linkClass.isRadio, let radio = radio(link) {
            return radio == .blockedBySoftware ? .radioBlocked : .radioSwitchedOff
        }
        if linkClass == .wwan { return .modemNotConnected }
        guard link.isUp else { return .linkDown }
        if case .stackedOnPorts = stack.kind(of: link) {
            if stack.ports(of: link).isEmpty { return .noPorts }
            if !stack.waitingPorts(of: link).isEmpty { return .portNotForwarding }
        }
        if linkClass == .wifi {
            if admissions.isRefused(link.index) { return .authenticationFailed }
            return link.isAwaitingAdmission ? .authenticating : .notAssociated
        }
        if link.isAwaitingAdmission { return .notAuthorised }
        return link.kind == "tun" ? .notAttached : .noCarrier
    }

    /// Why a link that works has no address to send from; `nil` if it has one in any of the families.
    func addressCause(of index: InterfaceIndex, _ families: Families) -> RootCause? {
        guard let link = table.links[index] else { return nil }
        let isWide = { (address: InterfaceAddress) in
            address.scope < InterfaceAddress.linkScope && !address.address.isLinkLocal
        }
        let all = table.addresses[index] ?? []
        if all.contains(where: { families.contains($0.address.family) && isWide($0) && $0.isReady }) { return nil }
        let ofFamilies = all.filter { families.contains($0.address.family) }
        let wide = ofFamilies.filter(isWide)
        return RootCause(kind(ofMissing: wide, ofFamilies, on: link, families), interface: link.name)
    }

    /// The least MTU with which the kernel has IPv6 on a link, in bytes: `IPV6_MIN_MTU`.
    private static let leastMTU: UInt32 = 1280

    private func kind(
        ofMissing wide: [InterfaceAddress], _ ofFamilies: [InterfaceAddress], on link: Link, _ families: Families
    ) -> RootCause.Kind {
        if wide.contains(where: { !$0.flags.contains(.duplicate) }) { return .addressTentative }
        if !wide.isEmpty { return .addressDuplicate }
        // A modem that is on has a link that always works, and an address once it is connected.
        if stack.class(of: link.index) == .wwan { return .modemNotConnected }
        if families == .ipv6, (1..<Self.leastMTU).contains(link.mtu) { return .smallMTU }
        if families == .ipv6, isIPv6Disabled(link) { return .ipv6Disabled }
        // Links always give themselves an address of IPv6; one of IPv4 only when DHCP has failed. An administrator may
        // have given one whose scope is the link.
        let isSelfAssigned = ofFamilies.contains {
            $0.isReady && $0.address.family == .ipv4 && $0.address.isLinkLocal
        }
        return isSelfAssigned ? .selfAssignedAddress : .noAddress
    }

    // MARK: - The links that could carry the path

    /// A link that could carry the path. The least is the one whose cause counts.
    struct Candidate: Comparable {
        /// Hardware comes before software, and software before tunnels, which need another link.
        let group: Int
        let progress: RootCause.Kind.Progress
        let rank: Int
        let index: InterfaceIndex
        let cause: RootCause

        static func < (left: Candidate, right: Candidate) -> Bool {
            (left.group, -left.progress.rawValue, left.rank, left.index)
                < (right.group, -right.progress.rawValue, right.rank, right.index)
        }
    }

    /// The link whose cause counts, of all that could carry the path.
    func closestCandidate(_ families: Families) -> Candidate? {
        var finder = self
        if let complete = completeStack() { finder.stack = complete }
        let lower = finder.lowerOfAddressed
        let links = table.links.values.filter { finder.couldCarry($0) && !lower.contains($0.index) }
        // The only link of a container, which is down and has no address yet.
        let others = links.isEmpty ? table.links.values.filter { $0.isUplinkOfContainers && finder.isAllowed($0) } : []
        return finder.candidates(links + others, families).min()
    }

    /// The links that only carry others, such as VLANs: they have no address of their own, and those have one.
    private var lowerOfAddressed: Set<InterfaceIndex> {
        var lower: Set<InterfaceIndex> = []
        for index in table.addressedLinks {
            guard let link = table.links[index], case .stackedOnLower = stack.kind(of: link), let carrier = link.lower,
                !table.addressedLinks.contains(carrier)
            else { continue }
            lower.insert(carrier)
        }
        return lower
    }

    private func candidates(_ links: [Link], _ families: Families) -> [Candidate] {
        links.map { link in
            let cause =
                linkCause(of: link.index) ?? addressCause(of: link.index, families)
                ?? RootCause(.noDefaultRoute, interface: link.name)
            let linkClass = stack.class(of: link.index)
            return Candidate(
                group: group(of: link, linkClass), progress: cause.kind.row.progress,
                rank: LinkClass.allCases.firstIndex(of: linkClass) ?? .max, index: link.index, cause: cause)
        }
    }

    /// Ports carry what their controller sends, except those of a VRF, which is only a routing table.
    private func couldCarry(_ link: Link) -> Bool {
        guard !link.flags.contains(.loopback), link.kind != "vrf" else { return false }
        if let controller = link.controller, table.links[controller]?.kind != "vrf" { return false }
        let hasAddress = table.addresses[link.index] != nil
        if stack.class(of: link.index).maySpawn, !link.isUp, !hasAddress { return false }
        return isAllowed(link)
    }

    /// Whether the condition would allow the link if it could send.
    private func isAllowed(_ link: Link) -> Bool {
        guard condition != .any else { return true }
        let linkClass = stack.class(of: link.index)
        let carrierClass = linkClass == .tunnel ? stack.carrierClass(of: link.index) : nil
        var traits = PathTraits(
            linkClass: linkClass, carrierClass: carrierClass, isMetered: stack.isMetered(link.index))
        traits.alternativeNames = link.alternativeNames
        return condition.wouldAllow(traits, of: link.name)
    }

    private func group(of link: Link, _ linkClass: LinkClass) -> Int {
        switch linkClass {
        case .wired, .wifi, .wwan, .bluetooth: return 0
        case .virtual, .other, .loopback:
            // A bridge without hardware connects containers and guests to each other.
            if case .stackedOnPorts = stack.kind(of: link), link.kind != "bond" { return 2 }
            return 1
        case .tunnel: return 3
        }
    }
}

extension Link {
    /// Whether it is of a kind that containers have as their links to the network.
    fileprivate var isUplinkOfContainers: Bool {
        kind.map { ["veth", "netkit", "macvlan", "macvtap", "ipvlan"].contains($0) } == true && controller == nil
    }
}
