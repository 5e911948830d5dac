internal import ReachCore

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
    case portUnheard = "port-unheard"
    case untrustedHere = "untrusted-here"
    case untrustedElsewhere = "untrusted-elsewhere"
    case trustedElsewhere = "trusted-elsewhere"
    case trustUnheard = "trust-unheard"
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
    case endsAtGateway = "ends-at-gateway"
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
    case ownUnheard = "own-unheard"
    case droppedByReversePath = "dropped-by-reverse-path"
    case localSource = "local-source"
    case otherSourceAnswers = "other-source-answers"
    case otherSourceUnheard = "other-source-unheard"
    case deprecatedSource = "deprecated-source"
    case shortLife = "short-life"
    case entryContradicted = "entry-contradicted"
}

/// A fact with how much it counts, in words.
struct WeighedFact: Hashable, Sendable {
    let fact: DiagnosisFact
    /// Packets or witnesses, at most 3: many of one kind are no other proof. 0 for an open question.
    let weight: Int
    let clause: Clause

    init(_ fact: DiagnosisFact, _ clause: Clause) { self.init(fact, 1, clause) }

    /// A test that has not ended, or that no witness could take part in: what it would show remains possible, and no
    /// more.
    static func open(_ fact: DiagnosisFact, _ clause: Clause) -> WeighedFact {
        WeighedFact(fact: fact, weight: 0, clause: clause)
    }

    private init(fact: DiagnosisFact, weight: Int, clause: Clause) {
        self.fact = fact
        self.weight = weight
        self.clause = clause
    }

    init(_ fact: DiagnosisFact, _ weight: Int, _ clause: Clause) {
        self.init(fact: fact, weight: max(1, min(3, weight)), clause: clause)
    }
}
