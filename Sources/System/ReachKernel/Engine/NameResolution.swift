internal import ReachCore
internal import ReachLoop

/// Has the names of watched targets resolved, now and again. Confined to the loop.
final class NameResolution {
    /// The target of a watch; `nil` once it is no longer watched.
    var find: (WatchKey) -> WatchedTarget? = { _ in nil }
    /// Called with the targets whose names were resolved in the same turn of the loop.
    var onAnswers: ([WatchedTarget]) -> Void = { _ in }
    private let loop: EventLoop
    private let resolver: SystemResolver
    private var lastLookup: UInt64 = 0
    /// Targets whose names were resolved in this turn of the loop.
    private var answered: [WatchedTarget] = []
    private let loopReference = LoopReference<NameResolution>()

    init(on loop: EventLoop, _ resolver: SystemResolver = SystemResolver()) {
        self.loop = loop
        self.resolver = resolver
        loopReference.owner = self
    }

    deinit { loopReference.owner = nil }

    /// Asks for the addresses of a target's name. Nothing happens if it has none, or while an answer is awaited.
    func resolve(_ watch: WatchedTarget) {
        guard case .name(let name) = watch.target.subject, watch.name.shouldAsk() else { return }
        let key = watch.key
        let reference = loopReference
        let mailbox = loop.mailbox
        lastLookup += 1
        let number = lastLookup
        let id = resolver.resolve(name, for: watch.owner) { answer in
            mailbox.post { _ in reference.owner?.handle(answer, of: number, for: key) }
        }
        watch.lookup = (number, id)
    }

    /// Ends the wait for the addresses of a target that is no longer watched. Otherwise lookups of a silent server's
    /// names would queue up without bound while somebody begins and ends watches of them.
    func cancel(for watch: WatchedTarget) {
        guard let lookup = watch.lookup else { return }
        watch.lookup = nil
        resolver.cancel(lookup.id)
    }

    private func handle(_ answer: NameAnswer, of lookup: UInt64, for key: WatchKey) {
        guard let watch = find(key), watch.lookup?.number == lookup else { return }
        watch.lookup = nil
        let wait = watch.name.take(answer)
        watch.nameTimer.map(loop.cancel)
        watch.nameTimer = loop.schedule(at: SystemClock.boot + wait) { [unowned self, weak watch] in
            guard let watch else { return }
            watch.nameTimer = nil
            resolve(watch)
        }
        answered.append(watch)
        if answered.count == 1 { loop.afterEvents { [loopReference] in loopReference.owner?.deliver() } }
    }

    private func deliver() {
        let watches = answered
        answered = []
        onAnswers(watches)
    }
}
