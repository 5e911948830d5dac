/// A description of one link: its kind, the links that carry it, and whether it carries the Internet's paths.
package struct LinkReport: Hashable, Sendable {
    package var link: Link
    package var linkClass: LinkClass
    /// The name of the bridge, bond, team or VRF of which it is a port.
    package var controller: String?
    /// Names of the links that carry it, nearest first.
    package var lower: [String]
    /// Why the link cannot carry packets; `nil` if no problem is known.
    package var trouble: Reason?
    /// The name of the broken link below that breaks this one, too.
    package var brokenLower: String?
    package var isMetered: Bool
    package var meteredReason: MeteredReason?
    /// The network behind it: a configured name, or a private identifier; `nil` if it is not known.
    package var network: String?
    package var isTrusted = false
    /// The Wi-Fi network that it has joined; `nil` for other links.
    package var wireless: WirelessLink?
    /// The addresses, usable ones first, IPv4 before IPv6.
    package var addresses: [InterfaceAddress]
    /// What the daemon's checks have proved of the Internet over it; `nil` without checks of it.
    package var proof: Proof?
    /// The bytes that it has carried since it appeared; `nil` if that is not known.
    package var traffic: Traffic?
    /// The families whose path to the Internet leaves by this link.
    package var carriesInternet: Set<IPAddress.Family>

    package struct Proof: Hashable, Sendable {
        package internal(set) var connectivity: Connectivity
        /// Why the Internet does not answer, where more than that is proved.
        package var reason: Reason?
        /// When the last check ended.
        package var checked: Timestamp?
        /// How long the servers of the last checks that proved the Internet took to accept a connection, at best.
        package var roundTrip: Duration?
        /// What the line is like; `nil` where it is not measured.
        package var quality: LineQuality?

        package init(_ connectivity: Connectivity, checked: Timestamp? = nil, roundTrip: Duration? = nil) {
            self.connectivity = connectivity
            self.checked = checked
            self.roundTrip = roundTrip
        }
    }

    package struct Traffic: Hashable, Sendable {
        package let received: UInt64
        package let sent: UInt64

        package init(received: UInt64, sent: UInt64) {
            self.received = received
            self.sent = sent
        }
    }

    /// Creates a report from the state of the kernel.
    ///
    /// - Parameters:
    ///   - stack: All links with their kinds.
    ///   - internet: The verdict on the Internet at the same moment.
    package init(_ link: Link, in table: NetworkTable, stack: LinkStack, internet: Verdict) {
        self.link = link
        linkClass = stack.class(of: link.index)
        controller = link.controller.flatMap { table.links[$0]?.name }
        lower = stack.lowerNames(of: link.index)
        trouble = stack.trouble(with: link.index)
        let broken = link.isUp ? stack.firstBroken(below: link.index)?.link : nil
        brokenLower = broken.flatMap { $0.index == link.index ? nil : $0.name }
        let traits = stack.condition(of: link.index).traits
        (isMetered, meteredReason) = (traits.isMetered, traits.meteredReason)
        (network, isTrusted) = (traits.network, traits.isTrusted)
        addresses = (table.addresses[link.index] ?? []).enumerated()
            .sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }.map(\.element)
        let paths = [(IPAddress.Family.ipv4, internet.ipv4), (.ipv6, internet.ipv6)]
        carriesInternet = Set(
            paths.filter { $1.status == .reachable && $1.interfaceIndex == link.index }.map(\.0))
    }

    /// Creates a report from values that a daemon sent. Of the link's controller only the name is known.
    package init(
        _ link: Link, linkClass: LinkClass = .other, controller: String? = nil, lower: [String] = [],
        trouble: Reason? = nil, brokenLower: String? = nil, isMetered: Bool = false,
        addresses: [InterfaceAddress] = [], carriesInternet: Set<IPAddress.Family> = []
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

    /// Adds what a daemon knows of the Internet. Its state decides what the link carries, since another look at the
    /// kernel may find that a gateway is just asked again that does not answer.
    package mutating func adopt(_ internet: ReachabilityState?, proofs: [String: Proof]) {
        proof = proofs[link.name]
        guard let internet else { return }
        let paths = [(IPAddress.Family.ipv4, internet.ipv4), (.ipv6, internet.ipv6)]
        carriesInternet = Set(
            paths.filter { $1.status == .reachable && $1.interfaceIndex == link.index }.map(\.0))
    }

    /// Whether the link says nothing about what the machine is connected to. Such links are created automatically: the
    /// host's ends of containers' veth pairs, the fallback devices of tunnel modules.
    package var isBackground: Bool {
        guard carriesInternet.isEmpty else { return false }
        if linkClass == .virtual, controller != nil { return true }
        return linkClass.maySpawn && !link.isUp && addresses.isEmpty
    }
}

extension InterfaceAddress {
    fileprivate var rank: Int {
        let usefulness = isPreferred ? 0 : isReady && !flags.contains(.deprecated) ? 2 : 4
        return usefulness + (address.family == .ipv4 ? 0 : 1)
    }
}

/// A Wi-Fi link at the moment when it was asked for.
package struct WirelessLink: Hashable, Sendable {
    package var network: WirelessNetwork
    /// Of the channel, in MHz.
    package var frequency: UInt32?
    /// The strength of the last received frame, in dBm.
    package var signal: Int8?
    /// Rates of the last frames, in kbit/s.
    package var sendRate: UInt64?
    package var receiveRate: UInt64?
    package var security: WirelessSecurity?

    package init(network: WirelessNetwork) { self.network = network }
}
