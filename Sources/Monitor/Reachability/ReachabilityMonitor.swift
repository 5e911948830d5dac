internal import Logging
internal import ReachClient
public import ReachCore
internal import ReachLoop
internal import Synchronization

/// Reports whether a target can be reached, by which path, and every change of that.
///
///     let monitor = ReachabilityMonitor.shared
///     monitor.setStatusChangeBlock { status in print(status.displayText) }
///     monitor.start()
///
/// The answer comes from the kernel, queried by this process or by the daemon (``ReachabilitySource``): the path that a
/// packet would use, and the state of the links on it. No packet is sent. "Reachable" means that packets can leave
/// towards the target, not that it answers. Use it to decide when to try again and to explain a failure, not to prevent
/// a first try.
///
/// Every change is delivered to the blocks first, then to the observers (``ReachabilityNotificationCenter``), then to
/// the sequences (``changes``): once to each, in the same order and with the same number.
/// ``ReachabilityOptions/delivery`` chooses where they are called. They are called one at a time and without a lock, so
/// a callback may call anything here.
///
/// All members may be used from any thread. Releasing a monitor stops it: a callback in progress keeps it alive until
/// it returns, and none follows.
public final class ReachabilityMonitor: Sendable {
    /// The program's monitor of the Internet. Any code may replace its block, so a library should add an observer, or
    /// create a monitor of its own, which costs no more.
    public static let shared = ReachabilityMonitor()

    /// The target that is watched.
    public let target: Target
    let id = MonitorID.next()
    let dispatcher: ChangeDispatcher
    let options: ReachabilityOptions
    let source: any ChangeSource

    /// Creates a monitor of any target, not yet started.
    public convenience init(_ target: Target = .internet, options: ReachabilityOptions = ReachabilityOptions()) {
        self.init(target, options: options, source: options.changeSource)
    }

    /// Creates a monitor of a host by its name or address, not yet started.
    ///
    /// - Throws: ``TargetError`` if the text is neither.
    public convenience init(
        domain: String, options: ReachabilityOptions = ReachabilityOptions()
    ) throws(TargetError) {
        self.init(try Target.host(domain), options: options)
    }

    /// Creates a monitor of an address, not yet started. The zero address (0.0.0.0 or ::) means the Internet, as in
    /// AFNetworking.
    public convenience init(address: IPAddress, options: ReachabilityOptions = ReachabilityOptions()) {
        self.init(address.isUnspecified ? .internet : .address(address), options: options)
    }

    /// Creates a monitor of the paths over links of one class, not yet started: NWPathMonitor's
    /// `requiredInterfaceType`.
    ///
    /// - Parameter requiredClass: In place of ``ReachabilityOptions/requiredClass``, which says what it means.
    public convenience init(
        _ target: Target = .internet, requiredClass: LinkClass, options: ReachabilityOptions = ReachabilityOptions()
    ) {
        var options = options
        options.requiredClass = requiredClass
        self.init(target, options: options)
    }

    /// Creates a monitor of the paths that leave over no link of these classes, not yet started: NWPathMonitor's
    /// `prohibitedInterfaceTypes`.
    ///
    /// - Parameter prohibitedClasses: In place of ``ReachabilityOptions/prohibitedClasses``, which says what they mean.
    public convenience init(
        _ target: Target = .internet, prohibitedClasses: Set<LinkClass>,
        options: ReachabilityOptions = ReachabilityOptions()
    ) {
        var options = options
        options.prohibitedClasses = prohibitedClasses
        self.init(target, options: options)
    }

    package init(_ target: Target, options: ReachabilityOptions = ReachabilityOptions(), source: any ChangeSource) {
        self.target = target
        self.options = options
        self.source = source
        dispatcher = ChangeDispatcher(ReachabilityState(target: target, since: SystemClock.now.wall), options)
        options.notificationCenter.attach(self)
    }

    deinit {
        dispatcher.end()
        options.notificationCenter.detach(id)
    }

    // MARK: - Start and stop

