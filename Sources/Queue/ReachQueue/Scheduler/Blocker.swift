package import ReachCore

/// What keeps a request from starting: a set of reasons, of which each is cleared by whoever set it and by no one else.
///
/// A user's hold and the network's pause are different bits, so the network's return cannot undo a hold.
package struct Blocker: OptionSet, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// A user holds this request.
    package static let requestHold = Blocker(rawValue: 1 << 0)
    /// A user holds the whole queue, or all requests of the owner.
    package static let queueHold = Blocker(rawValue: 1 << 1)
    /// There is no path, and any would do.
    package static let path = Blocker(rawValue: 1 << 16)
    /// No path of the class or by the interface that the request asks for.
    package static let linkClass = Blocker(rawValue: 1 << 2)
    /// All paths that would do are metered.
    package static let metered = Blocker(rawValue: 1 << 3)
    /// The Internet behind the path is not proved; or nothing is known of the network yet.
    package static let validated = Blocker(rawValue: 1 << 4)
    /// The path has no default route in the family that is asked for, or in none.
    package static let family = Blocker(rawValue: 1 << 5)
    /// The request's own host is not reachable.
    package static let target = Blocker(rawValue: 1 << 6)
    /// The destination failed too often: its circuit breaker is open, or half-open with an attempt on its way.
    package static let breaker = Blocker(rawValue: 1 << 7)
    /// The destination's budget for retries is used up.
    package static let budget = Blocker(rawValue: 1 << 8)
    /// Not before a certain time: the destination asked for it, or starts are being spread.
    package static let rate = Blocker(rawValue: 1 << 9)
    /// An earlier request with the same order key is not over.
    package static let order = Blocker(rawValue: 1 << 10)
    /// As many attempts as may be are running.
    package static let concurrency = Blocker(rawValue: 1 << 11)
    /// The queue's file cannot be written.
    package static let disk = Blocker(rawValue: 1 << 12)
    /// Its own wait after a failure.
    package static let backoff = Blocker(rawValue: 1 << 13)

    /// The clock is not set, so that certificates cannot be judged.
    package static let clock = Blocker(rawValue: 1 << 14)
    /// A portal answers in the place of its server; or it has credentials or a body, goes in the clear, and probes have
    /// proved that something else than the Internet answers.
    package static let notValidated = Blocker(rawValue: 1 << 15)

    /// Its interceptor prepares it or judges its answer, or the program has registered none of this name.
    package static let interceptor = Blocker(rawValue: 1 << 17)

    /// A request that was sent first is to show whether its path works.
    package static let canary = Blocker(rawValue: 1 << 18)
    /// Its body would take longer than its path has stayed up recently.
    package static let window = Blocker(rawValue: 1 << 19)
    /// There is no path for it, and its name could not be resolved to see whether its host has one of its own.
    package static let name = Blocker(rawValue: 1 << 20)

    /// The fleet holds the queue of this machine.
    package static let fleetHold = Blocker(rawValue: 1 << 21)

    /// No path of the network that the request asks for, or only one of a network that it must not use.
    package static let otherNetwork = Blocker(rawValue: 1 << 22)

    /// Its condition is one of a newer version of reach, which this one cannot read.
    package static let condition = Blocker(rawValue: 1 << 23)

    /// The line of no path that would do is as it is asked for, or none is measured.
    package static let quality = Blocker(rawValue: 1 << 24)

    /// A budget for metered links is used up, or has less left than its body takes, and there is no other path.
    package static let meteredBudget = Blocker(rawValue: 1 << 25)

    /// It waits for others that are sent with it, or another one carries it.
    package static let join = Blocker(rawValue: 1 << 26)

    package static let hold: Blocker = [.requestHold, .queueHold, .fleetHold]
}

extension Blocker {
    /// All that is known of one blocker, in one row.
    struct Row: Sendable {
        let blocker: Blocker
        /// Its stable word.
        let word: String
        /// What a condition lacks that sets it; `nil` for what no condition asks for.
        let unmet: NetworkCondition.Unmet?
        /// Whether a path is what it lacks.
        let isOfNetwork: Bool
        /// What a tunnel into which the kernel sends would have to do; `nil` where none matters.
        let tunnelLacks: String?
        /// What it is, and what would end it, in whole sentences.
        let words: @Sendable (BlockScene) -> BlockWords

        init(
            _ blocker: Blocker, _ word: String, words: @escaping @Sendable (BlockScene) -> BlockWords
        ) {
            (self.blocker, self.word, unmet, isOfNetwork, tunnelLacks) = (blocker, word, nil, false, nil)
            self.words = words
        }

