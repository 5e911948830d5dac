internal import ReachCore
internal import ReachRecords

/// What the other ways to a host showed: see ``DiagnosisOtherWays``.
extension DiagnosisFacts {
    /// Who passes packets on in place of the gateway, and whether the other family has another router.
    func routers(besides hop: FirstHop) -> [WeighedFact] {
        var facts: [WeighedFact] = []
        // A router of IPv6 announces itself; a gateway of IPv4 is set.
        let usual = host.family == .ipv6 ? evidence.routerOfOtherFamily(than: hop) : nil
        let owners = usual.map(evidence.owners) ?? []
        if let (other, owner) = evidence.forwarder(host.family) {
            let isRouter = evidence.otherRouters(besides: hop, host.family).contains(other)
            let fact: DiagnosisFact =
                owners.contains(owner) ? .usualRouterForwards : isRouter ? .otherRouterForwards : .neighbourForwards
            let title = fact == .neighbourForwards ? "another neighbour" : "another router"
            facts.append(
                WeighedFact(fact, 3, "\(other.address), \(title), passes packets on, and they are answered"))
        }
        let own = evidence.owners(hop)
        if let usual, !own.isEmpty, !owners.isEmpty, Set(own).isDisjoint(with: owners),
            evidence.answersInOtherFamily(than: host)
        {
            facts.append(
                WeighedFact(
                    .routerDiffers,
                    "\(hop.address) is another machine than \(usual.address), by which \(usual.address.family.title) works"
                ))
        }
        return facts
    }

    /// Whether answers find the way back to this machine's other addresses, and whether the network of this one still
    /// holds.
    var ofSource: [WeighedFact] {
        guard let source = evidence.source(to: host), let hop = evidence.hop(to: host) else { return [] }
        let link = DisplayText.sanitized(hop.interface)
        if let (other, answering) = evidence.answeringSource(host.family) {
            return [
                WeighedFact(
                    .otherSourceAnswers, 3,
                    "from \(other), another address of \(link), \(answering) answers; from \(source) it does not")
            ]
        }
        if evidence.isOtherSourceLeft(on: hop, than: source) {
            return [.open(.otherSourceUnheard, "whether another address of \(link) is answered was not seen in time")]
        }
        let isDeprecated = evidence.addresses(on: hop).contains {
            $0.address == source && $0.flags.contains(.deprecated)
        }
        guard isDeprecated else { return [] }
        return [
            WeighedFact(
                .deprecatedSource,
                "packets leave from \(source), which is deprecated: its preferred lifetime is over")
        ]
    }
}
