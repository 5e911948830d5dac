package import ReachCore

extension ReachabilityState {
    /// Reads a status that ``JSONWriter/status(_:source:at:_:)`` wrote.
    package init(reading json: JSONValue) throws(StatusReadingError) { try self.init(StatusReader(json)) }

    init(_ reader: StatusReader) throws(StatusReadingError) {
        guard let target = try? Target(try reader.value("target", \.string)) else { throw reader.fault("target") }
        self.init(target: target, since: try reader.time("since"))
        name = try reader.optional("name", \.string)
        try adoptSummary(reader)
        isMetered = try reader.value("metered", \.bool)
        connectivity = try reader.word("connectivity") ?? .unknown
        // An older daemon does not send it.
        if let text = try reader.optional("connectivity_since", \.string), let time = Timestamp(text) {
            connectivitySince = time
        }
        portal = try reader.optional("portal", \.string)
        portalSession = try reader.portalSession()
        isValidated = try reader.optional("validated", \.bool) ?? false
        guard let epoch: UInt64 = try reader.number("epoch") else { throw reader.fault("epoch") }
        self.epoch = epoch
        isStale = try reader.value("stale", \.bool)
        isHeld = try reader.optional("held", \.bool) ?? false
        heldCause = try reader.rootCause("held_root_cause", "held_root_interface")
        flaps = try reader.number("flaps") ?? 0
        ipv4 = try NetworkPath(reader.object("ipv4"))
        ipv6 = try NetworkPath(reader.object("ipv6"))
    }

    mutating func adoptSummary(_ reader: StatusReader) throws(StatusReadingError) {
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
        linkClass = try reader.linkClass()
        carrierClass = try reader.word("carrier_class")
        lower = try reader.texts("lower")
        gateway = try reader.address("gateway")
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
    func rootCause(
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
