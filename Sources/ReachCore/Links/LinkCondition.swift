/// The properties of a link that decide about paths over it.
package struct LinkCondition: Hashable, Sendable {
    package var linkClass: LinkClass
    /// The class of the link that carries a tunnel; `nil` if that is unknown, and for all other classes.
    package var carrierClass: LinkClass?
    /// Names of the links below, nearest first.
    package var lower: [String]
    package var isMetered: Bool
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
            linkClass: linkClass, carrierClass: linkClass == .tunnel ? carrierClass(of: index) : nil,
            lower: lowerNames(of: index), isMetered: isMetered(index), trouble: trouble(with: index))
    }

    /// The condition of a link with nothing below it, without a traversal. Most changes concern the carrier of such a link.
    private func condition(of link: Link, carrying ownClass: LinkClass) -> LinkCondition {
        let linkClass = policy.first(\.linkClass, for: link) ?? ownClass
        return LinkCondition(
            linkClass: linkClass, lower: [],
            isMetered: policy.first(\.isMetered, for: link) ?? linkClass.isUsuallyMetered,
            trouble: link.isUp ? ownTrouble(of: link) : .linkDown)
    }
}
