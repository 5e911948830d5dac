/// Who observes the network for a monitor.
public enum ReachabilitySource: Hashable, Sendable {
    /// This process asks the kernel itself, on a thread that its monitors share.
    case kernel

    /// The daemon `reachd` does, and tells over its socket: for programs in sandboxes that have no netlink, and for
    /// those that want what the daemon's configuration says of classes, anchors and hold-downs.
    ///
    /// The path is that of the daemon's socket. Without one it is looked for where `reach` does: in `REACH_SOCKET`, then
    /// at the user's own daemon's place, then at the machine's.
    ///
    /// Where no daemon answers, the state is `unknown` with the reason `cannotObserve`, and the daemon is looked for,
    /// after 100 ms first and every 5 s in the end. If it goes away later, the state is stale; when it is not back after
    /// 10 s, it is `unknown`. What differs when it is back is one change. The kernel is never asked instead.
    case daemon(socket: String? = nil)
}
