public import Dispatch
public import Logging
public import ReachCore
internal import ReachKernel

/// The options of a monitor, which are fixed when it is created.
public struct ReachabilityOptions: Sendable {
    /// What observes the network: this process, or the daemon.
    public var source = ReachabilitySource.kernel
    /// How long a new status must last before it is reported. By default it is reported at once. Ignored with a daemon,
    /// which has its own hold-downs.
    public var holdDown = HoldDown()
    /// Addresses that stand for the Internet, which is reachable if the kernel has a path to enough of them. Nothing is
    /// ever sent to them. Ignored with a daemon, which has its own.
    public var anchors: [IPAddress] = ReferenceAddresses.standard
    /// The class of link that must carry the path, directly or below a tunnel: NWPathMonitor's `requiredInterfaceType`.
    ///
    /// The status is that of the best path over such a link. If the kernel prefers another link, packets take that path
    /// only if their socket is bound to ``ReachabilityMonitor/interface`` (SO_BINDTODEVICE). Without such a path the
    /// target is not reachable, and the reason is `noRoute`. With a daemon only the path counts that the kernel
    /// prefers.
    public var requiredClass: LinkClass?
    /// The classes of links that must not carry the path, directly or below a tunnel: NWPathMonitor's
    /// `prohibitedInterfaceTypes`. Otherwise it is like ``requiredClass``.
    public var prohibitedClasses: Set<LinkClass> = []
    /// Whether the path must not be metered: what Apple's systems call an expensive path. Otherwise it is like
    /// ``requiredClass``.
    public var prohibitsMetered = false
    /// Whether gateways that did not answer are asked again while the monitor runs. By default a monitor sends nothing,
    /// as NWPathMonitor does.
    ///
    /// The kernel keeps a gateway that did not answer as failed until a program sends something to it. So where nothing
    /// else sends, a monitor never learns that a router is back: set this where the program waits for
    /// ``ReachabilityState/status`` before it sends. Then empty datagrams go to the discard port of such gateways, and
    /// of hosts on the link that are watched: at once, after 4, 8 and 16 s, and then every 30 s, once for all monitors
    /// of the process with equal options. They leave only if the neighbour answers ARP or neighbour discovery. With a
    /// daemon, the daemon asks, unless it is an older one.
    public var asksSilentGateways = false
    /// The classes of links by patterns of their names, such as `"wwx*"`, where the kernel's information is wrong. If
    /// several patterns match, the alphabetically first applies. Ignored with a daemon, which has rules of its own.
    public var linkClasses: [String: LinkClass] = [:]
    /// Whether blocks and observers receive the current state when the monitor starts, or when they are registered
    /// later.
    ///
    /// If `false`, they receive changes only. Sequences begin with the current state in any case.
    public var wantsInitialEvent = true
    /// Where blocks and observers are called.
    public var delivery = ReachabilityDelivery.privateQueue
    /// The center that the monitor posts to.
    public var notificationCenter = ReachabilityNotificationCenter.default
    /// Translates ``ReachabilityMonitor/localizedStatusDescription``. It receives the English text as the key, like
    /// AFNetworking's table of strings.
    public var translation: @Sendable (String) -> String = { $0 }

    /// Receives a line at level debug when the daemon goes away or comes back, and when the network cannot be observed.
    /// By default nothing is logged. The observing thread calls it, so a handler must not block.
    public var logger: Logger?

    /// The file with the name servers; tests set another one.
    package var resolverConfiguration = "/etc/resolv.conf"

    /// Creates the default options. Monitors with equal source, hold-down, anchors and classes of links share one
    /// thread and its sockets. Those that use a daemon share one thread, with one connection each.
    public init() {}

    var changeSource: any ChangeSource {
        switch source {
        case .kernel: EnginePool.shared
        case .daemon(let socket): DaemonPool(path: socket)
        }
    }

    var engineSettings: EngineSettings {
        EngineSettings(anchors: anchors, holdDown: holdDown, links: LinkPolicy(linkClasses: linkClasses))
    }

    var condition: NetworkCondition {
        var condition = NetworkCondition()
        condition.linkClass = requiredClass
        condition.excludedClasses = prohibitedClasses
        condition.isUnmetered = prohibitsMetered
        return condition
    }
}

/// What observes the network for a monitor.
public enum ReachabilitySource: Hashable, Sendable {
    /// This process queries the kernel itself, on a thread that its monitors share.
    case kernel

    /// The daemon `reachd` reports over its socket: for programs in sandboxes without netlink, and for programs that
    /// should use the daemon's configuration of classes, anchors and hold-downs.
    ///
    /// `socket` is the path of the daemon's socket. Without one it is found as `reach` finds it: from `REACH_SOCKET`,
    /// then that of the user's own daemon, then that of the machine's.
    ///
    /// If no daemon answers, the state is `unknown` with the reason `cannotObserve`, and the monitor keeps
    /// reconnecting, first after 100 ms, finally every 5 s. If the daemon goes away later, the state is stale, and
    /// `unknown` after 10 s. When the daemon is back, all differences are one change. The kernel is never queried
    /// instead.
    case daemon(socket: String? = nil)
}

/// Where a monitor calls its blocks and observers: always one call at a time, in the order of the changes.
public enum ReachabilityDelivery: Sendable {
    /// A private serial queue, which runs whatever the program does with its main thread.
    case privateQueue
    /// A queue of the caller. A concurrent queue is used serially.
    case queue(DispatchQueue)
    /// Tasks that prefer this executor.
    case taskExecutor(any TaskExecutor)
    /// The thread that watches the kernel, as soon as a change is detected. The fastest: it saves waking up another
    /// thread.
    ///
    /// All monitors with the same options share that thread, so a slow callback delays them all.
    case immediate

    /// The main queue, as in AFNetworking.
    ///
    /// On Linux nothing runs it unless the program calls `dispatchMain()`, runs a run loop, or has an async `main`.
    /// Until then there are no callbacks, and changes are kept in memory.
    public static let main = queue(.main)
}
