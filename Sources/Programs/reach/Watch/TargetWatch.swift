internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop

/// Watches a target on an event loop: through the daemon if it answers, otherwise on the kernel.
///
/// The first state settles the source. If the daemon goes away later, the watch reconnects without a limit, since the
/// kernel could not continue the daemon's series.
final class TargetWatch {
    /// Receives each event with its source.
    typealias Handler = (StreamEvent, StatusSource) -> Void

    /// How much the watch depends on the configuration, which a daemon has read.
    enum Configuration {
        /// Not at all: nothing is read.
        case none
        case usual
        /// What is waited for depends on it, so that an error of it is the watch's.
        case required
    }

    private let target: Target
    private let source: DaemonOptions.Source
    private let options: ReachabilityEngine.Options
    private let configuration: Configuration
    private let loop: EventLoop
    private let handler: Handler
    private let withRequests: Bool
    private var daemon: DaemonWatch?
    private var engine: ReachabilityEngine?
    /// Whether a source that cannot be observed is an error instead of an unknown state.
    private let mustObserve: Bool
    /// Whether somebody waits for a path, so that gateways that did not answer are asked again.
    private let seeksPath: Bool
    /// The error that stopped the loop.
    private(set) var failure: CommandError?

    /// - Parameter withRequests: Whether the daemon also sends the events of the caller's requests.
    init(
        of target: Target, from source: DaemonOptions.Source, kernelOptions: ReachabilityEngine.Options,
        configuration: Configuration = .usual,
        mustObserve: Bool = false, seeksPath: Bool = false, withRequests: Bool = false, on loop: EventLoop,
        handler: @escaping Handler
    ) {
        self.target = target
        self.source = source
        options = kernelOptions
        self.configuration = configuration
        self.mustObserve = mustObserve
        self.seeksPath = seeksPath
        self.withRequests = withRequests
        self.loop = loop
        self.handler = handler
    }

    /// Whether the daemon may still turn out not to answer.
    var awaitsDaemon: Bool { daemon != nil && engine == nil }

    /// Begins to watch. Call it on the running loop, which a failure stops.
    func start() {
        guard case .daemon(let path, let wasNamed) = source.checked else { return watchKernel() }
        let watch = DaemonWatch(
            path: path, target: target, withRequests: withRequests, seeksPath: seeksPath, on: loop
        ) { [unowned self] event in
            guard case .unavailable(let error, _) = event else { return handler(event, .daemon) }
            daemon?.cancel()
            if wasNamed { fail(.cannotAsk(error)) } else { watchKernel() }
        }
        daemon = watch
        watch.start()
    }

    private func watchKernel() {
        var (options, target) = (options, target)
        var name: String?
        if configuration != .none {
            do throws(CommandError) {
                let read = try KernelConfiguration(options, isRequired: configuration == .required)
                (options, target) = (read.options, read.target(target))
                name = read.name(of: target)
            } catch {
                return fail(error)
            }
        }
        let engine = ReachabilityEngine(loop: loop, options: options)
        self.engine = engine
        engine.start()
        if mustObserve, let error = engine.observationError { return fail(.cannotAsk(error)) }
        if seeksPath { _ = engine.askNeighbours() }
        _ = engine.watch(target) { [unowned self] event in
            guard let name, case .change(let change) = event else { return handler(.target(event), .kernel) }
            handler(.target(.change(change.named(name, as: self.target))), .kernel)
        }
    }

    private func fail(_ error: CommandError) {
        failure = error
        loop.stop()
    }
}

extension ReachabilityChange {
    /// The change as it is shown to a client who asked for this target, which the configuration gives a name.
    fileprivate func named(_ name: String, as target: Target) -> ReachabilityChange {
        func named(_ state: ReachabilityState) -> ReachabilityState {
            var state = state
            (state.name, state.target) = (name, target)
            return state
        }
        return ReachabilityChange(
            at: Instant(wall: time, boot: bootTime), cause: cause, aspects: aspects, previous: previous.map(named),
            state: named(state))
    }
}
