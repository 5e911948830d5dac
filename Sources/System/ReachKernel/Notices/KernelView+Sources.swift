internal import ReachCore

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
