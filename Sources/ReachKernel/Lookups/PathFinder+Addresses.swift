package import ReachCore

extension PathFinder {
    /// The lookups in one exchange with the kernel. Their replies must fit into the socket's buffer.
    private static let lookupsAtOnce = 64

    /// The paths and verdicts of one evaluation that several addresses share.
    fileprivate struct Shared {
        struct Judged {
            let family: IPAddress.Family
            let answer: RouteAnswer
            let path: NetworkPath
            var verdicts: [(metric: UInt32?, verdict: SharedVerdict)] = []
        }

        var judged: [Judged] = []
        /// Beyond these, a table with a route for each address would cost more to search than to judge.
        static let limit = 8
    }

    /// The verdicts on single addresses, in their order.
    ///
    /// The kernel is asked about each address, since only it knows its routes, but about many at once. Addresses with
    /// the same answer are judged once and share their verdict.
    package mutating func verdicts(on addresses: [IPAddress]) throws(NetlinkError) -> [SharedVerdict] {
        var verdicts: [SharedVerdict] = []
        verdicts.reserveCapacity(addresses.count)
        var shared = Shared()
        for start in stride(from: 0, to: addresses.count, by: Self.lookupsAtOnce) {
            let part = addresses[start..<min(start + Self.lookupsAtOnce, addresses.count)]
            try addVerdicts(on: part, &shared, to: &verdicts)
        }
        return verdicts
    }

    private mutating func addVerdicts(
        on addresses: ArraySlice<IPAddress>, _ shared: inout Shared, to verdicts: inout [SharedVerdict]
    ) throws(NetlinkError) {
        let answers = try lookUp(addresses.map { RouteQuestion($0, mark: mark) })
        var places: [Int?] = []
        var paths: [NetworkPath] = []
        var metricQuestions: [RouteQuestion] = []
        places.reserveCapacity(answers.count)
        paths.reserveCapacity(answers.count)
        for (address, answer) in zip(addresses, answers) {
            let place = try judgeOnce(address, answer, &shared)
            let path = if let place { shared.judged[place].path } else { try judge(address, answer) }
            places.append(place)
            paths.append(path)
            if let question = metricQuestion(path, to: address) { metricQuestions.append(question) }
        }
        var metrics = try view.queries.routes(metricQuestions).makeIterator()
        for (number, address) in addresses.enumerated() {
            let needsMetric = paths[number].lacksMetric
            if needsMetric, case .route(let route)? = metrics.next() { paths[number].metric = route.metric }
            verdicts.append(shared.verdict(at: places[number], of: address.family, paths[number]))
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
        // What carries a tunnel is guessed for each destination.
        guard path.linkClass != .tunnel else { return nil }
        shared.judged.append(Shared.Judged(family: family, answer: answer, path: path))
        return shared.judged.count - 1
    }
}

extension PathFinder.Shared {
    fileprivate mutating func verdict(
        at place: Int?, of family: IPAddress.Family, _ path: NetworkPath
    ) -> SharedVerdict {
        guard let place else { return SharedVerdict(Self.verdict(of: family, path)) }
        if let known = judged[place].verdicts.first(where: { $0.metric == path.metric }) { return known.verdict }
        let verdict = SharedVerdict(Self.verdict(of: family, path))
        if judged[place].verdicts.count < Self.limit { judged[place].verdicts.append((path.metric, verdict)) }
        return verdict
    }

    private static func verdict(of family: IPAddress.Family, _ path: NetworkPath) -> Verdict {
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
