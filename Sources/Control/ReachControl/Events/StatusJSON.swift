package import ReachCore

/// The source of a status: this process's own engine, or the daemon.
package enum StatusSource: String, Sendable, CaseIterable {
    case kernel
    case daemon
}

extension JSONWriter {
    /// Writes a status, as `reach status --json` prints it and events contain it.
    package mutating func status(_ state: ReachabilityState, source: StatusSource, at time: Timestamp, _ boot: BootTime)
    {
        status(state, source: source, at: time, boot) { json in
            json.field("target", state.target.description)
            if let name = state.name { json.field("name", name as String?) }
        }
    }

    /// Writes a status without its target and the target's name.
    ///
    /// - Returns: The offset at which to insert the target as a JSON string.
    mutating func statusWithGap(
        _ state: ReachabilityState, source: StatusSource, at time: Timestamp, _ boot: BootTime
    ) -> Int {
        var gap = 0
        status(state, source: source, at: time, boot) { gap = $0.gap("target") }
        return gap
    }

    private mutating func status(
        _ state: ReachabilityState, source: StatusSource, at time: Timestamp, _ boot: BootTime,
        target: (inout JSONWriter) -> Void
    ) {
        object { json in
            json.field("v", 1)
            json.field("type", "status")
            json.times(time, boot)
            json.field("source", source.rawValue)
            target(&json)
            json.summary(of: state)
            json.field("afnetworking", state.networkReachabilityStatus.rawValue.wide)
            json.field("metered", state.isMetered)
            json.network(state.network, isTrusted: state.isTrusted, state.meteredReason)
            json.field("connectivity", state.connectivity.rawValue)
            json.field("portal", state.portal)
            json.portalSession(state.portalSession, at: boot)
            json.field("validated", state.isValidated)
            json.field("since", state.since)
            json.field("connectivity_since", state.connectivitySince)
            json.field("epoch", state.epoch.wide)
            json.field("stale", state.isStale)
            json.field("held", state.isHeld)
            json.heldCause(state.heldCause)
            json.field("flaps", state.flaps.wide)
            json.field("ipv4", object: { $0.path(state.ipv4) })
            json.field("ipv6", object: { $0.path(state.ipv6) })
        }
    }

    package mutating func times(_ time: Timestamp, _ boot: BootTime) {
        field("time", time)
        field("boottime_ns", boot.nanoseconds)
    }

    mutating func summary(of state: ReachabilityState) {
        field("status", state.status.rawValue)
        field("class", state.linkClass?.rawValue)
        field("interface", state.interface)
        field("reason", state.reason?.rawValue)
        rootCause(state.rootCause)
    }

    /// Only paths of which these are known have the keys, since states are written for each change.
    mutating func network(_ network: String?, isTrusted: Bool, _ meteredReason: MeteredReason?) {
        if let meteredReason { field("metered_reason", meteredReason.rawValue) }
        guard let network else { return }
        field("network", network as String?)
        field("trusted", isTrusted)
    }

    mutating func rootCause(_ rootCause: RootCause?) {
        field("root_cause", rootCause?.kind.rawValue)
        field("root_interface", rootCause?.interface)
    }

    /// Only states with a loss that is held back have the keys, since states are written for each change.
    private mutating func heldCause(_ cause: RootCause?) {
        guard let cause else { return }
        field("held_root_cause", cause.kind.rawValue as String?)
        field("held_root_interface", cause.interface)
    }

    /// Only networks with a portal have the key, since states are written for each change.
    private mutating func portalSession(_ session: PortalSession?, at now: BootTime) {
        guard let session else { return }
        field(
            "portal_session",
            object: { (json: inout JSONWriter) in
                json.field("interface", session.interface as String?)
                json.field("captive", session.isCaptive)
                json.field("user_portal_url", session.userPortalURL)
                json.field("venue_info_url", session.venueInfoURL)
                json.field("seconds_remaining", session.secondsRemaining(at: now))
                json.field("bytes_remaining", session.bytesRemaining)
                json.key("can_extend_session")
                if let canExtend = session.canExtend { json.value(canExtend) } else { json.value(nil) }
                json.field("ending", session.isEnding)
            })
    }

    private mutating func path(_ path: NetworkPath) {
        field("status", path.status.rawValue)
        if path.interfaceIndex != nil {
            field("interface", path.interface)
            field("ifindex", path.interfaceIndex?.wide)
            field("class", path.linkClass?.rawValue)
            field("carrier_class", path.carrierClass?.rawValue)
            field("lower", path.lower)
            field("gateway", path.gateway)
            field("source", path.source)
            field("table", path.table?.wide)
            field("metric", path.metric?.wide)
            field("neighbour", path.neighbour?.rawValue)
            field("metered", path.isMetered)
            network(path.network, isTrusted: path.isTrusted, path.meteredReason)
            if let accessPoint = path.accessPoint { field("access_point", accessPoint.description as String?) }
            field("connectivity", path.connectivity.rawValue)
        }
        field("reason", path.reason?.rawValue)
    }
}

extension BinaryInteger {
    /// The number for ``JSONWriter``, which takes one integer type, since generic code is slow across modules.
    package var wide: Int64 { Int64(truncatingIfNeeded: self) }
}
