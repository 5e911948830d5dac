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

    /// The state of a target now. "Since" is now, too: nobody has looked before.
    package func state(of target: Target) throws(NetlinkError) -> ReachabilityState {
        var machine = StatusMachine(target: target, at: SystemClock.now)
        _ = machine.observe(try verdict(on: target), cause: .start, epoch: 1, at: SystemClock.now)
        return machine.state
    }

    private func verdict(on target: Target) throws(NetlinkError) -> Verdict {
        var finder = PathFinder(view: view, mark: options.mark)
        guard case .name(let name) = target.subject else {
            return try finder.verdict(on: target.subject, anchors: options.anchors) ?? Verdict(.unknown, reason: nil)
        }
        switch Self.resolve(name) {
        case .addresses(let addresses): return try finder.anyOf(addresses)
        case .noAddress: return Verdict(.notReachable, reason: .nameNotResolved)
        case .notAsked: return Verdict(.unknown, reason: .nameNotResolved)
        }
    }

    /// Waits for the resolver, but not for ever: its own limits may add up to half a minute.
    package static func resolve(_ name: String) -> NameResolver.Answer {
        guard let loop = try? EventLoop() else { return .notAsked }
        let result = ResolverResult()
        NameResolver().resolve(name, replyTo: loop.mailbox) { answer in result.finish(answer) }
        result.whenFinished = { loop.stop() }
        loop.schedule(at: SystemClock.boot + namePatience) { loop.stop() }
        loop.run()
        return result.answer
    }
}

/// Written and read on one thread, that of the loop behind the mailbox.
private final class ResolverResult: @unchecked Sendable {
    private(set) var answer = NameResolver.Answer.notAsked
    var whenFinished: () -> Void = {}

    func finish(_ answer: NameResolver.Answer) {
        self.answer = answer
        whenFinished()
    }
}
