internal import Logging
public import ReachCore
internal import ReachLoop
internal import Synchronization

/// Tells whether a target can be reached, through what, and whenever that changes.
///
///     let monitor = ReachabilityMonitor.shared
///     monitor.setStatusChangeBlock { status in print(status.displayText) }
///     monitor.start()
///
/// The answer is the kernel's, asked for by this process or by the daemon (``ReachabilitySource``): the path it would send by, and the state of what lies on it. No packet is sent to find
/// out. "Reachable" promises that packets can leave towards the target, not that something answers; use it to decide
/// when to try again and to explain a failure, not to forbid a first try.
///
/// Every change is told to the blocks first, then to the observers (``ReachabilityNotificationCenter``), then to the
/// sequences (``changes``): once each, in the same order and with the same number for all. They are called where
/// ``ReachabilityOptions/delivery`` says, one at a time, with no lock held: a callback may call anything here.
///
/// All members may be used from any thread. Releasing a monitor stops it: a call in progress keeps it until it returns,
/// and none follows.
public final class ReachabilityMonitor: Sendable {
    /// The Internet, for the whole program. Its block is anybody's to replace: a library should observe it instead, or
    /// make a monitor of its own, which costs no more.
    public static let shared = ReachabilityMonitor()

    /// What is asked about.
    public let target: Target
    let id = MonitorID.next()
    let announcer: Announcer
    let options: ReachabilityOptions
    private let source: any ChangeSource

    /// A monitor of any target, not yet started.
    public convenience init(_ target: Target = .internet, options: ReachabilityOptions = ReachabilityOptions()) {
        self.init(target, options: options, source: options.changeSource)
    }

    /// A monitor of a host by its name or address, not yet started.
    ///
    /// - Throws: ``TargetError`` when it is neither.
    public convenience init(
        domain: String, options: ReachabilityOptions = ReachabilityOptions()
    ) throws(TargetError) {
        self.init(try Target.host(domain), options: options)
    }

    /// A monitor of an address, not yet started. The zero address (0.0.0.0 or ::) means the Internet, as it did in
    /// AFNetworking.
    public convenience init(address: IPAddress, options: ReachabilityOptions = ReachabilityOptions()) {
        self.init(address.isUnspecified ? .internet : .address(address), options: options)
    }

    package init(_ target: Target, options: ReachabilityOptions = ReachabilityOptions(), source: any ChangeSource) {
        self.target = target
        self.options = options
        self.source = source
        announcer = Announcer(ReachabilityState(target: target, since: SystemClock.now.wall), options)
        options.notificationCenter.attach(self)
    }

    deinit {
        announcer.end()
        options.notificationCenter.detach(id)
    }

    // MARK: - Start and stop

    /// Begins to watch. Blocks, observers and sequences are told the state once it is determined, as an initial change.
    ///
    /// Does not wait: until then the state is what it was. A monitor that is running is left as it is; after ``stop()``
    /// it can be started again, and tells an initial change again. Where the kernel cannot be observed the state is
    /// `unknown` with the reason `cannotObserve`, and it is tried again.
    public func start() {
        guard let run = announcer.begin({ source.prepare(target, options.engineSettings) }) else { return }
        let pass = run.pass
        run.watch.begin { [weak self] event in
            guard let self else { return }
            log(event)
            switch event {
            case .change(let change): announcer.publish(change, of: self, pass)
            case .stale(let isStale): announcer.mark(isStale: isStale, pass)
            }
        }
    }

    private func log(_ event: SourceEvent) {
        guard let logger = options.logger else { return }
        switch event {
        case .stale(true): logger.debug("the daemon is gone", metadata: ["target": "\(target)"])
        case .stale(false): logger.debug("the daemon is back", metadata: ["target": "\(target)"])
        case .change(let change) where change.state.reason == .cannotObserve:
            logger.debug("the network cannot be observed", metadata: ["target": "\(target)"])
        case .change: break
        }
    }

    /// Ends the watch. Once this returns nothing is called any more, what was on its way included, and sequences end.
    ///
    /// It waits for a callback that is running on another thread, so do not call it with a lock held that a callback
    /// takes, nor from a thread or queue that a callback waits for; and let no two monitors' callbacks stop each other.
    /// Called from within a callback of this monitor it does not wait.
    ///
    /// The last state is kept, marked stale. Blocks and observers stay for the next ``start()``. When the last monitor
    /// of the program stops, its thread ends and its sockets are closed, soon after.
    public func stop() { announcer.end() }

    /// Started and not stopped.
    public var isRunning: Bool { announcer.isRunning }

    // MARK: - Who is told

    /// Sets what to call with the status when it changes, in place of what was set before; `nil` removes it.
    ///
    /// There is one block, as in AFNetworking; observers are for more. Of changes at equal status it is not told:
    /// ``setChangeBlock(_:)`` is for these. If the state is determined already, the block is called with it, once. Set
    /// from within a callback, it carries on where the block before it was. The old block is not called any more by
    /// this thread; a call on another one that has begun may still run.
    public func setStatusChangeBlock(_ block: (@Sendable (NetworkReachabilityStatus) -> Void)?) {
        announcer.setStatusBlock(block, of: self)
    }

    /// Sets what to call with every change, those of the path at equal status included. Otherwise it is like
    /// ``setStatusChangeBlock(_:)``, after which it is called.
    public func setChangeBlock(_ block: (@Sendable (ReachabilityChange) -> Void)?) {
        announcer.setChangeBlock(block, of: self)
    }

    /// Where this monitor posts.
    public var notificationCenter: ReachabilityNotificationCenter { options.notificationCenter }

    /// Every change from now on, the state in force first.
    public var changes: ReachabilityChanges { ReachabilityChanges(monitor: self) }

    /// Waits for a state that fulfils a condition: the state in force, or a later one. Starts nothing.
    ///
    /// - Returns: That state; `nil` if the monitor was stopped first, or the task cancelled.
    public func wait(until condition: @Sendable (ReachabilityState) -> Bool) async -> ReachabilityState? {
        for await change in changes where condition(change.state) { return change.state }
        return nil
    }
}

/// Tells monitors apart, and is never used again, as an address would be.
struct MonitorID: Hashable, Sendable {
    private let number: UInt64

    static func next() -> MonitorID {
        MonitorID(number: last.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    private static let last = Atomic<UInt64>(0)
}
