internal import ReachCore
internal import ReachLoop

/// Has the names of watched targets resolved, now and again. Confined to the loop.
final class NameResolution {
    /// The target of a watch; `nil` once it is no longer watched.
    var find: (WatchKey) -> WatchedTarget? = { _ in nil }
    /// Called with the targets whose names were resolved in the same turn of the loop.
    var onAnswers: ([WatchedTarget]) -> Void = { _ in }
    private let loop: EventLoop
    private let resolver = SystemResolver()
    /// Targets whose names were resolved in this turn of the loop.
    private var answered: [WatchedTarget] = []
    private let loopReference = LoopReference<NameResolution>()

    init(on loop: EventLoop) {
        self.loop = loop
        loopReference.owner = self
    }

    deinit { loopReference.owner = nil }

    /// Asks for the addresses of a target's name. Nothing happens if it has none, or while an answer is awaited.
    func resolve(_ watch: WatchedTarget) {
        guard case .name(let name) = watch.target.subject, watch.name.shouldAsk() else { return }
        let key = watch.key
        let reference = loopReference
        let mailbox = loop.mailbox
        resolver.resolve(name, for: watch.owner) { answer in
            mailbox.post { _ in reference.owner?.handle(answer, for: key) }
        }
    }

    private func handle(_ answer: NameAnswer, for key: WatchKey) {
        guard let watch = find(key) else { return }
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
