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

    private static let words: [(Blocker, String)] = [
        (.requestHold, "hold"), (.queueHold, "queue-hold"), (.path, "no-path"), (.linkClass, "class"),
        (.metered, "metered"), (.validated, "validated"), (.family, "family"), (.target, "target"),
        (.breaker, "breaker"), (.budget, "budget"),
        (.rate, "rate"), (.order, "order"), (.concurrency, "concurrency"), (.disk, "disk"), (.backoff, "backoff"),
        (.clock, "clock"), (.notValidated, "not-validated"), (.interceptor, "interceptor"), (.canary, "canary"),
        (.window, "window"), (.name, "name"), (.fleetHold, "fleet-hold"), (.otherNetwork, "network"),
        (.condition, "condition"), (.quality, "quality"), (.meteredBudget, "metered-budget"), (.join, "join"),
    ]

    /// A set of stable words. It skips those that this version does not know.
    package init(words: [String]) {
        self.init(Self.words.filter { words.contains($0.1) }.map(\.0))
    }

    /// The blockers that follow from what a condition lacks.
    package init(_ unmet: NetworkCondition.Unmet) {
        self.init(Self.conditions.filter { unmet.contains($0.0) }.map(\.1))
    }

    private static let conditions: [(NetworkCondition.Unmet, Blocker)] = [
        (.path, .path), (.linkClass, .linkClass), (.metered, .metered), (.validated, .validated), (.family, .family),
        (.target, .target), (.network, .otherNetwork), (.unreadable, .condition),
        (.quality, .quality),
    ]

    /// The blockers that a change of the network clears.
    package static let network = Blocker(conditions.map(\.1))

    /// Whether a path is what it lacks.
    package var isOfNetwork: Bool { !isDisjoint(with: Self.network.union([.notValidated, .name, .meteredBudget])) }

    /// All stable words.
    package static var allWords: [String] { words.map(\.1) }

    /// The stable words of its bits, in a fixed order.
    package var words: [String] { Self.words.filter { contains($0.0) }.map(\.1) }

    /// Its bits one by one, in the order of ``words``.
    package var elements: [Blocker] { Self.words.map(\.0).filter(contains) }
}
