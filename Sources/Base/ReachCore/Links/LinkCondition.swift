/// The traits of a link that paths over it have, too. A `NetworkCondition` looks at them. A new one is set by
/// ``LinkStack/condition(of:)``; every path has it then.
package struct PathTraits: Hashable, Sendable {
    /// `nil` if it is unknown.
    package var linkClass: LinkClass?
    /// The class of the link that carries a tunnel; `nil` if that is unknown, and for all other classes.
    package var carrierClass: LinkClass?
    /// Whether using it costs money or is limited by volume.
    package var isMetered = false
    /// Why it is metered; `nil` if it is not, and where an older daemon does not say why.
    package var meteredReason: MeteredReason?
    /// Whether it may turn out to be metered: its lease was not read yet. Only default routes have it, and states do
    /// not show it.
    package var mayBeMetered = false
    /// The network behind it: a configured name, or a private identifier; `nil` if it is not known.
    package var network: String?
    /// Whether the configuration trusts that network.
    package var isTrusted = false
    /// The access point of the Wi-Fi network behind it.
    package var accessPoint: HardwareAddress?
    /// The link's other names, by which conditions may mean it.
    package var alternativeNames: [String] = []
    /// The names of links below that cannot carry packets, although the link itself can: see
    /// ``LinkStack/brokenCarriers(of:)``.
    package var brokenCarriers: [String] = []
    /// Whether packets by it go into a tunnel, past which nothing is sent: see ``LinkStack/leadsIntoTunnel(_:)``.
    /// States from a daemon do not show it.
    package var isTunnelled = false
    /// Whether the configuration lets packets leave by the link past a tunnel.
    package var passesTunnels = false

    package init(linkClass: LinkClass? = nil, carrierClass: LinkClass? = nil, isMetered: Bool = false) {
        self.linkClass = linkClass
        self.carrierClass = carrierClass
        self.isMetered = isMetered
    }
}

extension PathTraits {
    fileprivate init(
        linkClass: LinkClass?, carrierClass: LinkClass?, meteredReason: MeteredReason?, _ membership: NetworkMembership
    ) {
        self.init(linkClass: linkClass, carrierClass: carrierClass, isMetered: meteredReason != nil)
        self.meteredReason = meteredReason
        network = membership.network
        isTrusted = membership.isTrusted
        accessPoint = membership.accessPoint
    }
}

/// The properties of a link that decide about paths over it.
package struct LinkCondition: Hashable, Sendable {
    package var traits: PathTraits
    /// Names of the links below, nearest first.
    package var lower: [String]
    /// Why the link cannot carry packets; `nil` if no problem is known.
    package var trouble: Reason?

    package init(traits: PathTraits, lower: [String] = [], trouble: Reason? = nil) {
        self.traits = traits
        self.lower = lower
        self.trouble = trouble
    }
}

extension LinkStack {
    /// The condition of one link. A link that cannot carry packets is in no network.
    package func condition(of index: InterfaceIndex) -> LinkCondition {
        if let link = links[index], case .carrier(let linkClass) = kind(of: link) {
            return condition(of: link, carrying: linkClass)
        }
        let linkClass = self.class(of: index)
        let trouble = trouble(with: index)
        var traits = PathTraits(
            linkClass: linkClass, carrierClass: linkClass == .tunnel ? carrierClass(of: index) : nil,
            meteredReason: meteredReason(of: index), trouble == nil ? membership(of: index) : NetworkMembership())
        if trouble == nil { traits.brokenCarriers = brokenCarriers(of: index) }
        traits.isTunnelled = leadsIntoTunnel(index)
        traits.passesTunnels = links[index].map(passesTunnels) ?? false
        traits.alternativeNames = links[index]?.alternativeNames ?? []
        return LinkCondition(traits: traits, lower: lowerNames(of: index), trouble: trouble)
    }

    private func passesTunnels(_ link: Link) -> Bool { policy.first(\.passesTunnels, for: link) ?? false }

    /// The condition of a link with nothing below it, without a traversal. Most changes concern the carrier of such a
    /// link.
    private func condition(of link: Link, carrying ownClass: LinkClass) -> LinkCondition {
        let linkClass = policy.first(\.linkClass, for: link) ?? ownClass
        let trouble = link.isUp ? ownTrouble(of: link) : .linkDown
        var traits = PathTraits(
            linkClass: linkClass, carrierClass: nil, meteredReason: meteredReason(of: link, as: linkClass),
            trouble == nil ? membership(of: link.index) : NetworkMembership())
        traits.isTunnelled = leadsIntoTunnel(link.index)
        traits.passesTunnels = passesTunnels(link)
        traits.alternativeNames = link.alternativeNames
        return LinkCondition(traits: traits, lower: [], trouble: trouble)
    }
}
