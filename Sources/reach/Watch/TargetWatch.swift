internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop

/// Watches a target on an event loop: through the daemon if it answers, on the kernel if not.
///
/// Who is asked is settled with the first state. A daemon that goes away later is looked for, however long that takes: another
/// source could not tell what it has seen.
final class TargetWatch {
    enum Event {
        case daemon(DaemonEvent)
        case kernel(EngineEvent)
    }

    private let target: Target
    private let source: DaemonOptions.Source
    private let options: EngineOptions
    private let loop: EventLoop
    private let handler: (Event) -> Void
    private let withRequests: Bool
    private var daemon: DaemonWatch?
    private var engine: ReachabilityEngine?
    /// Where nobody can be asked, that is an error, and no state.
    private let mustObserve: Bool
    /// Why it cannot go on; then the loop is stopped.
    private(set) var failure: CommandError?

    /// - Parameter withRequests: What happens to the caller's requests is told, too, where the daemon is asked.
    init(
        of target: Target, from source: DaemonOptions.Source, kernelOptions: EngineOptions, mustObserve: Bool = false,
        withRequests: Bool = false, on loop: EventLoop, handler: @escaping (Event) -> Void
    ) {
        self.target = target
        self.source = source
        options = kernelOptions
        self.mustObserve = mustObserve
        self.withRequests = withRequests
        self.loop = loop
        self.handler = handler
    }

    /// The daemon has been asked for the first state, and may yet turn out not to answer.
    var awaitsDaemon: Bool { daemon != nil && engine == nil }

    /// Begins to watch. To be called on the loop when it runs, which a failure stops.
    func start() {
        guard case .daemon(let path, let wasNamed) = source.checked else { return watchKernel() }
        let watch = DaemonWatch(path: path, target: target, withRequests: withRequests, on: loop) {
            [unowned self] event in
            guard case .unavailable(let error, _) = event else { return handler(.daemon(event)) }
            daemon?.cancel()
            if wasNamed { fail(.cannotAsk(error)) } else { watchKernel() }
        }
        daemon = watch
        watch.start()
    }

    private func watchKernel() {
        let engine = ReachabilityEngine(loop: loop, options: options)
        self.engine = engine
        engine.start()
        if mustObserve, let blindness = engine.observationError { return fail(.cannotAsk(blindness)) }
        _ = engine.watch(target) { [unowned self] event in handler(.kernel(event)) }
    }

    private func fail(_ error: CommandError) {
        failure = error
        loop.stop()
    }
}

extension TargetWatch.Event {
    /// What holds from now on, if it is about that.
    var state: ReachabilityState? {
        switch self {
        case .kernel(.change(let change)), .daemon(.change(let change)), .daemon(.unavailable(_, let change)):
            change.state
        case .daemon(.snapshot(_, let state, _)), .daemon(.disconnected(_, _, let state)): state
        default: nil
        }
    }
}
