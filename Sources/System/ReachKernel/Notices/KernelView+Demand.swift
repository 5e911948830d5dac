internal import ReachCore

/// A view that reads only what is asked for, as one answer needs it. An observer's view has all links.
extension KernelView {
    /// What of the kernel's links and their addresses a view has.
    enum Extent {
        case all
        /// These links only, whether or not they exist.
        case only(Set<InterfaceIndex>)
    }

    /// Begins with no links: ``read(_:)`` adds those that a path needs. So an answer costs the same where there are
    /// thousands, and no table has to be read whole while it changes.
    func readOnDemand() { extent = .only([]) }

    /// Reads everything, unless it has been read.
    func readAll() throws(NetlinkError) {
        if case .only = extent { try refresh() }
    }

    /// Reads a link with those below it, unless it has been read. What takes more than that, as a tunnel does, which
    /// any link may carry, reads everything.
    func read(_ index: InterfaceIndex) throws(NetlinkError) {
        var open = [index]
        while case .only(var known) = extent, let next = open.popLast() {
            guard known.insert(next).inserted else { continue }
            extent = .only(known)
            guard let link = try queries.link(next) else { continue }
            add(link, try queries.addresses(of: next))
            let stack = readStack(for: next)
            switch stack.need(of: link) {
            case .below: open += stack.members(of: next)
            case .ports:
                let ports = try queries.ports(of: next)
                // A container host's bridge has many, and to read everything costs less than to ask for each of them.
                guard ports.count <= Self.mostPortsOnDemand else { return try refresh() }
                open += ports
            case .anyLink: return try refresh()
            }
        }
    }

    private static let mostPortsOnDemand = 16

    /// The link with a name.
    func link(named name: String) throws(NetlinkError) -> Link? {
        if case .only = extent {
            // What is no text in the kernel can only be compared here.
            if name.unicodeScalars.contains("\u{FFFD}") {
                try refresh()
            } else if let link = try queries.link(named: name) {
                try read(link.index)
            }
        }
        return table.link(named: name)
    }

    /// Whether this machine may have an address of IPv6 that has a meaning beyond a link.
    var mayHaveWideIPv6Address: Bool {
        guard case .all = extent else { return true }
        return table.addressedLinks.contains { link in
            (table.addresses[link] ?? []).contains { $0.address.family == .ipv6 && $0.isUsable }
        }
    }
}

extension KernelView {
    /// The questions with the sources that IPv4 sockets would have. A socket that connects looks its route up, adopts
    /// the source, and looks the route up again with it (`ip_route_connect`), by which rules for that source apply.
    func addingSources(to questions: [RouteQuestion]) throws(NetlinkError) -> [RouteQuestion] {
        let places = questions.indices.filter { place in
            questions[place].destination.family == .ipv4 && questions[place].source == nil
        }
        guard !places.isEmpty, try readSourceRules() else { return questions }
        var result = questions
        let first = try queries.routes(
            places.map { place in
                var plain = questions[place]
                plain.matchesTable = false
                return plain
            })
        for (place, answer) in zip(places, first) {
            // What is sent to this machine itself has its own address as source, and needs no rule.
            guard case .route(let route) = answer, route.type == .unicast, let source = route.source,
                !source.isUnspecified
            else { continue }
            result[place].source = source
        }
        return result
    }

    /// The source by which rules are chosen for packets to an address: `nil` where no rule is for some IPv4 sources
    /// only.
    func sourceForRules(to destination: IPAddress, mark: UInt32?) throws(NetlinkError) -> IPAddress? {
        try addingSources(to: [RouteQuestion(destination, mark: mark)])[0].source
    }
}