    /// Starts to watch. Blocks, observers and sequences receive an initial change once the state is determined.
    ///
    /// This does not wait: until then the state is the previous one. It has no effect on a running monitor. After
    /// ``stop()`` a monitor can be started again, and delivers an initial change again. If the kernel cannot be
    /// observed, the state is `unknown` with the reason `cannotObserve`, and the monitor keeps trying.
    public func start() {
        guard let run = dispatcher.begin({ source.prepare(subject, options.engineSettings) }) else { return }
        let pass = run.pass
        run.watch.begin { [weak self] event in
            guard let self else { return }
            log(event)
            if let change = event.change { dispatcher.publish(change, of: self, pass) }
            switch event {
            case .disconnected: dispatcher.mark(isStale: true, pass)
            case .reconnected: dispatcher.mark(isStale: false, pass)
            case .target, .snapshot, .dropped, .other, .unavailable: break
            }
        }
    }

    var subject: WatchSubject {
        WatchSubject(target, where: options.condition, seeksPath: options.asksSilentGateways)
    }

    private func log(_ event: StreamEvent) {
        guard let logger = options.logger else { return }
        switch event {
        case .disconnected: logger.debug("the daemon is gone", metadata: ["target": "\(target)"])
        case .reconnected: logger.debug("the daemon is back", metadata: ["target": "\(target)"])
        case .target, .snapshot, .dropped, .other, .unavailable:
            guard event.change?.state.reason == .cannotObserve else { return }
            logger.debug("the network cannot be observed", metadata: ["target": "\(target)"])
        }
    }

    /// Stops watching. After this returns there are no callbacks, not even for pending changes, and sequences end.
    ///
    /// It waits for a callback that is running on another thread. So do not call it while holding a lock that a
    /// callback takes, nor from a thread or queue that a callback waits for, and do not let callbacks of two monitors
    /// stop each other's monitor. Called from a callback of this monitor, it does not wait.
    ///
    /// The last state is kept, marked stale. Blocks and observers remain for the next ``start()``. Soon after the
    /// program's last monitor stops, the thread ends and its sockets are closed.
    public func stop() { dispatcher.end() }

    /// Whether the monitor was started and not stopped.
    public var isRunning: Bool { dispatcher.isRunning }

    // MARK: - Blocks, notifications and sequences

    /// Sets the block that is called when the status changes. It replaces the previous one; `nil` removes it.
    ///
    /// There is one such block, as in AFNetworking; add observers for more. It is not called for changes that leave the
    /// status equal: use ``setChangeBlock(_:)`` for these. If the state is already determined, the block is called with
    /// it once. A block that is set in a callback continues where the previous one was. This thread does not call the
    /// previous block again; a call that has begun on another thread may still run.
    public func setStatusChangeBlock(_ block: (@Sendable (NetworkReachabilityStatus) -> Void)?) {
        dispatcher.setStatusBlock(block, of: self)
    }

    /// Sets the block that is called with every change, including changes of the path at equal status. Otherwise it is
    /// like the block of ``setStatusChangeBlock(_:)``, and is called after that one.
    public func setChangeBlock(_ block: (@Sendable (ReachabilityChange) -> Void)?) {
        dispatcher.setChangeBlock(block, of: self)
    }

    /// The center that this monitor posts to.
    public var notificationCenter: ReachabilityNotificationCenter { options.notificationCenter }

    /// The current state, then every change.
    public var changes: ReachabilityChanges { ReachabilityChanges(monitor: self) }

    /// Waits until a state meets a condition: the current one, or a later one. Does not start the monitor.
    ///
    /// - Returns: That state; `nil` if the monitor was stopped first.
    /// - Throws: `CancellationError` if the task was cancelled first.
    public func wait(
        until condition: @Sendable (ReachabilityState) -> Bool
    ) async throws(CancellationError) -> ReachabilityState? {
        for await change in changes where condition(change.state) { return change.state }
        if Task.isCancelled { throw CancellationError() }
        return nil
    }
}

/// A monitor's identity. Unlike an object's address, it is never reused.
struct MonitorID: Hashable, Sendable {
    private let number: UInt64

    static func next() -> MonitorID {
        MonitorID(number: last.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    private static let last = Atomic<UInt64>(0)
}
