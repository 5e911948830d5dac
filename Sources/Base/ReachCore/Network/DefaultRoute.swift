/// A way to the Internet over one interface in one family: the interface is up, has an address to send from, and has
/// routes to most of the reference addresses. There may be several; the kernel prefers one in each family, and the
/// others serve sockets that are bound to their interface.
@dynamicMemberLookup
package struct DefaultRoute: Hashable, Sendable {
    package struct Key: Hashable, Sendable {
        package let family: IPAddress.Family
        package let interface: InterfaceIndex

        package init(family: IPAddress.Family, interface: InterfaceIndex) {
            self.family = family
            self.interface = interface
        }
    }

    package let key: Key
    /// The interface's name.
    package var name: String
    package var traits: PathTraits
    /// The names of the links below a stacked or tunnel link, nearest first.
    package var lower: [String] = []
    /// The route's metric; within a table the lower is preferred.
    package var metric: UInt32 = 0
    /// The table that has the route. Nothing follows from comparing the metrics of two tables: the rules choose between
    /// them.
    package var table = DefaultRoute.mainTable
    /// Whether it is in the table in which the kernel finds its own choice.
    package var isInChosenTable = true
    /// The first hop; `nil` if there is none, as on point-to-point links.
    package var gateway: IPAddress?
    /// The address from which the kernel would send.
    package var source: IPAddress?
    /// The gateway's hardware address, once it has answered: another device may have the same address.
    package var gatewayDevice: HardwareAddress?
    /// The gateway's neighbour entry; `nil` if the link needs no address resolution.
    package var neighbour: NeighbourState?
    /// The interface's addresses in this family.
    package var addresses: [InterfaceAddress] = []
    /// Whether the kernel chooses it for this family.
    package var isPreferred: Bool
    /// Whether the kernel drops the replies. The strict reverse path filter (RFC 3704) accepts a packet only from the
    /// link over which the kernel would answer it.
    package var dropsReplies = false
    /// Whether it leads to a proxy alone: what goes to another host has no way by it.
    package var isToProxy = false
    /// The URI of a portal's API that a router of the link announces, unchecked; `nil` if none does.
    package var portalURI: String?

    package init(key: Key, name: String, traits: PathTraits, isPreferred: Bool = true) {
        self.key = key
        self.name = name
        self.traits = traits
        self.isPreferred = isPreferred
    }

    package subscript<Value>(dynamicMember path: KeyPath<PathTraits, Value>) -> Value { traits[keyPath: path] }

    /// Whether a new connection can use it. A failed gateway counts only where the kernel sends by itself: nothing else
    /// would find out that the gateway of another route answers again.
    package var isUsable: Bool { !dropsReplies && !(isPreferred && gateway != nil && neighbour == .failed) }

    /// Whether a program that may take either takes this one before `other`, of the same family: the kernel's own
    /// choice, then what the kernel would choose next in the same table, then the others, in an order that only has to
    /// be stable.
    package func precedes(_ other: DefaultRoute) -> Bool { order < other.order }

    private var order: (UInt8, UInt32, UInt32, InterfaceIndex) {
        let standing: UInt8 = isPreferred ? 0 : isInChosenTable ? 1 : 2
        return (standing, isInChosenTable ? 0 : table, metric, key.interface)
    }

    /// RT_TABLE_MAIN of linux/rtnetlink.h.
    package static let mainTable: UInt32 = 254

    /// The addresses that connections may use: new ones prefer those that are not deprecated, and those that exist keep
    /// theirs for as long as it is valid (RFC 4862 section 5.5.4).
    package var sources: Set<IPAddress> {
        let usable = addresses.filter(\.isUsable).map(\.address)
        return Set(usable.isEmpty ? [source].compactMap { $0 } : usable)
    }

    /// The interface's networks. An address without a network beyond itself has none.
    package var subnets: [IPPrefix] {
        addresses.compactMap { entry in
            let length = Int(entry.prefixLength)
            return length < entry.address.family.bitCount ? IPPrefix(entry.address, length: length) : nil
        }
    }

    /// Whether both lead into the same network, as far as it is known: by the same gateway, which is the same device.
    /// What was proved of one holds for the other.
    package func leadsToSameNetwork(as other: DefaultRoute) -> Bool {
        guard key == other.key, gateway == other.gateway, isToProxy == other.isToProxy else { return false }
        guard let gatewayDevice, let otherDevice = other.gatewayDevice else { return true }
        return gatewayDevice == otherDevice
    }

    /// The route with the gateway's device of an earlier one, where the fresh one's is not known.
    package func rememberingDevice(of earlier: DefaultRoute) -> DefaultRoute {
        guard gatewayDevice == nil, leadsToSameNetwork(as: earlier) else { return self }
        var copy = self
        copy.gatewayDevice = earlier.gatewayDevice
        return copy
    }

    /// Whether the first hop has answered before and not failed since, or needs no address resolution.
    package var hasConfirmedNeighbour: Bool {
        guard let neighbour else { return true }
        switch neighbour {
        case .reachable, .stale, .delay, .probe, .noarp, .permanent: return true
        case .none, .incomplete, .failed: return false
        }
    }
}

extension Verdict {
    /// The routes that the kernel prefers, from the verdict on the Internet, without the addresses of their interfaces.
    package var preferredRoutes: [DefaultRoute] {
        [(IPAddress.Family.ipv4, ipv4), (.ipv6, ipv6)].compactMap { family, path in
            DefaultRoute(preferred: path, family, addresses: [])
        }
    }
}

extension DefaultRoute {
    /// The route that the kernel prefers in a family, from the verdict on the Internet; `nil` if there is none.
    ///
    /// A route whose gateway has failed is included, since only traffic to the gateway shows that it works again.
    package init?(preferred path: NetworkPath, _ family: IPAddress.Family, addresses: [InterfaceAddress]) {
        guard let index = path.interfaceIndex, let name = path.interface,
            path.status == .reachable || path.reason == .gatewayUnreachable
        else { return nil }
        self.init(key: Key(family: family, interface: index), name: name, traits: path.traits)
        lower = path.lower
        metric = path.metric ?? 0
        table = path.table ?? Self.mainTable
        gateway = path.gateway
        source = path.source
        isToProxy = path.proxy != nil
        neighbour = path.gateway == nil ? nil : path.neighbour
        self.addresses = addresses
    }
}
