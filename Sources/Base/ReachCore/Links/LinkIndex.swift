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

/// Counts how often an access point has refused a link in succession.
///
/// The kernel does not report a wrong password. It shows that the link waits for the access point (it is dormant), and
/// then that it lost the access point without ever having been let in.
package struct AdmissionCounter: Hashable, Sendable {
    /// One refusal may be a weak signal; supplicants try again within seconds.
    package static let refusalsThatCount = 2

    private var refusals: [InterfaceIndex: Int] = [:]

    package init() {}

    /// Whether the link was refused often enough for that to be the cause.
    package func isRefused(_ index: InterfaceIndex) -> Bool { refusals[index, default: 0] >= Self.refusalsThatCount }

    /// Compares a link with the same link before.
    package mutating func observe(_ new: Link, after old: Link?) {
        if new.isUsable || !new.isUp {
            forget(new.index)
        } else if let old, old.isAwaitingAdmission, !new.flags.contains(.lowerUp) {
            refusals[new.index, default: 0] += 1
        }
    }

    package mutating func forget(_ index: InterfaceIndex) {
        // Most machines have no link that was ever refused.
        if !refusals.isEmpty { refusals[index] = nil }
    }
}

extension Link {
    /// Whether the link has a carrier and waits for authentication.
    ///
    /// During a WPA handshake the kernel sets neither IFF_RUNNING nor IFF_DORMANT, only the state. It also reports that
    /// state when the carrier has just gone: wpa_supplicant sets it then.
    package var isAwaitingAdmission: Bool { !isUsable && operationalState == .dormant && flags.contains(.lowerUp) }
}
