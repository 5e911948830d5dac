package import ReachCore

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

    package typealias Party = ResponsibleParty

    /// Loss, delay and jitter, as they were measured.
    package struct Quality: Hashable, Sendable {
        package var line: LineQuality
        /// The part of the way, for people; `nil` for the whole.
        package var stretch: String?

        package init(_ line: LineQuality, stretch: String?) {
            self.line = line
            self.stretch = stretch
        }
    }

    /// A fact that counted in the judgement.
    package struct Fact: Hashable, Sendable {
        /// The fact's word.
        package var word: String
        package var text: String
        /// How much it counts: packets or witnesses.
        package var weight: Int
        /// The explanations that predict it, and those that it rules out, by their words.
        package var speaksFor: [String]
        package var speaksAgainst: [String]

        package init(_ word: String, _ text: String, weight: Int, speaksFor: [String], speaksAgainst: [String]) {
            self.word = word
            self.text = text
            self.weight = weight
            self.speaksFor = speaksFor
            self.speaksAgainst = speaksAgainst
        }
    }

    package typealias Step = ExplainedStep<Subject>

    /// What was tested. Where a word is also one of ``OutageLayer``, it means the same.
    package enum Subject: String, StepSubject {
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

        package static var other: Subject { .connect }
        package static var isTimed: Bool { true }
    }

    /// What is broken, and who can mend it.
    package struct Blame: Hashable, Sendable {
        package let party: Party
        /// The layer, as the history of outages names it.
        package let layer: OutageLayer
        /// The test that showed it.
        package let subject: Subject
        package let clause: Clause
        /// Who else it may be, where the party is undecided.
        package var between: [Party] = []
        /// Whether only missing answers show it, which a lossy line explains as well.
        package var isSilence = false
        /// Whether it is the far end of a tunnel, which need not be the provider's.
        package var isFarEnd = false

        package init(
            _ party: Party, _ layer: OutageLayer, _ subject: Subject, _ clause: Clause, between: [Party] = [],
            isSilence: Bool = false, isFarEnd: Bool = false
        ) {
            self.party = party
            self.layer = layer
            self.subject = subject
            self.clause = clause
            self.between = between
            self.isSilence = isSilence
            self.isFarEnd = isFarEnd
        }
    }

    /// The target as it was written.
    package var target: String
    package var outcome: Outcome
    /// `nil` where nothing is broken, or where it is not known what is.
    package var blame: Blame?
    package var steps: [Step]
    /// The facts that counted where something had to be concluded.
    package var facts: [Fact]
    /// `nil` where it was not measured.
    package var quality: Quality?

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
    /// A sentence without a capital letter and a full stop.
    package var text: String { clause.text }

    /// Who it may be: one, or several where it is undecided.
    package var suspects: [Diagnosis.Party] { between.isEmpty ? [party] : between }

    /// The test that showed it.
    package var step: Diagnosis.Step { Diagnosis.Step(subject, .bad, clause.sentence) }

    /// Where to turn, as a sentence for people.
    package var advice: String {
        switch (party, layer) {
        case (_, .portal): "The local network wants a login before it lets packets pass."
        case (.provider, _) where isFarEnd: "The fault is at the tunnel's far end, or on the way to it."
        case (.provider, .gateway): "The fault is at the modem, or at the provider behind it."
        case (.server, .name): "If the name is spelt right, its owner can mend it."
        case (.undecided, _):
            "It may be " + between.map(\.row.phrase).joined(separator: " or ") + "; one more fact would decide."
        default: party.row.sentence
        }
    }
}

extension ResponsibleParty {
    /// What is said of one that is at fault, and what it is called.
    fileprivate var row: (sentence: String, phrase: String) {
        switch self {
        case .thisMachine: ("The fault is in this machine.", "this machine")
        case .localNetwork:
            ("The fault is in the local network: its router, access point, switch or cable.", "the local network")
        case .provider: ("The fault is at the provider, or on the line to it.", "the provider")
        case .nameServer:
            ("The fault is at the name server, or in the setting that names it.", "the name server")
        case .proxy: ("The fault is at the proxy, or in the setting that names it.", "the proxy")
        case .server: ("The fault is at the server.", "the server")
        case .undecided: ("The facts do not show where the fault is.", "someone else")
        }
    }
}
