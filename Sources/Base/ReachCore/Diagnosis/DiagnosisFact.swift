/// What was observed where something does not answer, in words that hypotheses predict.
enum DiagnosisFact: String, CaseIterable, Hashable, Sendable {
    // The host in question
    case hostAnswers = "host-answers"
    case hostSilent = "host-silent"
    case hostRefuses = "host-refuses"
    case silentToEcho = "silent-to-echo"
    case hostForbids = "host-forbids"
    case hostAnswersInOtherFamily = "host-answers-in-other-family"
    case standsForInternet = "stands-for-internet"
    // Other destinations
    case othersAnswer = "others-answer"
    case othersSilent = "others-silent"
    case translated
    case translatorAnswers = "translator-answers"
    case translatorSilent = "translator-silent"
    case tcpSilentEverywhere = "tcp-silent-everywhere"
    case portSilentEverywhere = "port-silent-everywhere"
    case refusedEverywhere = "refused-everywhere"
    case portAnswersElsewhere = "port-answers-elsewhere"
    case untrustedHere = "untrusted-here"
    case untrustedElsewhere = "untrusted-elsewhere"
    case trustedElsewhere = "trusted-elsewhere"
    case sameIssuer = "same-issuer"
    case otherIssuer = "other-issuer"
    // The way
    case routersAnswer = "routers-answer"
    case loop
    case hostMissing = "host-missing"
    case noWay = "no-way"
    case gatewayNoWay = "gateway-no-way"
    case gatewayForbids = "gateway-forbids"
    case routerForbids = "router-forbids"
    case passesGateway = "passes-gateway"
    // The first hop
    case bareLink = "bare-link"
    case noHandshake = "no-handshake"
    case gatewayMute = "gateway-mute"
    case neighbourServes = "neighbour-serves"
    case neighbourForwards = "neighbour-forwards"
    case otherRouterForwards = "other-router-forwards"
    case usualRouterForwards = "usual-router-forwards"
    case routerDiffers = "router-differs"
    case twoGateways = "two-gateways"
    case twinHere = "twin-here"
    // This machine
    case notSent = "not-sent"
    case refusedHere = "refused-here"
    case droppedHere = "dropped-here"
    case droppedByReversePath = "dropped-by-reverse-path"
    case localSource = "local-source"
    case otherSourceAnswers = "other-source-answers"
    case deprecatedSource = "deprecated-source"
}

/// A fact with how much it counts, and a sentence.
struct WeighedFact: Hashable, Sendable {
    let fact: DiagnosisFact
    /// Packets or witnesses, at most 3: many of one kind are no other proof.
    let weight: Int
    let text: String

    init(_ fact: DiagnosisFact, _ text: String) { self.init(fact, 1, text) }

    init(_ fact: DiagnosisFact, _ weight: Int, _ text: String) {
        self.fact = fact
        self.weight = max(1, min(3, weight))
        self.text = text
    }
}
