/// All that is to be said of one link: what it is, what carries it, and what it carries.
package struct LinkReport: Hashable, Sendable {
    package let link: Link
    package let linkClass: LinkClass
    /// The name of the bridge, bond, team or VRF that it is a port of.
    package let controller: String?
    /// Names of the links that carry it, nearest first.
    package let lower: [String]
    /// Why nothing can be sent through it; `nil` if nothing is known against it.
    package let trouble: Reason?
    /// The link below that is broken and takes it along.
    package let brokenLower: String?
    package let isMetered: Bool
    /// Those that can be used come first, IPv4 before IPv6.
    package let addresses: [InterfaceAddress]
    /// The families in which the way to the Internet leaves by it.
    package let carriesInternet: Set<IPAddress.Family>

    /// - Parameters:
    ///   - stack: All links, with what is known of their kinds.
    ///   - internet: The Internet's paths at the same moment.
    package init(_ link: Link, in table: NetworkTable, stack: LinkStack, internet: Verdict) {
        self.link = link
        linkClass = stack.class(of: link.index)
        controller = link.controller.flatMap { table.links[$0]?.name }
        lower = stack.lowerNames(of: link.index)
        trouble = stack.trouble(with: link.index)
        let broken = link.isUp ? stack.firstBroken(below: link.index)?.link : nil
        brokenLower = broken.flatMap { $0.index == link.index ? nil : $0.name }
        isMetered = stack.isMetered(link.index)
        addresses = (table.addresses[link.index] ?? []).enumerated()
            .sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }.map(\.element)
        let paths = [(IPAddress.Family.ipv4, internet.ipv4), (.ipv6, internet.ipv6)]
        carriesInternet = Set(
            paths.filter { $1.status == .reachable && $1.interfaceIndex == link.index }.map(\.0))
    }

    /// A report that somebody else made. Of the link's controller only the name is known then.
    package init(
        _ link: Link, linkClass: LinkClass, controller: String?, lower: [String], trouble: Reason?,
        brokenLower: String?,
        isMetered: Bool, addresses: [InterfaceAddress], carriesInternet: Set<IPAddress.Family>
    ) {
        self.link = link
        self.linkClass = linkClass
        self.controller = controller
        self.lower = lower
        self.trouble = trouble
        self.brokenLower = brokenLower
        self.isMetered = isMetered
        self.addresses = addresses
        self.carriesInternet = carriesInternet
    }

    /// Made by software in passing, and of no use to anybody who asks what the machine is connected to: the ends of
    /// containers' cables, the fallback devices of tunnel modules.
    package var isBackground: Bool {
        guard carriesInternet.isEmpty else { return false }
        if linkClass == .virtual, controller != nil { return true }
        return [.virtual, .tunnel, .other].contains(linkClass) && !link.isUp && addresses.isEmpty
    }
}

extension InterfaceAddress {
    fileprivate var rank: Int {
        let usefulness = isPreferred ? 0 : isReady && !flags.contains(.deprecated) ? 2 : 4
        return usefulness + (address.family == .ipv4 ? 0 : 1)
    }
}
