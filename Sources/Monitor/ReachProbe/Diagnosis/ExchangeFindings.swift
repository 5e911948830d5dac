internal import ReachCore
internal import ReachRecords

/// TLS, HTTP, and what only they show: clocks, portals, and large packets that vanish.
extension DiagnosisFinding {
    mutating func examineExchange(of destination: DiagnosisDestination) {
        guard let exchange = evidence.exchange(of: destination), let answer = settledAnswer(of: destination, exchange)
        else {
            if evidence.exchange(of: destination) != nil { isProved = false }
            return
        }
        examineLargePackets(to: exchange.address)
        switch answer.ending {
        case .secured: describeTLS(answer, exchange)
        case .response(let status):
            if destination.isSecure(on: exchange.port) { describeTLS(answer, exchange) }
            examineResponse(status, answer, exchange)
            examineClock(answer, exchange)
        case .failure(let failure, let text): examineFailure(failure, text, answer, exchange)
        }
    }

    /// The answer; where it was silence, that of a second exchange if there was one, and nothing before that has ended.
    private func settledAnswer(of destination: DiagnosisDestination, _ exchange: DiagnosisExchange) -> ExchangeAnswer? {
        let first = evidence.exchanged(exchange)
        guard case .failure(.silent, _)? = first?.ending else { return first }
        let again = evidence.exchange(of: destination, .again).flatMap(evidence.exchanged)
        if case .failure(.silent, _)? = again?.ending { return first }
        return again
    }

    private mutating func describeTLS(_ answer: ExchangeAnswer, _ exchange: DiagnosisExchange) {
        let end = answer.validity.map { ", and its certificate is good until \($0.upperBound.day)" } ?? ""
        steps.append(Step(.tls, .good, "\(exchange.speaker.start) completes the TLS handshake\(end)."))
    }

    private mutating func examineLargePackets(to host: HostAddress) {
        guard evidence.pinged(host) == .answered, evidence.pinged(host, isLarge: true) == .silent else { return }
        steps.append(Step(.mtu, .neutral, "\(host) answers small pings, but not large ones."))
    }

    // MARK: - Responses

    private mutating func examineResponse(_ status: Int, _ answer: ExchangeAnswer, _ exchange: DiagnosisExchange) {
        let duration = evidence.duration(.exchange(exchange))
        let location = answer.location.map { ", to " + DisplayText.sanitized(String($0.prefix(200))) } ?? ""
        let proxied = exchange.destination.proxy == nil ? "" : " through the proxy"
        func add(_ finding: Step.Finding, _ remark: String = "") {
            steps.append(
                Step(.http, finding, "The answer\(proxied) is HTTP \(status)\(location)\(remark).", duration: duration))
        }
        let shown = exchange.destination.shown
        switch (answer.page, status) {
        case (.portal(let url)?, _):
            add(.bad)
            fail(portal: url)
        case (_, 511):
            add(.bad)
            fail(portal: answer.location)
        case (.expected?, _): add(.good, ", as expected")
        case (.unexpected?, _):
            add(.bad, ", not what the configuration expects")
            if let alike = failsAlike(status, exchange.destination) { return fatal.append(alike) }
            fatal.append(Blame(.server, .target, .http, "\(shown) gives another answer than expected (HTTP \(status))"))
        case (_, 407) where exchange.destination.proxy != nil:
            add(.bad)
            fatal.append(wantsCredentials(exchange))
        case (_, 502...504) where exchange.destination.proxy != nil:
            add(.bad)
            fatal.append(beyondProxy(exchange, "the proxy answers with HTTP \(status) for \(shown)"))
        case (_, 500...):
            add(.bad)
            if let alike = failsAlike(status, exchange.destination) { return fatal.append(alike) }
            let text: Clause =
                proxied.isEmpty
                ? "\(shown) answers with HTTP \(status): the server has a fault"
                : "the proxy answers with HTTP \(status) for \(shown)"
            let blame = Blame(.server, .target, .http, text)
            // The host answers, which is all that was asked where no port was named.
            if exchange.destination.isBare, proxied.isEmpty { minor.append(blame) } else { fatal.append(blame) }
        case (_, 404), (_, 410):
            guard !exchange.destination.isBare else { return add(.good) }
            add(.bad)
            fatal.append(
                Blame(.server, .target, .http, "the server answers, but has no page \(shown) (HTTP \(status))"))
        case (_, 300..<400) where leadsElsewhere(answer, exchange) && !evidence.isInternetProved:
            // Nothing contradicts it, and nothing proves it.
            isProved = false
            add(.neutral, ", to another host, as login pages do")
        case (_, 401), (_, 403): add(.good, ": it wants a login or another right")
        default: add(.good)
        }
    }

