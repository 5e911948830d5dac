/// Finds links by their name, kind and controller without looking at all of them: a host of containers has thousands.
package struct LinkIndex: Equatable, Sendable {
    private var names: [String: InterfaceIndex] = [:]
    private var alternativeNames: [String: InterfaceIndex] = [:]
    private var kinds: [String?: Set<InterfaceIndex>] = [:]
    private var ports: [InterfaceIndex: Set<InterfaceIndex>] = [:]

    package init() {}

    package init(_ links: some Sequence<Link>) {
        for link in links { replace(nil, by: link) }
    }

    /// The link with this name, otherwise the one with this alternative name.
    func link(named name: String) -> InterfaceIndex? { names[name] ?? alternativeNames[name] }

    /// The links of a kind, such as `ppp`.
    func links(ofKind kind: String) -> Set<InterfaceIndex> { kinds[kind] ?? [] }

    /// The links of hardware and of those kinds of software that connect more than containers and guests of this
    /// machine.
    package var outwardLinks: [InterfaceIndex] {
        kinds.filter { kind, _ in kind.map { !LinkClassifier.isVirtual($0) } ?? true }.values.flatMap(\.self)
    }

    /// The links of which a link is the controller.
    func ports(of controller: InterfaceIndex) -> Set<InterfaceIndex> { ports[controller] ?? [] }

    /// - Parameters:
    ///   - old: What was known of the link; `nil` if it is new.
    ///   - new: What is known of it now; `nil` if it is gone.
    mutating func replace(_ old: Link?, by new: Link?) {
        guard
            old?.name != new?.name || old?.alternativeNames != new?.alternativeNames || old?.kind != new?.kind
                || old?.controller != new?.controller
        else { return }
        if let old { remove(old) }
        if let new { insert(new) }
    }

    private mutating func insert(_ link: Link) {
        names[link.name] = link.index
        for name in link.alternativeNames { alternativeNames[name] = link.index }
        kinds[link.kind, default: []].insert(link.index)
        if let controller = link.controller { ports[controller, default: []].insert(link.index) }
    }

    private mutating func remove(_ link: Link) {
        // Another link may have taken the name over already.
        if names[link.name] == link.index { names[link.name] = nil }
        for name in link.alternativeNames where alternativeNames[name] == link.index { alternativeNames[name] = nil }
        Self.remove(link.index, from: &kinds[link.kind])
        if let controller = link.controller { Self.remove(link.index, from: &ports[controller]) }
    }

    private static func remove(_ index: InterfaceIndex, from set: inout Set<InterfaceIndex>?) {
        set?.remove(index)
        if set?.isEmpty == true { set = nil }
    }
}
