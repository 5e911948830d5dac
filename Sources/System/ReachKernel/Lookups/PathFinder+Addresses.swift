package import ReachCore

extension PathFinder {
    /// The lookups in one exchange with the kernel. Their replies must fit into the socket's buffer.
    private static let lookupsAtOnce = 64

    /// The paths and verdicts of one evaluation that several addresses share.
    fileprivate struct Shared {
        /// A class, since looking for one among structures would copy them.
        final class Judged {
            let family: IPAddress.Family
            let answer: RouteAnswer
            let path: NetworkPath
            var verdicts: [(metric: UInt32?, verdict: SharedVerdict)] = []

            init(family: IPAddress.Family, answer: RouteAnswer, path: NetworkPath) {
                self.family = family
                self.answer = answer
                self.path = path
            }
        }

        var judged: [Judged] = []
        /// Beyond these, a table with a route for each address would cost more to search than to judge.
        static let limit = 8
    }

    /// The verdicts on single addresses, in their order.
    ///
    /// The kernel is asked about each address, since only it knows its routes, but about many at once. Addresses with
    /// the same answer are judged once and share their verdict.
    ///
    /// - Parameter addedRoute: The route whose addition is all that has changed since the last verdicts; `nil` where more or
    ///   something else did. An address that had no route is reached by this one if it is reached now, and no second lookup
    ///   is needed for its metric. Another route that was added meanwhile has a notice of its own, after which the metric is
    ///   looked up.
    package mutating func verdicts(
        on addresses: [SingleAddress], after addedRoute: Route? = nil
    ) throws(NetlinkError) -> [SharedVerdict] {
        var verdicts: [SharedVerdict] = []
        verdicts.reserveCapacity(addresses.count)
        var shared = Shared()
        for start in stride(from: 0, to: addresses.count, by: Self.lookupsAtOnce) {
            let part = addresses[start..<min(start + Self.lookupsAtOnce, addresses.count)]
            try addVerdicts(on: part, after: addedRoute, &shared, to: &verdicts)
        }
        return verdicts
    }

    private mutating func addVerdicts(
        on addresses: ArraySlice<SingleAddress>, after addedRoute: Route?, _ shared: inout Shared,
        to verdicts: inout [SharedVerdict]
    ) throws(NetlinkError) {
        let answers = try lookUp(addresses.map { RouteQuestion($0.address, mark: mark) })
        var judged: [(place: Int?, path: NetworkPath?, isByAddedRoute: Bool)] = []
        var metricQuestions: [RouteQuestion] = []
        judged.reserveCapacity(answers.count)
        for (single, answer) in zip(addresses, answers) {
            let address = single.address
            let place = try judgeOnce(address, answer, &shared)
            // A shared path is not copied: copying it costs as much as the lookup.
            let own = place == nil ? try judge(address, answer) : nil
            let isByAddedRoute = single.hadNoRoute && addedRoute?.isFound(in: answer, for: address) == true
            judged.append((place, own, isByAddedRoute))
            let question: RouteQuestion?
            if isByAddedRoute {
                question = nil
            } else if let place {
                question = metricQuestion(shared.judged[place].path, to: address)
            } else {
                question = own.flatMap { metricQuestion($0, to: address) }
            }
            if let question { metricQuestions.append(question) }
        }
        var metrics = try view.queries.routes(metricQuestions).makeIterator()
        for (single, (place, own, isByAddedRoute)) in zip(addresses, judged) {
            let lacksMetric = if let place { shared.judged[place].path.lacksMetric } else { own?.lacksMetric ?? false }
            let found = isByAddedRoute && lacksMetric ? addedRoute?.metric : lacksMetric ? metrics.next()?.metric : nil
            if let place {
                verdicts.append(shared.verdict(at: place, metric: found))
            } else if var own {
                own.metric = found ?? own.metric
                verdicts.append(SharedVerdict(Shared.verdict(of: single.address.family, own)))
            }
        }
    }

    /// Judges an answer, unless one with the same next hop was judged before.
    ///
    /// - Returns: The place of the path in `shared`; `nil` if the path may depend on the address itself.
    private mutating func judgeOnce(
        _ address: IPAddress, _ answer: RouteAnswer, _ shared: inout Shared
    ) throws(NetlinkError) -> Int? {
        let family = address.family
        guard !address.isLinkLocal, !address.isMulticast else { return nil }
        let known = shared.judged.firstIndex { known in
            known.family == family && known.answer.hasSameNextHop(as: answer) && known.answer.metric == answer.metric
        }
        if let known { return known }
        guard shared.judged.count < Shared.limit, answer.hasSameNextHop(as: answer) else { return nil }
        let path = try judge(address, answer)
        shared.judged.append(Shared.Judged(family: family, answer: answer, path: path))
        return shared.judged.count - 1
    }
}

/// An address that alone decides whether a target is reachable.
package struct SingleAddress {
    let address: IPAddress
    /// Whether no route led to it by the last verdict.
    let hadNoRoute: Bool

    package init(_ address: IPAddress, hadNoRoute: Bool = false) {
        self.address = address
        self.hadNoRoute = hadNoRoute
    }
}

extension PathFinder.Shared {
    /// - Parameter metric: The metric of the route, if it had to be asked for.
    fileprivate func verdict(at place: Int, metric: UInt32?) -> SharedVerdict {
        if let known = judged[place].verdicts.first(where: { $0.metric == metric }) { return known.verdict }
        var path = judged[place].path
        path.metric = metric ?? path.metric
        let verdict = SharedVerdict(Self.verdict(of: judged[place].family, path))
        if judged[place].verdicts.count < Self.limit { judged[place].verdicts.append((metric, verdict)) }
        return verdict
    }

    fileprivate static func verdict(of family: IPAddress.Family, _ path: NetworkPath) -> Verdict {
        family == .ipv4 ? Verdict(ipv4: path, ipv6: .notAsked) : Verdict(ipv4: .notAsked, ipv6: path)
    }
}

extension NetworkPath {
    /// Whether only a lookup of the route itself tells the metric.
    fileprivate var lacksMetric: Bool { interfaceIndex != nil && metric == nil }
}

extension RouteAnswer {
    fileprivate var metric: UInt32? {
        if case .route(let route) = self { route.metric } else { nil }
    }
}
