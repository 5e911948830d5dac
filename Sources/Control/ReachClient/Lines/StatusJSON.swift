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
    package mutating func statusWithGap(
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
        line("status", at: Instant(wall: time, boot: boot)) { json in
            json.field("source", source.rawValue)
            target(&json)
            var state = state
            state.members(&json, at: boot)
        }
    }

    package mutating func summary(of state: ReachabilityState) {
        var state = state
        state.summaryMembers(&self)
    }
}

extension ReachabilityState {
    /// Reads a status that ``JSONWriter/status(_:source:at:_:)`` wrote.
    package init(reading json: JSONValue) throws(StatusReadingError) { try self.init(StatusReader(json)) }

    package init(_ reader: StatusReader) throws(StatusReadingError) {
        var reader = reader
        self.init(target: .internet, since: Instant.blank.wall)
        reader.member("target", &target)
        reader.optional("name", &name)
        members(&reader, at: try reader.moment().boot)
        if let fault = reader.firstFault { throw fault }
    }

    /// Only states of which they are known have some of the keys, since states are written for each change.
    fileprivate mutating func members(_ line: inout some JSONMembers & ~Copyable, at now: BootTime) {
        summaryMembers(&line)
        var number = networkReachabilityStatus.rawValue
        line.optional("afnetworking", &number)
        line.member("metered", &isMetered)
        var (network, isTrusted, meteredReason) = (network, isTrusted, meteredReason)
        line.network(&network, isTrusted: &isTrusted, &meteredReason)
        line.optionalWord("connectivity", &connectivity, unknown: .unknown)
        line.word("connectivity_reason", &connectivityReason, else: .missing)
        line.optional("portal", &portal)
        var session = portalSession.map { PortalMembers(session: $0, seconds: $0.secondsRemaining(at: now)) }
        line.optional("portal_session", &session, else: .missing)
        if line.isReading { portalSession = session?.session(at: now) }
        line.optional("validated", &isValidated)
        if line.isReading || measuresQuality { line.optional("measured", &measuresQuality) }
        var quality = quality
        line.optional("quality", &quality, else: .missing)
        line.member("since", &since)
        // An older daemon does not send it.
        if line.isReading { connectivitySince = since }
        line.optional("connectivity_since", &connectivitySince)
        line.member("epoch", &epoch)
        line.member("stale", &isStale)
        line.optional("held", &isHeld)
        line.rootCause(&heldCause, "held_root_cause", "held_root_interface", else: .missing)
        line.optional("flaps", &flaps)
        line.member("ipv4", &ipv4)
        line.member("ipv6", &ipv6)
    }

    mutating func summaryMembers(_ line: inout some JSONMembers & ~Copyable) {
        line.word("status", &status, unknown: .unknown)
        line.word("class", &linkClass, unknown: .other)
        line.optional("interface", &interface)
        line.word("reason", &reason)
        line.rootCause(&rootCause)
    }
}

/// What the portal's API says, and how long the session lasts from the line's time.
private struct PortalMembers: JSONObject {
    static var blank: Self { Self(session: PortalSession(interface: "", isCaptive: false), seconds: nil) }

    var session: PortalSession
    var seconds: Int64?

    mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.member("interface", &session.interface)
        line.member("captive", &session.isCaptive)
        line.optional("user_portal_url", &session.userPortalURL)
        line.optional("venue_info_url", &session.venueInfoURL)
        line.optional("seconds_remaining", &seconds)
        line.optional("bytes_remaining", &session.bytesRemaining)
        line.optional("can_extend_session", &session.canExtend)
        line.optional("ending", &session.isEnding)
    }

    func session(at now: BootTime) -> PortalSession {
        var session = session
        session.end = seconds.map { now + .seconds(min(max(0, $0), PortalSession.longestSeconds)) }
        return session
    }
}

/// Paths without a link have only the keys `status` and `reason`.
extension NetworkPath: JSONObject {
    package static var blank: NetworkPath { .unknown }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.word("status", &status, unknown: .unknown)
        if line.isReading || interfaceIndex != nil { linkMembers(&line) }
        line.word("reason", &reason)
    }

    private mutating func linkMembers(_ line: inout some JSONMembers & ~Copyable) {
        line.optional("interface", &interface)
        line.optional("ifindex", &interfaceIndex)
        if line.isReading || !traits.alternativeNames.isEmpty {
            line.optional("alternative_names", &traits.alternativeNames)
        }
        line.word("class", &linkClass, unknown: .other)
        line.word("carrier_class", &carrierClass)
        line.optional("lower", &lower)
        line.optional("gateway", &gateway)
        line.optional("proxy", &proxy, else: .missing)
        line.optional("source", &source)
        line.optional("table", &table)
        line.optional("metric", &metric)
        line.word("neighbour", &neighbour)
        line.optional("metered", &isMetered)
        var (network, isTrusted, meteredReason) = (network, isTrusted, meteredReason)
        line.network(&network, isTrusted: &isTrusted, &meteredReason)
        if line.isReading {
            (traits.network, traits.isTrusted, traits.meteredReason) = (network, isTrusted, meteredReason)
        }
        line.optional("access_point", &accessPoint, else: .missing)
        line.optionalWord("connectivity", &connectivity, unknown: .unknown)
        line.optional("quality", &quality, else: .missing)
    }
}
