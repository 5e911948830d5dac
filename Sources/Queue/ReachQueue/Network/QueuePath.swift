package import ReachCore

/// One way out of the machine, as far as the queue has to know it: by a default route, or to one host.
@dynamicMemberLookup
package struct QueuePath: Hashable, Sendable {
    package var interfaceIndex: UInt32
    package var interface: String
    package var traits: PathTraits
    /// Probes have proved the Internet behind it.
    package var isValidated = false
    /// What is said of its line; `nil` where it is not measured.
    package var quality: LineQuality.Word?
    /// Probes have proved that something else than the Internet answers behind it: a portal, or nothing.
    package var isDoubted = false
    /// It is a way to the Internet, and what answers in the place of the Internet is a portal.
    package var hasPortal = false
    /// Nothing answers by it, so another way is tried first; but not one that costs money if this one costs none.
    package var isPassedOver = false
    /// Whether it works has to be shown by one request first, since another way turned out not to.
    package var isUncertain = false
    /// In which families a default route goes by it; for the path to one host, in which family the host is reached.
    package var families: Set<IPAddress.Family> = [.ipv4]
    /// Its place in the kernel's order.
    package var rank = PathRank()
    /// The addresses that are sent from: a connection does not outlive the change of its own.
    package var sources: Set<IPAddress> = []

    package init(interfaceIndex: UInt32, interface: String, traits: PathTraits) {
        self.interfaceIndex = interfaceIndex
        self.interface = interface
        self.traits = traits
    }

    package subscript<Value>(dynamicMember path: WritableKeyPath<PathTraits, Value>) -> Value {
        get { traits[keyPath: path] }
        set { traits[keyPath: path] = newValue }
    }

    /// Whether a request may go by it: none to a portal, which would answer in its server's place, and none that a
    /// portal must not read (see ``RequestSpecification/exposesSecrets``) where it is not known what answers.
    package func takes(exposesSecrets: Bool) -> Bool { !hasPortal && !(exposesSecrets && isDoubted) }

    /// Whether a request that may go by both goes by it rather than by `other`.
    ///
    /// The kernel's own choice is taken unless it is known not to work. Of others those that are validated, unmetered
    /// and not silent come first.
    ///
    /// - Parameter family: The only family in which the request may go; `nil` for both.
    package func isPreferred(to other: QueuePath, in family: IPAddress.Family? = nil) -> Bool {
        let leads = leads(in: family)
        if leads != other.leads(in: family) { return leads }
        let (place, otherPlace) = (rank.order(in: family), other.rank.order(in: family))
        if leads, place != otherPlace { return place < otherPlace }
        if isValidated != other.isValidated { return isValidated }
        if traits.isMetered != other.traits.isMetered { return other.traits.isMetered }
        if isPassedOver != other.isPassedOver { return other.isPassedOver }
        if place != otherPlace { return place < otherPlace }
        return interfaceIndex < other.interfaceIndex
    }

    private func leads(in family: IPAddress.Family?) -> Bool {
        rank.isChosen(in: family) && !isDoubted && !isPassedOver
    }
}

/// The place of a path in the kernel's order, by family: 0 for the kernel's own choice; `nil` in a family without a
/// route by it.
package struct PathRank: Hashable, Sendable {
    package var ipv4: UInt32?
    package var ipv6: UInt32?

    package init(ipv4: UInt32? = nil, ipv6: UInt32? = nil) {
        (self.ipv4, self.ipv6) = (ipv4, ipv6)
    }

    package subscript(family: IPAddress.Family) -> UInt32? {
        get { family == .ipv4 ? ipv4 : ipv6 }
        set { if family == .ipv4 { ipv4 = newValue } else { ipv6 = newValue } }
    }

    func isChosen(in family: IPAddress.Family?) -> Bool {
        family.map { self[$0] == 0 } ?? (ipv4 == 0 || ipv6 == 0)
    }

    /// IPv4's place counts first, as for the state's class.
    func order(in family: IPAddress.Family?) -> (UInt32, UInt32) {
        family.map { (self[$0] ?? .max, 0) } ?? (ipv4 ?? .max, ipv6 ?? .max)
    }
}

/// All ways to the Internet at one moment.
package struct PathSet: Hashable, Sendable {
    package var paths: [QueuePath]
    /// Goes up whenever a path, a source or a gateway changes, and when the machine wakes.
    package var epoch: UInt64
    /// The links that can carry packets, by their indices. Where no path satisfies a condition, a host may still be
    /// reached by a route of its own over one of them.
    package var links: [UInt32]
    /// The names of the tunnels into which the kernel sends to the Internet, past which nothing is sent.
    package var tunnels: [String]

    package init(_ paths: [QueuePath] = [], epoch: UInt64, links: [UInt32] = [], tunnels: [String] = []) {
        self.paths = paths
        self.epoch = epoch
        self.links = links
        self.tunnels = tunnels
    }

    package subscript(interfaceIndex index: UInt32) -> QueuePath? { paths.first { $0.interfaceIndex == index } }
}