        /// What a path lacks.
        init(
            _ blocker: Blocker, _ word: String, path unmet: NetworkCondition.Unmet?, tunnelLacks: String? = nil,
            words: @escaping @Sendable (BlockScene) -> BlockWords
        ) {
            (self.blocker, self.word, self.unmet, isOfNetwork) = (blocker, word, unmet, true)
            self.tunnelLacks = tunnelLacks
            self.words = { $0.settling ?? words($0) }
        }
    }

    /// In the order of the words.
    static let rows: [Row] = [
        Row(.requestHold, "hold") { _ in ("A user holds it.", "It continues when it is released.") },
        Row(.queueHold, "queue-hold") { _ in ("The queue is held.", "It continues when the queue is released.") },
        Row(.path, "no-path", path: .path, tunnelLacks: "works") { $0.withoutPath },
        Row(.linkClass, "class", path: .linkClass, tunnelLacks: "satisfies the condition") { $0.withoutClass },
        Row(.metered, "metered", path: .metered) { $0.withoutUnmetered },
        Row(.validated, "validated", path: .validated) { $0.withoutProof },
        Row(.family, "family", path: .family) { _ in
            ("No path has the default route it needs.", "It starts when there is one.")
        },
        Row(.target, "target", path: .target, tunnelLacks: "works") { _ in
            ("Its host is not reachable.", "It starts when there is a path to it.")
        },
        Row(.breaker, "breaker") { $0.breaker },
        Row(.budget, "budget") { ("\($0.destination) was retried too often.", "It may be retried in \($0.left).") },
        Row(.rate, "rate") { $0.rate },
        Row(.order, "order") {
            (
                "Request \($0.predecessor), before it in its order, is not over.",
                "It continues when that one is over."
            )
        },
        Row(.concurrency, "concurrency") { _ in
            ("All transfer slots are in use.", "It starts when one of them is free.")
        },
        Row(.disk, "disk") {
            $0.block.until == nil
                ? ("The queue's file cannot be written.", "It continues when there is room on the disk.")
                : (
                    "The disk has no room for its answer.",
                    "It is tried again in \($0.left), and goes on when there is room."
                )
        },
        Row(.backoff, "backoff") { $0.backoff },
        Row(.clock, "clock") {
            ("The clock is not set, so that certificates cannot be judged.", "It is tried again in \($0.left).")
        },
        Row(.notValidated, "not-validated", path: nil) { $0.notValidated },
        Row(.interceptor, "interceptor") { $0.interception },
        Row(.canary, "canary") { $0.canary },
        Row(.window, "window") { $0.window },
        Row(.name, "name", path: nil) { _ in
            (
                "Its name is not resolved by the name servers that can be reached.",
                "It is looked up again now and then, and when the network changes."
            )
        },
        Row(.fleetHold, "fleet-hold") {
            ("The fleet holds the queue\($0.fleetsReason).", "It continues when the fleet releases it.")
        },
        Row(.otherNetwork, "network", path: .network) { $0.otherNetwork },
        Row(.condition, "condition", path: .unreadable) {
            (
                "This version of reach does not know its condition '\(DisplayText.sanitized($0.condition.description))'.",
                "It starts with the newer version that added it; or cancel it, and add it with another condition."
            )
        },
        Row(.quality, "quality", path: .quality) { $0.withoutQuality },
        // A path that costs money is there.
        Row(.meteredBudget, "metered-budget") { $0.scheduler.meteredWords(of: $0.entry, in: $0.group) },
        Row(.join, "join") { $0.scheduler.joinWords(of: $0.entry, left: $0.left) },
    ]

    /// A set of stable words. It skips those that this version does not know.
    package init(words: [String]) {
        self.init(Self.rows.filter { words.contains($0.word) }.map(\.blocker))
    }

    /// The blockers that follow from what a condition lacks.
    package init(_ unmet: NetworkCondition.Unmet) {
        self.init(Self.conditions.filter { unmet.contains($0.0) }.map(\.1))
    }

    private static let conditions = rows.compactMap { row in row.unmet.map { ($0, row.blocker) } }

    /// The blockers that a change of the network clears.
    package static let network = Blocker(conditions.map(\.1))

    private static let ofNetwork = Blocker(rows.filter(\.isOfNetwork).map(\.blocker)).union(.meteredBudget)

    /// Whether a path is what it lacks.
    package var isOfNetwork: Bool { !isDisjoint(with: Self.ofNetwork) }

    /// All stable words.
    package static var allWords: [String] { rows.map(\.word) }

    /// The stable words of its bits, in a fixed order.
    package var words: [String] { Self.rows.filter { contains($0.blocker) }.map(\.word) }

    private static let ordered = rows.map(\.blocker)

    /// Its bits one by one, in the order of ``words``.
    package var elements: [Blocker] { Self.ordered.filter(contains) }

    /// The row of one bit.
    var row: Row? { Self.rows.first { $0.blocker == self } }
}
