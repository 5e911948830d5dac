/// The traits of a link that paths over it have, too. A `NetworkCondition` looks at them. A new one is set by
/// ``LinkStack/condition(of:)``; every path has it then.
package struct PathTraits: Hashable, Sendable {
    /// `nil` if it is unknown.
    package var linkClass: LinkClass?
    /// The class of the link that carries a tunnel; `nil` if that is unknown, and for all other classes.
    package var carrierClass: LinkClass?
    /// Whether using it costs money or is limited by volume.
    package var isMetered = false

    package init(linkClass: LinkClass? = nil, carrierClass: LinkClass? = nil, isMetered: Bool = false) {
        self.linkClass = linkClass
        self.carrierClass = carrierClass
        self.isMetered = isMetered
    }
}

/// The properties of a link that decide about paths over it.
package struct LinkCondition: Hashable, Sendable {
    package var traits: PathTraits
    /// Names of the links below, nearest first.
    package var lower: [String]
    /// Why the link cannot carry packets; `nil` if no problem is known.
    package var trouble: Reason?
}

extension LinkStack {
    /// The condition of one link.
    package func condition(of index: InterfaceIndex) -> LinkCondition {
        if let link = links[index], case .carrier(let linkClass) = kind(of: link) {
            return condition(of: link, carrying: linkClass)
        }
        let linkClass = self.class(of: index)
        return LinkCondition(
            traits: PathTraits(
                linkClass: linkClass, carrierClass: linkClass == .tunnel ? carrierClass(of: index) : nil,
                isMetered: isMetered(index)),
            lower: lowerNames(of: index), trouble: trouble(with: index))
    }

    /// The condition of a link with nothing below it, without a traversal. Most changes concern the carrier of such a link.
    private func condition(of link: Link, carrying ownClass: LinkClass) -> LinkCondition {
        let linkClass = policy.first(\.linkClass, for: link) ?? ownClass
        return LinkCondition(
            traits: PathTraits(
                linkClass: linkClass, isMetered: policy.first(\.isMetered, for: link) ?? linkClass.isUsuallyMetered),
            lower: [], trouble: link.isUp ? ownTrouble(of: link) : .linkDown)
    }
}
