import ReachCore
import ReachTesting

/// A machine that cannot reach a target, and the root cause that people would name.
///
/// By default it has a cable, nothing remembers anything, and neither family has a route.
struct RootCauseSituation: CustomStringConvertible, Sendable {
    let description: String
    var links: [Link] = [.up(2, "eth0")]
    var addresses: [InterfaceAddress] = []
    var verdict = Verdict(.notReachable, reason: .noRoute)
    /// The names of the links that carried IPv4 before, each with those below it.
    var before: [(name: String, index: InterfaceIndex, lower: [String])] = []
    /// The families in which they did.
    var families: [IPAddress.Family] = [.ipv4]
    var radio: RootCauseFinder.Radio?
    var isIPv6Disabled = false
    var refusal: RootCause.Kind?
    var refusals = 0
    var condition = NetworkCondition.any
    var policy = LinkPolicy()
    /// The word and the interface, such as `no-carrier eth0`.
    let expected: String

    init(_ description: String, _ expected: String, _ change: (inout RootCauseSituation) -> Void = { _ in }) {
        self.description = description
        self.expected = expected
        change(&self)
    }

    var rootCause: RootCause? {
        var table = NetworkTable()
        let loopback = Link.up(1, "lo").with { $0.flags.insert(.loopback) }
        let links = self.links.contains { $0.index == 1 } ? self.links : [loopback] + self.links
        for link in links { _ = table.apply(.link(link)) }
        for address in addresses { _ = table.apply(.address(address)) }
        let stack = LinkStack(of: links, policy: policy)
        var finder = RootCauseFinder(table: table, stack: stack)
        for carrier in before {
            let path = NetworkPath.reachable(by: carrier.name, carrier.index, lower: carrier.lower)
            finder.memory.remember(
                families.contains(.ipv4) ? path : .notAsked, families.contains(.ipv6) ? path : .notAsked)
        }
        for link in links {
            for _ in 0..<refusals {
                finder.admissions.observe(link.withoutCarrier, after: link.handshaking)
            }
        }
        finder.radio = { [radio] _ in radio }
        finder.isIPv6Disabled = { [isIPv6Disabled] _ in isIPv6Disabled }
        finder.refusal = { [refusal] _ in refusal }
        finder.condition = condition
        return finder.rootCause(of: verdict)
    }
}

extension NetworkPath {
    static func reachable(by name: String, _ index: InterfaceIndex, lower: [String] = []) -> NetworkPath {
        var path = NetworkPath(status: .reachable)
        (path.interface, path.interfaceIndex, path.lower) = (name, index, lower)
        return path
    }
}

extension Verdict {
    /// The route of IPv4 is there and does not work; IPv6 has none.
    static func broken(_ reason: Reason, by name: String?, _ index: InterfaceIndex) -> Verdict {
        var path = NetworkPath(status: .notReachable, reason: reason)
        (path.interface, path.interfaceIndex) = (name, index)
        return Verdict(ipv4: path, ipv6: NetworkPath(status: .notReachable, reason: .noRoute))
    }

    static func only(_ family: IPAddress.Family, _ reason: Reason) -> Verdict {
        let path = NetworkPath(status: .notReachable, reason: reason)
        return family == .ipv4 ? Verdict(ipv4: path, ipv6: .notAsked) : Verdict(ipv4: .notAsked, ipv6: path)
    }
}
