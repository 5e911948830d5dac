package import ReachCore

extension Link {
    /// A typical link: up, running, Ethernet.
    package static func up(
        _ index: InterfaceIndex, _ name: String, kind: String? = nil, on lower: InterfaceIndex? = nil,
        portOf controller: InterfaceIndex? = nil
    ) -> Link {
        var link = Link(index: index, name: name)
        link.flags = [.up, .running, .lowerUp]
        link.operationalState = .up
        link.kind = kind
        link.lower = lower
        link.controller = controller
        return link
    }

    package func with(_ change: (inout Link) -> Void) -> Link {
        var link = self
        change(&link)
        return link
    }

    /// The link after `ip link set down`.
    package var takenDown: Link {
        with {
            $0.flags = []
            $0.operationalState = .down
        }
    }

    /// The link after its cable was pulled.
    package var withoutCarrier: Link {
        with {
            $0.flags = [.up]
            $0.operationalState = .down
        }
    }

    /// The link during a WPA handshake, when the kernel does not set IFF_DORMANT.
    package var handshaking: Link {
        with {
            $0.flags = [.up, .lowerUp]
            $0.operationalState = .dormant
        }
    }
}

extension LinkTraits {
    package init(_ deviceType: String? = nil, driver: String? = nil, hasDevice: Bool = false) {
        self.init()
        self.deviceType = deviceType
        self.driver = driver
        self.hasDevice = hasDevice
    }

    package static let cable = LinkTraits(driver: "virtio_net", hasDevice: true)
    package static let wifi = LinkTraits("wlan", hasDevice: true)
    package static let modem = LinkTraits("wwan", hasDevice: true)
    package static let bluetooth = LinkTraits("bluetooth", hasDevice: true)
}

extension LinkStack {
    /// A machine with these links. Those named eth, wlan, wwan and bnep are hardware of the kind that the name says.
    package init(
        _ links: Link..., policy: LinkPolicy = LinkPolicy(), underlay: [InterfaceIndex: InterfaceIndex] = [:],
        pppoe: String? = nil, networks: [InterfaceIndex: NetworkIdentity] = [:]
    ) {
        self.init(of: links, policy: policy, underlay: underlay, pppoe: pppoe, networks: networks)
    }

    package init(
        of links: [Link], policy: LinkPolicy = LinkPolicy(), underlay: [InterfaceIndex: InterfaceIndex] = [:],
        pppoe: String? = nil, networks: [InterfaceIndex: NetworkIdentity] = [:]
    ) {
        var traits: [InterfaceIndex: LinkTraits] = [:]
        let hardware = [("eth", LinkTraits.cable), ("wlan", .wifi), ("wwan", .modem), ("bnep", .bluetooth)]
        for link in links {
            traits[link.index] = hardware.first { link.name.hasPrefix($0.0) && link.kind == nil }?.1 ?? LinkTraits()
            if link.kind == "ppp", let pppoe {
                traits[link.index]?.pppoeInterface = pppoe
                traits[link.index]?.pppoeSessions = 1
            }
        }
        let table = Dictionary(uniqueKeysWithValues: links.map { ($0.index, $0) })
        self.init(
            links: table, traits: traits, policy: policy, tunnelCarriers: underlay.mapValues { TunnelCarriers([$0]) },
            identities: networks)
    }
}
