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
        LinkCondition(
            linkClass: self.class(of: index), lower: lowerNames(of: index), isMetered: isMetered(index),
            trouble: trouble(with: index))
    }
}