    private func wantsCredentials(_ exchange: DiagnosisExchange) -> Blame {
        Blame(.proxy, .target, .proxy, "\(exchange.speaker) wants other credentials (407)")
    }

    /// An error that other hosts give as well, so that it is none of theirs, or may give.
    private func failsAlike(_ status: Int, _ destination: DiagnosisDestination) -> Blame? {
        guard status >= 500 else { return nil }
        let others = evidence.endpoints.filter { $0.host != destination.host }
        if !others.isEmpty, others.allSatisfy(evidence.isLeft) {
            return Blame(
                .undecided, .target, .http,
                "\(destination.shown) answers with HTTP \(status), or somebody on the way answers in its place: no other page answered in time",
                between: [.server, .localNetwork, .provider])
        }
        let statuses = others.compactMap { endpoint -> Int? in
            guard let exchange = evidence.exchange(of: endpoint),
                case .response(let other)? = evidence.exchanged(exchange)?.ending
            else { return nil }
            return other
        }
        guard !statuses.isEmpty, statuses.allSatisfy({ $0 == status }) else { return nil }
        return Blame(
            .undecided, .internet, .http,
            "every page answers with HTTP \(status): somebody on the way answers in place of the servers",
            between: [.localNetwork, .provider])
    }

    /// Whether a plain answer sends to another host than the one that was asked.
    private func leadsElsewhere(_ answer: ExchangeAnswer, _ exchange: DiagnosisExchange) -> Bool {
        guard !exchange.destination.isSecure(on: exchange.port), !exchange.destination.isEndpoint,
            let location = answer.location, let host = URLPieces(location).authority?.host.lowercased()
        else { return false }
        let own = exchange.destination.shownHost.lowercased()
        return host != own && !host.hasUTF8Suffix("." + own) && !own.hasUTF8Suffix("." + host)
    }

    private mutating func fail(portal url: String?) {
        let page = url.map { ": " + DisplayText.sanitized($0) } ?? ""
        fatal.append(Blame(.localNetwork, .portal, .portal, "a login page answers instead of the Internet\(page)"))
        steps.append(Step(.portal, .bad, "A login page answers in place of the server\(page)."))
    }

    /// More than servers' clocks are usually off.
    private static let toleratedSkew = Duration.seconds(300)

    private mutating func examineClock(_ answer: ExchangeAnswer, _ exchange: DiagnosisExchange) {
        guard let skew = answer.clockSkew, skew.magnitude > Self.toleratedSkew else { return }
        let blame = clockBlame(skew, exchange)
        steps.append(blame.step)
        if works { minor.append(blame) }
    }

    private func clockBlame(_ skew: Duration, _ exchange: DiagnosisExchange) -> Blame {
        let direction = skew > .zero ? "behind" : "ahead of"
        return Blame(
            .thisMachine, .target, .clock,
            "this machine's clock is \(DurationText.describe(skew.magnitude.wholeSeconds)) \(direction) that of the server"
        )
    }

    // MARK: - Failures

    private mutating func examineFailure(
        _ failure: ExchangeAnswer.Failure, _ text: String, _ answer: ExchangeAnswer, _ exchange: DiagnosisExchange
    ) {
        let destination = exchange.destination
        let party: Diagnosis.Party = destination.proxy == nil ? .server : .proxy
        let speaker = exchange.speaker
        let blame: Blame
        switch failure {
        case .silent(let phase), .reset(let phase):
            blame = silence(failure, phase, exchange)
        case .refused, .unreachable:
            blame = Blame(party, .target, .connect, "\(speaker) does not accept a second connection")
        case .handshake:
            blame = Blame(
                .server, .target, .tls, "the TLS handshake with \(destination.shownHost) fails: \(Self.shown(text))")
        case .certificateExpired, .certificateNotYetValid: blame = dateBlame(failure, exchange)
        case .certificateWrongHost:
            blame = Blame(
                .server, .target, .tls, "the certificate that answers for \(destination.shownHost) is another host's")
        case .certificateUntrusted:
            blame = untrusted(destination)
        case .notHTTP:
            let clause: Clause = "\(speaker) does not answer with HTTP"
            blame =
                destination.proxy == nil
                ? Blame(party, .target, .http, clause) : beyondProxy(exchange, clause)
        case .proxyRefused:
            blame = Blame(
                .proxy, .target, .proxy, "\(speaker) refuses to connect to \(destination.shown): \(Self.shown(text))")
        case .proxyFailed:
            blame = beyondProxy(exchange, "\(speaker) makes no connection to \(destination.shown): \(Self.shown(text))")
        case .proxyAuthentication: blame = wantsCredentials(exchange)
        case .local: blame = Blame(.thisMachine, .target, .connect, "this machine did not send: \(Self.shown(text))")
        }
        steps.append(blame.step)
        // The host answers, which is all that was asked where no port was named.
        if destination.isBare, destination.proxy == nil { return minor.append(blame) }
        isProved = false
        fatal.append(blame)
    }

