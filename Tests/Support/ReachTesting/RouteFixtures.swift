package import ReachCore

/// Routes, rules and addresses of a machine of the examples.
package enum RouteFixtures {
    package static let anchor = IPAddress(ipv4: 0xc629_0004)  // 198.41.0.4
    package static let gateway = IPAddress(ipv4: 0xc000_0201)  // 192.0.2.1

    package static func defaultRoute(
        _ family: IPAddress.Family = .ipv4, _ type: RouteType = .unicast, table: UInt32 = 254
    ) -> Route {
        let zero = family == .ipv4 ? IPAddress(ipv4: 0) : IPAddress(ipv6: 0, 0)
        guard let prefix = IPPrefix(zero, length: 0) else { preconditionFailure("every family has a default route") }
        return Route(destination: prefix, type: type, table: table)
    }

    package static func rule(
        _ priority: UInt32, _ action: Rule.Action = .table, table: UInt32 = 254, family: IPAddress.Family = .ipv4,
        _ change: (inout Rule) -> Void = { _ in }
    ) -> Rule {
        var rule = Rule(family: family, priority: priority, action: action, table: table)
        change(&rule)
        return rule
    }

    package static func address(
        _ text: String, on interface: InterfaceIndex, _ flags: InterfaceAddress.Flags = []
    ) -> InterfaceAddress {
        guard let address = IPAddress(text) else { preconditionFailure("\(text) is no address") }
        return InterfaceAddress(
            interface: interface, address: address, prefixLength: address.family == .ipv4 ? 24 : 64,
            scope: address.isLinkLocal ? InterfaceAddress.linkScope : 0, flags: flags)
    }
}
