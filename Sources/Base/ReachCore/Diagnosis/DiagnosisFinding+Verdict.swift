/// What a verdict says, as a sentence.
extension DiagnosisFinding {
    /// The reason why a host does not answer, weighed.
    mutating func weigh(_ host: HostAddress, _ role: DiagnosisFacts.Role, ports: [UInt16]) -> Blame? {
        judge(
            DiagnosisVerdict(DiagnosisFacts(evidence: evidence, host: host, role: role, ports: ports).all), host, role,
            ports)
    }

    mutating func judge(
        _ verdict: DiagnosisVerdict, _ host: HostAddress, _ role: DiagnosisFacts.Role, _ ports: [UInt16]
    ) -> Blame? {
        for fact in verdict.shownFacts(owner: role.party) where !facts.contains(fact) { facts.append(fact) }
        let blames = verdict.chosen.map { blame($0, host, role, ports, verdict) }
        guard let first = blames.first else { return nil }
        guard blames.count > 1 else { return first }
        let parties = blames.map(\.party)
        return Blame(
            .undecided, blames.map(\.layer).min { $0.rank < $1.rank } ?? first.layer, first.subject,
            blames.map(\.text).joined(separator: ", or ") + decider(verdict, parties), between: parties)
    }

    /// What would decide between what remains.
    private func decider(_ verdict: DiagnosisVerdict, _ parties: [Diagnosis.Party]) -> String {
        if Set(parties) == [.localNetwork, .provider] { return ": a test from the gateway itself would decide" }
        let observed = Set(verdict.facts.map(\.fact))
        if observed.isDisjoint(with: [.othersAnswer, .othersSilent]) {
            return ": only one host was asked, and an answer of another one ([connectivity] endpoints) would decide"
        }
        return ""
    }

    private func blame(
        _ hypothesis: DiagnosisHypothesis, _ host: HostAddress, _ role: DiagnosisFacts.Role, _ ports: [UInt16],
        _ verdict: DiagnosisVerdict
    ) -> Blame {
        let rule = hypothesis.rule
        let text = text(of: hypothesis, host, role, ports, verdict)
        guard rule.party == .server else {
            return Blame(rule.party, rule.layer, rule.subject, text, isFarEnd: hypothesis == .peerSilent)
        }
        let (layer, subject): (OutageLayer, Diagnosis.Step.Subject) =
            switch role {
            case .server: (rule.layer, rule.subject)
            case .proxy: (rule.layer, .proxy)
            case .nameServer: (.name, .nameServer)
            }
        return Blame(role.party, layer, subject, text, isSilence: hypothesis == .silent)
    }

    /// Nothing at all, or nothing by one family where the Internet answers by the other.
    private func nothing(_ host: HostAddress) -> String {
        evidence.answersInOtherFamily(than: host) ? "by \(host.family.title) nothing" : "nothing"
    }

    /// A destination beyond the first hop that answers: a name server, or else the first in their order.
    private func witness(besides host: HostAddress) -> String? {
        let living = evidence.witnesses.filter {
            $0 != host && $0.family == host.family && evidence.isBeyondGateway($0) && evidence.hasAnswered($0) == true
        }
        if let server = evidence.servers.first(where: { living.contains($0.host) }) {
            return "the name server \(server.host)"
        }
        return living.map(\.description).min()
    }