    /// What a proxy does not reach: what is beyond it only the proxy sees.
    private func beyondProxy(_ exchange: DiagnosisExchange, _ clause: Clause) -> Blame {
        Blame(
            .undecided, .target, .proxy, "\(clause) (the server, the proxy, or what is between them)",
            between: [.server, .proxy, .localNetwork, .provider])
    }

    /// Whose fault a certificate of an unknown authority is: what is so at every host is no server's fault.
    private mutating func untrusted(_ destination: DiagnosisDestination) -> Blame {
        let shown = destination.shownHost
        let alone = Blame(
            .server, .target, .tls, "the certificate of \(shown) is not signed by an authority that this machine trusts"
        )
        guard let host = evidence.firstConnection(of: destination)?.host else { return alone }
        var facts = [
            WeighedFact(
                .untrustedHere, "the certificate of \(shown) is of an authority that this machine does not trust")
        ]
        for endpoint in evidence.securedEndpoints + evidence.endpoints where endpoint.host != destination.host {
            guard let exchange = evidence.exchange(of: endpoint), let answer = evidence.exchanged(exchange) else {
                continue
            }
            switch answer.ending {
            case .failure(.certificateUntrusted, _):
                facts.append(WeighedFact(.untrustedElsewhere, 2, "so is that of \(endpoint.shownHost)"))
            case .secured, .response:
                guard endpoint.isSecure(on: exchange.port) else { continue }
                facts.append(WeighedFact(.trustedElsewhere, "that of \(endpoint.shownHost) is trusted"))
            case .failure: continue
            }
            if let issuers = evidence.issuers(destination, endpoint) {
                facts.append(
                    WeighedFact(
                        issuers ? .sameIssuer : .otherIssuer,
                        issuers ? "one and the same authority signed both" : "different authorities signed them"))
            }
        }
        if facts.count == 1, evidence.securedEndpoints.contains(where: evidence.isLeft) {
            facts.append(.open(.trustUnheard, "no handshake with another host has ended"))
        }
        let all = DiagnosisFacts(evidence: evidence, host: host, role: .server, ports: destination.nextPorts)
        let blame = judge(all, facts)?.blame
        return blame?.party == .server ? alone : blame ?? alone
    }

    private static func shown(_ text: String) -> String { DisplayText.sanitized(String(text.prefix(200))) }

    private func silence(
        _ failure: ExchangeAnswer.Failure, _ phase: ExchangeAnswer.Phase, _ exchange: DiagnosisExchange
    ) -> Blame {
        let subject: Diagnosis.Subject = phase == .tls ? .tls : phase == .http ? .http : .connect
        let party: Diagnosis.Party = exchange.destination.proxy == nil ? .server : .proxy
        let what = phase == .tls ? "the TLS handshake" : phase == .http ? "the request" : "a second connection"
        let isBeyond = phase != .connect && exchange.destination.proxy != nil
        if case .reset = failure {
            if isBeyond { return beyondProxy(exchange, "\(exchange.speaker) cuts the connection during \(what)") }
            return Blame(party, .target, subject, "\(exchange.speaker) cuts the connection during \(what)")
        }
        if phase == .connect, let blame = spreading(exchange) { return blame }
        // Where many packets are lost, small ones may have passed by chance.
        let isSevere = phase != .connect && evidence.lossiest(like: exchange.address) >= DiagnosisQuality.severeShare
        let alone = Blame(
            party, .target, subject, "\(exchange.speaker) accepts the connection, but does not answer \(what)",
            isSilence: isSevere)
        guard phase != .connect, !isSevere else { return alone }
        switch passesInSmallSegments(exchange) {
        case true?: return vanishing(exchange.address)
        case nil where evidence.pinged(exchange.address, isLarge: true) != .answered:
            let isSeen =
                evidence.pinged(exchange.address) == .answered
                && evidence.pinged(exchange.address, isLarge: true) == .silent
            return Blame(
                .undecided, .internet, .mtu,
                "\(alone.clause), or large packets vanish on the way\(isSeen ? ", as large pings to it do" : ""): no connection with small ones was seen in time",
                between: vanishing(exchange.address).suspects + [party])
        case false?, nil: return isBeyond ? beyondProxy(exchange, alone.clause) : alone
        }
    }

