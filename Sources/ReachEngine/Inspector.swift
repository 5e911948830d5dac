package import ReachCore
internal import ReachLoop
package import ReachNetlink

/// Looks at targets once, without listening for changes.
package final class Inspector {
    /// How long a name may take to be resolved.
    package static let namePatience: Duration = .seconds(5)

    package let view: KernelView
    private let options: EngineOptions

    /// - Throws: Why the kernel cannot be asked.
    package init(options: EngineOptions = EngineOptions()) throws(NetlinkError) {
        self.options = options
        view = try KernelView(policy: options.observer.policy)
        try view.refresh()
    }

    /// A verdict, and what it rests on.
    struct Look {
        let verdict: Verdict
        let findings: [PathFinding]
        /// What became of the name, if the target is one.
        var resolution: NameAnswer?
    }

    /// The state of a target now. "Since" is now, too: nobody has looked before.
    package func state(of target: Target) throws(NetlinkError) -> ReachabilityState {
        var machine = StatusMachine(target: target, at: SystemClock.now)
        _ = machine.observe(try look(at: target).verdict, cause: .start, epoch: 1, at: SystemClock.now)
        return machine.state
    }

    func look(at target: Target) throws(NetlinkError) -> Look {
        var finder = PathFinder(view: view, mark: options.mark, keepsFindings: true)
        guard case .name(let name) = target.subject else {
            let verdict = try finder.verdict(on: target.subject, anchors: options.anchors)
            return Look(verdict: verdict ?? Verdict(.unknown, reason: nil), findings: finder.findings)
        }
        let resolution = Self.resolve(name)
        let verdict: Verdict
        switch resolution {
        case .addresses(let addresses): verdict = try finder.anyOf(addresses)
        case .noAddress: verdict = Verdict(.notReachable, reason: .nameNotResolved)
        case .notAsked: verdict = Verdict(.unknown, reason: .nameNotResolved)
        }
        return Look(verdict: verdict, findings: finder.findings, resolution: resolution)
    }

    /// Waits for the resolver, but not for ever: its own limits may add up to half a minute.
    package static func resolve(_ name: String) -> NameAnswer {
        guard let loop = try? EventLoop() else { return .notAsked }
        let result = ResolverResult()
        let mailbox = loop.mailbox
        SystemResolver().resolve(name) { answer in mailbox.post { _ in result.finish(answer) } }
        result.whenFinished = { loop.stop() }
        loop.schedule(at: SystemClock.boot + namePatience) { loop.stop() }
        loop.run()
        return result.answer
    }
}

/// Written and read on one thread, that of the loop behind the mailbox.
private final class ResolverResult: @unchecked Sendable {
    private(set) var answer = NameAnswer.notAsked
    var whenFinished: () -> Void = {}

    func finish(_ answer: NameAnswer) {
        self.answer = answer
        whenFinished()
    }
}
