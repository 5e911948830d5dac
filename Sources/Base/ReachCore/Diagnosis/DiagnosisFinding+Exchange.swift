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

    /// The answer; where it was silence and a second exchange was answered, the second.
    private func settledAnswer(of destination: DiagnosisDestination, _ exchange: DiagnosisExchange) -> ExchangeAnswer? {
        let first = evidence.exchanged(exchange)
        guard case .failure(.silent, _)? = first?.ending,
            let again = evidence.exchange(of: destination, .again).flatMap(evidence.exchanged)
        else { return first }
        if case .failure(.silent, _) = again.ending { return first }
        return again
    }

    private mutating func describeTLS(_ answer: ExchangeAnswer, _ exchange: DiagnosisExchange) {
        let end = answer.validity.map { ", and its certificate is good until \($0.upperBound.day)" } ?? ""
        steps.append(Step(.tls, .good, "\(exchange.speaker) completes the TLS handshake\(end).".sentenceStart))
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
            fatal.append(Blame(.server, .target, .http, "\(shown) gives another answer than expected (HTTP \(status))"))
        case (_, 500...):
            add(.bad)
            let text =
                proxied.isEmpty
                ? "\(shown) answers with HTTP \(status): the server has a fault"
                : "the proxy answers with HTTP \(status) for \(shown)"
            fatal.append(Blame(.server, .target, .http, text))
        case (_, 404), (_, 410):
            guard !exchange.destination.isBare else { return add(.good) }
            add(.bad)
            fatal.append(
                Blame(.server, .target, .http, "the server answers, but has no page \(shown) (HTTP \(status))"))
        case (_, 401), (_, 403): add(.good, ": it wants a login or another right")
        default: add(.good)
        }
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
        steps.append(Step(.clock, .bad, "\(blame.text.sentenceStart)."))
        if works { minor.append(blame) }
    }

    private func clockBlame(_ skew: Duration, _ exchange: DiagnosisExchange) -> Blame {
        let direction = skew > .zero ? "behind" : "ahead of"
        let text =
            "this machine's clock is \(DurationText.describe(skew.magnitude.wholeSeconds)) \(direction) that of the server"
        return Blame(.thisMachine, .target, .clock, text)
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
        case .notHTTP: blame = Blame(party, .target, .http, "\(speaker) does not answer with HTTP")
        case .proxyFailed, .proxyRefused:
            blame = Blame(
                .proxy, .target, .proxy, "\(speaker) makes no connection to \(destination.shown): \(Self.shown(text))")
        case .proxyAuthentication: blame = Blame(.proxy, .target, .proxy, "\(speaker) wants other credentials (407)")
        case .local: blame = Blame(.thisMachine, .target, .connect, "this machine did not send: \(Self.shown(text))")
        }
        steps.append(Step(blame.subject, .bad, "\(blame.text.sentenceStart)."))
        // The host answers, which is all that was asked where no port was named.
        if destination.isBare, destination.proxy == nil { return minor.append(blame) }
        isProved = false
        fatal.append(blame)
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
                .untrustedHere, "The certificate of \(shown) is of an authority that this machine does not trust.")
        ]
        for endpoint in evidence.securedEndpoints + evidence.endpoints where endpoint.host != destination.host {
            guard let exchange = evidence.exchange(of: endpoint), let answer = evidence.exchanged(exchange) else {
                continue
            }
            switch answer.ending {
            case .failure(.certificateUntrusted, _):
                facts.append(WeighedFact(.untrustedElsewhere, 2, "So is that of \(endpoint.shownHost)."))
            case .secured, .response:
                guard endpoint.isSecure(on: exchange.port) else { continue }
                facts.append(WeighedFact(.trustedElsewhere, "That of \(endpoint.shownHost) is trusted."))
            case .failure: continue
            }
            if let issuers = evidence.issuers(destination, endpoint) {
                facts.append(
                    WeighedFact(
                        issuers ? .sameIssuer : .otherIssuer,
                        issuers ? "One and the same authority signed both." : "Different authorities signed them."))
            }
        }
        let blame = judge(DiagnosisVerdict(facts), host, .server, destination.nextPorts)
        return blame?.party == .server ? alone : blame ?? alone
    }

    private static func shown(_ text: String) -> String { DisplayText.sanitized(String(text.prefix(200))) }

    private func silence(
        _ failure: ExchangeAnswer.Failure, _ phase: ExchangeAnswer.Phase, _ exchange: DiagnosisExchange
    ) -> Blame {
        let subject: Step.Subject = phase == .tls ? .tls : phase == .http ? .http : .connect
        let party: Diagnosis.Party = exchange.destination.proxy == nil ? .server : .proxy
        let what = phase == .tls ? "the TLS handshake" : phase == .http ? "the request" : "a second connection"
        if case .reset = failure {
            return Blame(party, .target, subject, "\(exchange.speaker) cuts the connection during \(what)")
        }
        if phase == .connect, let blame = silentRival(to: exchange.address) { return blame }
        guard !passesInSmallSegments(exchange) || evidence.lossiest >= DiagnosisQuality.lossyShare else {
            return Blame(
                .provider, .internet, .mtu,
                "large packets to or from \(exchange.address) vanish on the way: with small ones it answers")
        }
        return Blame(party, .target, subject, "\(exchange.speaker) accepts the connection, but does not answer \(what)")
    }

    private func passesInSmallSegments(_ exchange: DiagnosisExchange) -> Bool {
        guard let again = evidence.exchange(of: exchange.destination, .smallSegments),
            let answer = evidence.exchanged(again)
        else { return false }
        switch answer.ending {
        case .response, .secured: return true
        // The certificate arrived, which is what was missing.
        case .failure(let failure, _):
            return [.certificateExpired, .certificateNotYetValid, .certificateWrongHost, .certificateUntrusted]
                .contains(failure)
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
        let text =
            failure == .certificateExpired
            ? "the certificate of \(shown) has expired" + (end.map { ", on \($0.upperBound.day)" } ?? "")
            : "the certificate of \(shown) is not valid yet" + (end.map { ", only from \($0.lowerBound.day)" } ?? "")
        return Blame(.server, .target, .tls, text)
    }
}

extension DiagnosisExchange {
    /// Who answers, for a sentence.
    fileprivate var speaker: String { (destination.proxy == nil ? "" : "the proxy ") + address.description }
}

extension Duration {
    fileprivate var magnitude: Duration { self < .zero ? .zero - self : self }

    fileprivate var wholeSeconds: Duration { .seconds(nanoseconds / 1_000_000_000) }
}

extension Timestamp {
    /// Its date alone.
    fileprivate var day: String { String(description.prefix(10)) }
}