    /// On which side of the gateway large packets vanish: it answers large pings, or small ones alone.
    private func vanishing(_ host: HostAddress) -> Blame {
        let beyond: Clause = "large packets to or from \(host) vanish on the way: with small ones it answers"
        guard let gateway = evidence.gateway(to: host) else {
            let isNear = !evidence.isBeyondGateway(host)
            return Blame(isNear ? .localNetwork : .provider, isNear ? .gateway : .internet, .mtu, beyond)
        }
        switch (evidence.pinged(gateway), evidence.pinged(gateway, isLarge: true)) {
        case (_, .answered?): return Blame(.provider, .internet, .mtu, beyond)
        case (.answered?, .silent?):
            return Blame(
                .localNetwork, .gateway, .mtu,
                "large packets vanish between this machine and the gateway \(gateway): with small ones \(host) answers")
        default: return Blame(.undecided, .internet, .mtu, beyond, between: [.provider, .localNetwork])
        }
    }

    /// A router of this link, a next hop, or one farther on, by which some connections are lost.
    private func spreading(_ exchange: DiagnosisExchange) -> Blame? {
        deadHop(to: exchange.address) ?? silentRival(to: exchange.address)
            ?? farSpreading(exchange.address, exchange.port)
    }

    /// A router that sends connections by several ways, of which one is dead: some of those that began at once stood.
    func farSpreading(_ host: HostAddress, _ port: UInt16) -> Blame? {
        guard let burst = evidence.burst(host, port), let stood = burst.connected, stood > 0, stood < burst.sent else {
            return nil
        }
        return Blame(
            .undecided, .internet, .internet,
            "of \(burst.sent) connections to \(host) at once \(stood) stood: somebody on the way spreads them over several ways, and one of these is dead",
            between: [.localNetwork, .provider])
    }

    /// Whether it answers with small segments; `nil` where no connection with them stood in time.
    private func passesInSmallSegments(_ exchange: DiagnosisExchange) -> Bool? {
        guard let again = evidence.exchange(of: exchange.destination, .smallSegments),
            let answer = evidence.exchanged(again)
        else { return nil }
        switch answer.ending {
        case .response, .secured: return true
        case .failure(.silent(.connect), _): return nil
        // The certificate arrived, which is what was missing.
        case .failure(let failure, _): return failure.isOfCertificate
        }
    }

    /// Whose date is wrong: the certificate's, or this machine's.
    private func dateBlame(_ failure: ExchangeAnswer.Failure, _ exchange: DiagnosisExchange) -> Blame {
        let shown = exchange.destination.shownHost
        if let again = evidence.exchange(of: exchange.destination, .anyCertificate),
            let answer = evidence.exchanged(again), let skew = answer.clockSkew, skew.magnitude > Self.toleratedSkew,
            answer.isValidByServersClock
        {
            return clockBlame(skew, exchange)
        }
        let end = evidence.exchanged(exchange)?.validity
        let isLeft = evidence.exchange(of: exchange.destination, .anyCertificate).flatMap(evidence.exchanged) == nil
        let text: Clause =
            failure == .certificateExpired
            ? "the certificate of \(shown) has expired\(end.map { ", on \($0.upperBound.day)" } ?? "")"
            : "the certificate of \(shown) is not valid yet\(end.map { ", only from \($0.lowerBound.day)" } ?? "")"
        guard isLeft else { return Blame(.server, .target, .tls, text) }
        return Blame(
            .undecided, .target, .tls, "\(text), or this machine's clock is wrong: the server's was not seen in time",
            between: [.server, .thisMachine])
    }
}

extension DiagnosisExchange {
    /// Who answers, for a sentence.
    fileprivate var speaker: Clause { destination.proxy == nil ? "\(address)" : "the proxy \(address)" }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }

    fileprivate var wholeSeconds: Duration { .seconds(nanoseconds / 1_000_000_000) }
}

extension Timestamp {
    /// Its date alone.
    fileprivate var day: String { String(description.prefix(10)) }
}
