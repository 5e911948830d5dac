package import ReachCore

extension PathFinder {
    /// The lookups in one exchange with the kernel. Their replies must fit into the socket's buffer.
    private static let lookupsAtOnce = 64

    /// The verdicts on single addresses, in their order. The kernel is asked about each address, since only it knows
    /// its routes, but about many at once.
    ///
    /// - Parameter addedRoute: The route whose addition is all that has changed since the last verdicts; `nil` where
    ///   more or something else did. An address that had no route is reached by this one if it is reached now, and no
    ///   second lookup is needed for its metric. Another route that was added meanwhile has a notice of its own, after
    ///   which the metric is looked up.
    package mutating func verdicts(
        on addresses: [SingleAddress], after addedRoute: Route? = nil
    ) throws(NetlinkError) -> [Verdict] {
        var verdicts: [Verdict] = []
        verdicts.reserveCapacity(addresses.count)
        for start in stride(from: 0, to: addresses.count, by: Self.lookupsAtOnce) {
            let part = addresses[start..<min(start + Self.lookupsAtOnce, addresses.count)]
            for (single, path) in zip(part, try paths(to: part, after: addedRoute)) {
                verdicts.append(
                    single.address.family == .ipv4
                        ? Verdict(ipv4: path, ipv6: .notAsked) : Verdict(ipv4: .notAsked, ipv6: path))
            }
        }
        return verdicts
    }

    private mutating func paths(
        to addresses: ArraySlice<SingleAddress>, after addedRoute: Route?
    ) throws(NetlinkError) -> [NetworkPath] {
        let answers = try lookUp(addresses.map { RouteQuestion($0.address, mark: mark, flow: $0.flow) })
        defer { flow = nil }
        var paths: [NetworkPath] = []
        paths.reserveCapacity(answers.count)
        var questions: [(place: Int, question: RouteQuestion)] = []
        for (single, answer) in zip(addresses, answers) {
            flow = single.flow
            var path = try judge(single.address, answer)
            if let question = metricQuestion(path, to: single.address) {
                if single.hadNoRoute, let addedRoute, addedRoute.isFound(in: answer, for: single.address) {
                    path.metric = addedRoute.metric
                } else {
                    questions.append((paths.count, question))
                }
            }
            paths.append(path)
        }
        for (place, answer) in zip(questions.map(\.place), try view.queries.routes(questions.map(\.question))) {
            if case .route(let route) = answer { paths[place].metric = route.metric }
        }
        return paths
    }
}

/// An address that alone decides whether a target is reachable.
package struct SingleAddress {
    let address: IPAddress
    /// Whether no route led to it by the last verdict.
    let hadNoRoute: Bool
    /// What is sent to it; `nil` where that is not known.
    let flow: PacketFlow?

    package init(_ address: IPAddress, hadNoRoute: Bool = false, flow: PacketFlow? = nil) {
        self.address = address
        self.hadNoRoute = hadNoRoute
        self.flow = flow
    }
}
