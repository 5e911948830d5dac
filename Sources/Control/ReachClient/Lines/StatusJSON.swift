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
            // Only states of which it is known have the key, since states are written for each change.
            if let reason = state.connectivityReason { json.field("connectivity_reason", reason.rawValue) }
            json.field("portal", state.portal)
            json.portalSession(state.portalSession, at: boot)
            json.field("validated", state.isValidated)
            if state.measuresQuality { json.field("measured", true) }
            json.quality(state.quality)
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

    package mutating func summary(of state: ReachabilityState) {
        field("status", state.status.rawValue)
        field("class", state.linkClass?.rawValue)
        field("interface", state.interface)
        field("reason", state.reason?.rawValue)
        rootCause(state.rootCause)
    }

    /// Only paths of which these are known have the keys, since states are written for each change.
    package mutating func network(_ network: String?, isTrusted: Bool, _ meteredReason: MeteredReason?) {
        if let meteredReason { field("metered_reason", meteredReason.rawValue) }
        guard let network else { return }
        field("network", network as String?)
        field("trusted", isTrusted)
    }

    package mutating func rootCause(_ rootCause: RootCause?) {
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
            if !path.traits.alternativeNames.isEmpty { field("alternative_names", path.traits.alternativeNames) }
            field("class", path.linkClass?.rawValue)
            field("carrier_class", path.carrierClass?.rawValue)
            field("lower", path.lower)
            field("gateway", path.gateway)
            if let proxy = path.proxy { field("proxy", proxy) }
            field("source", path.source)
            field("table", path.table?.wide)
            field("metric", path.metric?.wide)
            field("neighbour", path.neighbour?.rawValue)
            field("metered", path.isMetered)
            network(path.network, isTrusted: path.isTrusted, path.meteredReason)
            if let accessPoint = path.accessPoint { field("access_point", accessPoint.description as String?) }
            field("connectivity", path.connectivity.rawValue)
            quality(path.quality)
        }
        field("reason", path.reason?.rawValue)
    }
}

extension ReachabilityState {
    /// Reads a status that ``JSONWriter/status(_:source:at:_:)`` wrote.
    package init(reading json: JSONValue) throws(StatusReadingError) { try self.init(StatusReader(json)) }

    package init(_ reader: StatusReader) throws(StatusReadingError) {
        guard let target = try? Target(try reader.value("target", \.string)) else { throw reader.fault("target") }
        self.init(target: target, since: try reader.time("since"))
        name = try reader.optional("name", \.string)
        try adoptSummary(reader)
        isMetered = try reader.value("metered", \.bool)
        connectivity = try reader.word("connectivity") ?? .unknown
        connectivityReason = try reader.word("connectivity_reason")
        // An older daemon does not send it.
        if let text = try reader.optional("connectivity_since", \.string), let time = Timestamp(text) {
            connectivitySince = time
        }
        portal = try reader.optional("portal", \.string)
        portalSession = try reader.portalSession()
        isValidated = try reader.optional("validated", \.bool) ?? false
        measuresQuality = try reader.optional("measured", \.bool) ?? false
        guard let epoch: UInt64 = try reader.number("epoch") else { throw reader.fault("epoch") }
        self.epoch = epoch
        isStale = try reader.value("stale", \.bool)
        isHeld = try reader.optional("held", \.bool) ?? false
        heldCause = try reader.rootCause("held_root_cause", "held_root_interface")
        flaps = try reader.number("flaps") ?? 0
        ipv4 = try NetworkPath(reader.object("ipv4"))
        ipv6 = try NetworkPath(reader.object("ipv6"))
    }

    package mutating func adoptSummary(_ reader: StatusReader) throws(StatusReadingError) {
        status = ReachabilityStatus(rawValue: try reader.value("status", \.string)) ?? .unknown
        reason = try reader.word("reason")
        rootCause = try reader.rootCause()
        linkClass = try reader.linkClass()
        interface = try reader.optional("interface", \.string)
    }
}

