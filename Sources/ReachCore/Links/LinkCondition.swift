/// What a path needs to know of the link it leaves by.
package struct LinkCondition: Hashable, Sendable {
    package var linkClass: LinkClass
    /// Names of the links below, nearest first.
    package var lower: [String]
    package var isMetered: Bool
    /// Why nothing can be sent through it; `nil` if nothing is known against it.
    package var trouble: Reason?
}

extension LinkStack {
    /// All of it for one link.
    package func condition(of index: InterfaceIndex) -> LinkCondition {
        if let link = links[index], case .carrier(let linkClass) = kind(of: link) {
            return condition(of: link, carrying: linkClass)
        }
        return LinkCondition(
            linkClass: self.class(of: index), lower: lowerNames(of: index), isMetered: isMetered(index),
            trouble: trouble(with: index))
    }

    /// Most links have nothing below them, and most changes are of such a link's carrier: no walk is needed.
    private func condition(of link: Link, carrying found: LinkClass) -> LinkCondition {
        let linkClass = policy.first(\.linkClass, for: link) ?? found
        return LinkCondition(
            linkClass: linkClass, lower: [],
            isMetered: policy.first(\.isMetered, for: link) ?? linkClass.isUsuallyMetered,
            trouble: link.isUp ? ownTrouble(of: link) : .linkDown)
    }
}
