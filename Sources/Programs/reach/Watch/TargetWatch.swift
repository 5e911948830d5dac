internal import ReachControl
internal import ReachCore
internal import ReachKernel
internal import ReachLoop

/// Watches a target on an event loop: through the daemon if it answers, otherwise on the kernel.
///
/// The first state settles the source. If the daemon goes away later, the watch reconnects without a limit, since the kernel
/// could not continue the daemon's series.
final class TargetWatch {
    /// Receives each event with its source.
    typealias Handler = (StreamEvent, StatusSource) -> Void

    private let target: Target
    private let source: DaemonOptions.Source
    private var options: ReachabilityEngine.Options
    /// Whether what is waited for depends on the configuration, which the daemon has read.
    private let needsConfiguration: Bool
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
        needsConfiguration: Bool = false,
        mustObserve: Bool = false, seeksPath: Bool = false, withRequests: Bool = false, on loop: EventLoop,
        handler: @escaping Handler
    ) {
        self.target = target
        self.source = source
        options = kernelOptions
        self.needsConfiguration = needsConfiguration
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
        if needsConfiguration {
            do throws(CommandError) {
                try options.addConfiguration()
            } catch {
                return fail(error)
            }
        }
        let engine = ReachabilityEngine(loop: loop, options: options)
        self.engine = engine
        engine.start()
        if mustObserve, let error = engine.observationError { return fail(.cannotAsk(error)) }
        if seeksPath { _ = engine.askNeighbours() }
        _ = engine.watch(target) { [unowned self] event in handler(.target(event), .kernel) }
    }

    private func fail(_ error: CommandError) {
        failure = error
        loop.stop()
    }
}
