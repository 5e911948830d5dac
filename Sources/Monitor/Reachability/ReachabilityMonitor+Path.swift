public import ReachCore
internal import ReachLoop

/// What NWPathMonitor's users know: a state without a start, the interfaces, and what the path supports.
extension ReachabilityMonitor {
    /// Determines the state now, whether or not the monitor is running. It does not start the monitor, changes none of
    /// its properties, and leaves no thread and no descriptor behind.
    ///
    /// It queries the kernel on the calling thread, which takes less than a millisecond, or the daemon. A name that has
    /// to be resolved, and a daemon that hangs, may take five seconds; then the state is unknown. A lookup that the
    /// system continues after that keeps a thread until it ends. Hold-downs do not apply; ``ReachabilityState/since``
    /// begins with this call, unless the daemon answers.
    public func currentState() -> ReachabilityState { source.currentState(of: subject, options.engineSettings) }

    /// Determines the state now, as the other function does, on a thread of its own, which then ends. Cancelling the
    /// task has no effect.
    public func currentState() async -> ReachabilityState {
        let (source, subject, settings) = (source, subject, options.engineSettings)
        return await withCheckedContinuation { continuation in
            BackgroundThread.start(named: "reach-query") {
                continuation.resume(returning: source.currentState(of: subject, settings))
            }
        }
    }

    /// The interfaces over which the target can be reached, in order of preference, without those that the options
    /// prohibit. See ``ReachabilityState/availableInterfaces``.
    public var availableInterfaces: [AvailableInterface] { state.availableInterfaces }

    /// The first hops of the available interfaces, in the same order, each once.
    public var gateways: [IPAddress] { state.gateways }

    /// Whether a path leaves over a link of this class, directly or below a tunnel: NWPath's `usesInterfaceType(_:)`.
    public func uses(_ linkClass: LinkClass) -> Bool { state.uses(linkClass) }

    /// Whether there is a path in IPv4.
    public var supportsIPv4: Bool { state.supportsIPv4 }

    /// Whether there is a path in IPv6.
    public var supportsIPv6: Bool { state.supportsIPv6 }

    /// Whether the target is reachable, and `/etc/resolv.conf` names a server to which there is a path: one on this
    /// machine, or one of a family in which the target is reachable. Whether the server answers is not known.
    ///
    /// The file is read when this is called. A change of the file alone is not reported.
    public var supportsDNS: Bool {
        let state = state
        guard state.isReachable else { return false }
        let text = SmallFile.text(options.resolverConfiguration) ?? ""
        return ResolverText.nameServers(in: text).contains { server in
            if server.address.isLoopback { return true }
            if let zone = server.zone { return state.availableInterfaces.contains { $0.name == zone } }
            return server.address.family == .ipv4 ? state.supportsIPv4 : state.supportsIPv6
        }
    }
}