extension NetworkPath {
    fileprivate init(_ reader: StatusReader) throws(StatusReadingError) {
        let status = try reader.value("status", \.string)
        self.init(status: ReachabilityStatus(rawValue: status) ?? .unknown, reason: try reader.word("reason"))
        interface = try reader.optional("interface", \.string)
        interfaceIndex = try reader.number("ifindex")
        traits.alternativeNames = try reader.texts("alternative_names")
        linkClass = try reader.linkClass()
        carrierClass = try reader.word("carrier_class")
        lower = try reader.texts("lower")
        gateway = try reader.address("gateway")
        proxy = try reader.address("proxy")
        source = try reader.address("source")
        table = try reader.number("table")
        metric = try reader.number("metric")
        neighbour = try reader.word("neighbour")
        isMetered = try reader.optional("metered", \.bool) ?? false
        meteredReason = try reader.word("metered_reason")
        network = try reader.optional("network", \.string)
        isTrusted = try reader.optional("trusted", \.bool) ?? false
        accessPoint = try reader.hardwareAddress("access_point")
        connectivity = try reader.word("connectivity") ?? .unknown
        quality = try reader.quality()
    }
}

extension StatusReader {
    /// What the portal's API says; `nil` also from an older daemon.
    fileprivate func portalSession() throws(StatusReadingError) -> PortalSession? {
        guard try optional("portal_session", \.object) != nil else { return nil }
        let reader = try object("portal_session")
        var session = PortalSession(
            interface: try reader.value("interface", \.string), isCaptive: try reader.value("captive", \.bool))
        session.userPortalURL = try reader.optional("user_portal_url", \.string)
        session.venueInfoURL = try reader.optional("venue_info_url", \.string)
        if let seconds = try reader.optional("seconds_remaining", \.integer) {
            session.end = try moment().boot + .seconds(min(max(0, seconds), PortalSession.longestSeconds))
        }
        session.bytesRemaining = try reader.optional("bytes_remaining", \.integer)
        session.canExtend = try reader.optional("can_extend_session", \.bool)
        session.isEnding = try reader.optional("ending", \.bool) ?? false
        return session
    }

    /// What broke; `nil` also where a newer daemon uses another word.
    package func rootCause(
        _ kindKey: String = "root_cause", _ interfaceKey: String = "root_interface"
    ) throws(StatusReadingError) -> RootCause? {
        let kind: RootCause.Kind? = try word(kindKey)
        let interface = try optional(interfaceKey, \.string)
        return kind.map { RootCause($0, interface: interface) }
    }

    fileprivate func linkClass() throws(StatusReadingError) -> LinkClass? {
        guard let word = try optional("class", \.string) else { return nil }
        return LinkClass(rawValue: word) ?? .other
    }
}

extension JSONWriter {
    /// Only lines that are measured have the key, since states are written for each change.
    package mutating func quality(_ quality: LineQuality?) {
        guard let quality else { return }
        field("quality", object: { $0.figures(of: quality) })
    }

    package mutating func figures(of quality: LineQuality) {
        field("word", quality.word.rawValue)
        field("loss_permille", quality.lossPermille.wide)
        field("round_trip_us", quality.roundTrip?.microseconds)
        field("jitter_us", quality.jitter?.microseconds)
        field("packets", quality.packets.wide)
    }
}

extension LineQuality {
    package init(figures reader: StatusReader) throws(StatusReadingError) {
        self.init(
            try reader.word("word") ?? .good, lossPermille: Int(try reader.value("loss_permille", \.integer)),
            roundTrip: try reader.optional("round_trip_us", \.integer).map { .microseconds($0) },
            jitter: try reader.optional("jitter_us", \.integer).map { .microseconds($0) },
            packets: Int(try reader.value("packets", \.integer)))
    }
}

extension StatusReader {
    /// What the line is like; `nil` where it is not measured, and from an older daemon.
    package func quality() throws(StatusReadingError) -> LineQuality? {
        guard try optional("quality", \.object) != nil else { return nil }
        return try LineQuality(figures: try object("quality"))
    }
}