    private func text(
        of hypothesis: DiagnosisHypothesis, _ host: HostAddress, _ role: DiagnosisFacts.Role, _ ports: [UInt16],
        _ verdict: DiagnosisVerdict
    ) -> String {
        let shown = (role == .proxy ? "the proxy " : role == .nameServer ? "the name server " : "") + host.description
        func said(_ facts: DiagnosisFact...) -> String {
            let texts = verdict.facts.filter { facts.contains($0.fact) }.map(\.text)
            return texts.first.map { $0.hasUTF8Suffix(".") ? String($0.dropLast()) : $0 } ?? ""
        }
        let hop = evidence.hop(to: host)
        let link = hop.map { DisplayText.sanitized($0.interface) } ?? "the link"
        let gateway = hop.map { " \($0.address)" } ?? ""
        let port = ports.map { "\($0)" }.listed
        switch hypothesis {
        case .ownOutput:
            let numbers = [LinuxError.operationNotPermitted, LinuxError.accessDenied].map(\.errorWords)
            let isForbidden =
                numbers.contains { said(.notSent).containsUTF8($0) } || said(.notSent).containsUTF8("rejects")
            return isForbidden
                ? "a firewall of this machine forbids packets to \(shown)" : said(.notSent).sentenceMiddle
        case .ownRefusal: return "a firewall of this machine rejects connections to \(shown)"
        case .ownInput:
            return
                "packets come in, and this machine drops them before any program sees them: its firewall drops the answers"
        case .reversePath:
            return "answers come in by another interface than packets leave by, and the kernel drops them (rp_filter)"
        case .wrongGateway:
            let other = evidence.forwarder(host.family).map { ", while \($0.hop.address) does" } ?? ""
            return "the default route leads to\(gateway), which passes nothing on\(other)"
        case .missingAuthority, .interception:
            return
                "no certificate is of an authority that this machine trusts: somebody on the way answers in place of the servers, or this machine lacks the authority"
        case .twin: return said(.twoGateways, .twinHere).sentenceMiddle
        case .localFilter, .providerFilter:
            let isAll = verdict.facts.contains { $0.fact == .tcpSilentEverywhere || $0.fact == .refusedEverywhere }
            let who = hypothesis == .localFilter ? "the local network" : "the provider"
            return who + (isAll ? " lets no TCP pass" : " drops TCP port \(port) for every host")
        case .localAddresses:
            let source = evidence.source(to: host)?.description ?? "an address"
            return "this machine has only the unique local address \(source), to which the Internet has no way back"
        case .oldAddress:
            let source = evidence.source(to: host)?.description ?? "an address"
            let other = evidence.answeringSource(host.family)?.source.description ?? "another one"
            return
                "packets leave from \(source), to which no answer finds the way, though it does to \(other): the network of the first one holds no longer, and the router has not withdrawn it"
        case .formerNetwork:
            let source = evidence.source(to: host)?.description ?? "an address"
            return
                "\(link) has only \(source), whose network the router announces no longer, and to which no answer finds the way"
        case .rogueRouter:
            let other = evidence.forwarder(host.family).map { ", while \($0.hop.address) does" }
            let usual = hop.flatMap(evidence.routerOfOtherFamily)
                .map { ", and it is not the machine by which \($0.address.family.title) works, \($0.address)" }
            return "the router\(gateway) of \(link) passes nothing on\(other ?? usual ?? "")"
        case .translatorDead:
            return "the translator (NAT64) passes nothing on to \(host.address.embedded?.description ?? shown)"
        case .localForbids: return said(.gatewayForbids).sentenceMiddle
        case .providerForbids: return said(.routerForbids).sentenceMiddle
        case .dark:
            let server = role == .nameServer ? ", not even the name server \(host)" : ""
            guard !evidence.isBehindBareLink(host) else { return "\(nothing(host)) answers beyond \(link)\(server)" }
            return "\(nothing(host)) answers beyond the gateway\(gateway)\(server)"
        case .peerSilent:
            return
                "\(link) carries nothing, since \(evidence.silentTunnels[hop?.interfaceIndex ?? 0]?.text ?? "its far end is silent")"
        case .bareLinkDark: return "\(nothing(host)) answers over \(link)"
        case .loop: return said(.loop).sentenceMiddle
        case .cutOff, .noRoute: return said(.noWay, .hostMissing).sentenceMiddle
        case .lineLost: return said(.gatewayNoWay).sentenceMiddle
        case .off: return "\(shown) is off or not there: \(said(.hostMissing).sentenceMiddle)"
        case .silent:
            let witness = role == .nameServer ? nil : witness(besides: host)
            return "\(shown) does not answer" + (witness.map { ", though \($0) does" } ?? "")
        case .filtered:
            if role == .nameServer { return "\(shown) does not answer" }
            let what =
                ports.isEmpty ? "does not answer ping" : "does not answer on TCP port \(port): a firewall drops it"
            return "\(shown) is there, but \(what)"
        case .refuses:
            let refused = ports.first { evidence.connected(host, $0) == .refused } ?? ports.first ?? 0
            return "\(shown) refuses TCP port \(refused): no program serves it there"
        case .forbids: return said(.hostForbids).sentenceMiddle
        case .badCertificate:
            return "the certificate of \(shown) is not signed by an authority that this machine trusts"
        }
    }
}

extension DiagnosisFacts.Role {
    /// Who can mend the host.
    var party: Diagnosis.Party {
        switch self {
        case .server: .server
        case .proxy: .proxy
        case .nameServer: .nameServer
        }
    }
}

extension OutageLayer {
    /// The place in the order in which a packet meets the layers.
    var rank: Int { Self.allCases.firstIndex(of: self).map { Int($0) } ?? 0 }
}

extension String {
    /// Without the capital letter of an article or the like.
    var sentenceMiddle: String {
        for word in ["A ", "An ", "The ", "No ", "Nothing ", "This ", "Packets ", "Of "] where hasUTF8Prefix(word) {
            return prefix(1).lowercased() + dropFirst()
        }
        return self
    }
}
