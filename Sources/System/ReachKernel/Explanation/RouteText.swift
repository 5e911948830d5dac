internal import ReachCore

/// Formats rules and routes in the syntax of ip(8), for people.
struct RouteText {
    /// The source of the names of interfaces, tables and origins.
    let facts: ExplanationFacts

    /// A rule, such as `not from all fwmark 0xca6c lookup 51820`.
    func describe(_ rule: Rule) -> String {
        var words = rule.isInverted ? ["not"] : []
        words += ["from", rule.from.map(describe) ?? "all"]
        if let to = rule.to { words += ["to", describe(to)] }
        if let mark = rule.mark {
            let mask = rule.markMask.flatMap { $0 == .max ? nil : "/" + Self.hexadecimal($0) } ?? ""
            words += ["fwmark", Self.hexadecimal(mark) + mask]
        }
        if let name = rule.inputInterface { words += ["iif", DisplayText.sanitized(name)] }
        if let name = rule.outputInterface { words += ["oif", DisplayText.sanitized(name)] }
        if let users = rule.users { words += ["uidrange", "\(users.lowerBound)-\(users.upperBound)"] }
        switch rule.action {
        case .table: words += ["lookup", rule.isForVRFs ? "[l3mdev-table]" : name(ofTable: rule.table)]
        case .goto: words += ["goto", rule.gotoPriority.map { "\($0)" } ?? "?"]
        case .nop: words.append("nop")
        case .blackhole: words.append("blackhole")
        case .unreachable: words.append("unreachable")
        case .prohibit: words.append("prohibit")
        case .unspecified: break
        }
        if let length = rule.suppressedPrefixLength { words += ["suppress_prefixlength", "\(length)"] }
        return words.joined(separator: " ")
    }

    /// A route, such as `default via 192.0.2.1 dev eth0 proto dhcp metric 100`.
    func describe(_ route: Route) -> String {
        var words: [String] = []
        if route.type != .unicast { words.append(String(describing: route.type)) }
        words.append(describe(route.destination))
        if route.hops.count == 1, let hop = route.hops.first {
            words.append(describe(hop, in: route))
        } else if !route.hops.isEmpty {
            words.append("with \(route.hops.count) next hops")
        }
        if let id = route.nexthopObject { words.append("nhid \(id)") }
        // ip(8) sets the origin `boot` (3) by default, and does not print it.
        if route.origin != 3, let word = facts.originNames[route.origin] {
            words.append("proto \(DisplayText.sanitized(word))")
        }
        if let metric = route.metric, metric > 0 { words.append("metric \(metric)") }
        return words.joined(separator: " ")
    }

    /// The arguments of `ip route del` that identify the route.
    func name(_ route: Route) -> String {
        var words = route.type == .unicast ? [] : [String(describing: route.type)]
        words.append(describe(route.destination))
        if let metric = route.metric, metric > 0 { words.append("metric \(metric)") }
        if route.table != 254 { words.append("table \(name(ofTable: route.table))") }
        return words.joined(separator: " ")
    }

    /// A next hop, such as `via inet6 fe80::1 dev eth0`.
    func describe(_ hop: NextHop, in route: Route) -> String {
        var words: [String] = []
        if let gateway = hop.gateway {
            words += gateway.family == route.destination.address.family ? ["via"] : ["via", Self.protocolName(gateway)]
            words.append("\(gateway)")
        }
        if let index = hop.interface { words += ["dev", name(of: index)] }
        return words.joined(separator: " ")
    }

    func name(of index: InterfaceIndex) -> String {
        facts.table.links[index].map { DisplayText.sanitized($0.name) } ?? "interface \(index)"
    }

    /// The name of a routing table, or its number.
    func name(ofTable number: UInt32) -> String {
        facts.tableNames[number].map { DisplayText.sanitized($0) } ?? "\(number)"
    }

    private func describe(_ prefix: IPPrefix) -> String {
        switch prefix.length {
        case 0: "default"
        case prefix.address.family.bitCount: "\(prefix.address)"
        default: "\(prefix)"
        }
    }

    private static func protocolName(_ address: IPAddress) -> String { address.family == .ipv4 ? "inet" : "inet6" }

    private static func hexadecimal(_ number: UInt32) -> String { "0x" + String(number, radix: 16) }
}
