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
