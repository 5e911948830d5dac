/// What a test of the whole way to a target found, layer by layer, and who can mend what is broken. A value, for people
/// and for programs.
package struct Diagnosis: Hashable, Sendable {
    /// Whether the target can be used. The raw values are words of the interface.
    package enum Outcome: String, Hashable, Sendable, CaseIterable {
        case ok
        /// It can be used, but something on the way is broken.
        case degraded
        case failed
        /// The tests neither proved nor disproved it.
        case unknown
    }

    /// Who can mend a fault. The raw values are words of the interface.
    package enum Party: String, Hashable, Sendable, CaseIterable {
        case thisMachine = "this-machine"
        case localNetwork = "local-network"
        case provider
        case nameServer = "name-server"
        case proxy
        case server
        /// Two or more remain, and only another fact would decide: ``Blame/between``.
        case undecided
    }

    /// Loss, delay and jitter, as they were measured.
    package struct Quality: Hashable, Sendable {
        package let line: LineQuality
        /// The part of the way, for people; `nil` for the whole.
        package let stretch: String?

        package init(_ line: LineQuality, stretch: String?) {
            self.line = line
            self.stretch = stretch
        }
    }

    /// A fact that counted in the judgement.
    package struct Fact: Hashable, Sendable {
        /// The fact's word.
        package let word: String
        package let text: String
        /// How much it counts: packets or witnesses.
        package let weight: Int
        /// The explanations that predict it, and those that it rules out, by their words.
        package let speaksFor: [String]
        package let speaksAgainst: [String]

        package init(_ word: String, _ text: String, weight: Int, speaksFor: [String], speaksAgainst: [String]) {
            self.word = word
            self.text = text
            self.weight = weight
            self.speaksFor = speaksFor
            self.speaksAgainst = speaksAgainst
        }
    }

    /// One fact that was tested.
    package struct Step: Hashable, Sendable {
        /// What was tested. Where a word is also one of ``OutageLayer``, it means the same.
        package enum Subject: String, Hashable, Sendable, CaseIterable {
            case link
            case address
            case route
            /// The first hop: a gateway, or a host on the link itself.
            case gateway
            case nameServer = "name-server"
            case name
            /// Whether anything answers beyond the gateway.
            case internet
            case proxy
            /// TCP connections, or echo requests.
            case connect
            /// Whether large packets arrive.
            case mtu
            case tls
            case http
            case clock
            case portal
        }

        package typealias Finding = Explanation.Step.Finding

        package let subject: Subject
        package let finding: Finding
        /// Whole sentences.
        package let text: String
        /// How long the answer took; `nil` where nothing answered, or nothing was sent.
        package let duration: Duration?

        package init(_ subject: Subject, _ finding: Finding, _ text: String, duration: Duration? = nil) {
            self.subject = subject
            self.finding = finding
            self.text = text
            self.duration = duration
        }
    }

    /// What is broken, and who can mend it.
    package struct Blame: Hashable, Sendable {
        package let party: Party
        /// The layer, as the history of outages names it.
        package let layer: OutageLayer
        /// The test that showed it.
        package let subject: Step.Subject
        /// A sentence without a capital letter and a full stop.
        package let text: String
        /// Who else it may be, where the party is undecided.
        package var between: [Party] = []
        /// Whether only missing answers show it, which a lossy line explains as well.
        package var isSilence = false
        /// Whether it is the far end of a tunnel, which need not be the provider's.
        package var isFarEnd = false

        package init(
            _ party: Party, _ layer: OutageLayer, _ subject: Step.Subject, _ text: String, between: [Party] = [],
            isSilence: Bool = false, isFarEnd: Bool = false
        ) {
            self.party = party
            self.layer = layer
            self.subject = subject
            self.text = text
            self.between = between
            self.isSilence = isSilence
            self.isFarEnd = isFarEnd
        }
    }

    /// The target as it was written.
    package let target: String
    package let outcome: Outcome
    /// `nil` where nothing is broken, or where it is not known what is.
    package let blame: Blame?
    package let steps: [Step]
    /// The facts that counted where something had to be concluded.
    package let facts: [Fact]
    /// `nil` where it was not measured.
    package let quality: Quality?

    package init(
        target: String, outcome: Outcome, blame: Blame?, steps: [Step], facts: [Fact] = [], quality: Quality? = nil
    ) {
        self.target = target
        self.outcome = outcome
        self.blame = blame
        self.steps = steps
        self.facts = facts
        self.quality = quality
    }
}

extension Diagnosis.Blame {
    /// Where to turn, as a sentence for people.
    package var advice: String {
        switch (party, layer) {
        case (_, .portal): "The local network wants a login before it lets packets pass."
        case (.provider, _) where isFarEnd: "The fault is at the tunnel's far end, or on the way to it."
        case (.provider, .gateway): "The fault is at the modem, or at the provider behind it."
        case (.server, .name): "If the name is spelt right, its owner can mend it."
        case (.undecided, _):
            "It may be " + between.map(\.phrase).joined(separator: " or ") + "; one more fact would decide."
        default: party.sentence
        }
    }
}

extension Diagnosis.Party {
    fileprivate var sentence: String {
        switch self {
        case .thisMachine: "The fault is in this machine."
        case .localNetwork: "The fault is in the local network: its router, access point, switch or cable."
        case .provider: "The fault is at the provider, or on the line to it."
        case .nameServer: "The fault is at the name server, or in the setting that names it."
        case .proxy: "The fault is at the proxy, or in the setting that names it."
        case .server: "The fault is at the server."
        case .undecided: "The facts do not show where the fault is."
        }
    }

    fileprivate var phrase: String {
        switch self {
        case .thisMachine: "this machine"
        case .localNetwork: "the local network"
        case .provider: "the provider"
        case .nameServer: "the name server"
        case .proxy: "the proxy"
        case .server: "the server"
        case .undecided: "someone else"
        }
    }
}
