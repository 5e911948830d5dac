package import ReachCore

/// What a host says of one target: those keys of reach-events(7)'s `status` that leave the host.
package struct HostStatus: Hashable, Sendable {
    /// The path in one family.
    package struct Path: Hashable, Sendable {
        package var status: ReachabilityStatus
        package var reason: Reason?
        package var interface: String?
        package var linkClass: LinkClass?
        /// The class of the link that carries a tunnel.
        package var carrierClass: LinkClass?
        package var gateway: IPAddress?
        /// The source address; a prefix of it unless the host sends whole addresses.
        package var source: IPPrefix?
        package var connectivity: Connectivity

        package init(
            _ status: ReachabilityStatus, reason: Reason? = nil, interface: String? = nil, linkClass: LinkClass? = nil,
            carrierClass: LinkClass? = nil, gateway: IPAddress? = nil, source: IPPrefix? = nil,
            connectivity: Connectivity = .unknown
        ) {
            self.status = status
            self.reason = reason
            self.interface = interface
            self.linkClass = linkClass
            self.carrierClass = carrierClass
            self.gateway = gateway
            self.source = source
            self.connectivity = connectivity
        }
    }

    package var target: String
    package var status: ReachabilityStatus
    package var reason: Reason?
    /// What broke on the host; `nil` unless the target is not reachable.
    package var rootCause: RootCause?
    package var linkClass: LinkClass?
    package var interface: String?
    package var isMetered: Bool
    package var connectivity: Connectivity
    /// Why the Internet does not answer, where more than that is proved.
    package var connectivityReason: Reason?
    package var isValidated: Bool
    package var since: Timestamp?
    package var epoch: UInt64
    package var isStale: Bool
    package var flaps: UInt64
    package var ipv4: Path
    package var ipv6: Path

    package init(
        target: String = "internet", _ status: ReachabilityStatus, reason: Reason? = nil, linkClass: LinkClass? = nil,
        interface: String? = nil, isMetered: Bool = false, connectivity: Connectivity = .unknown,
        isValidated: Bool = false, since: Timestamp? = nil, epoch: UInt64 = 1, isStale: Bool = false,
        flaps: UInt64 = 0, ipv4: Path? = nil, ipv6: Path? = nil
    ) {
        self.target = target
        self.status = status
        self.reason = reason
        self.linkClass = linkClass
        self.interface = interface
        self.isMetered = isMetered
        self.connectivity = connectivity
        self.isValidated = isValidated
        self.since = since
        self.epoch = epoch
        self.isStale = isStale
        self.flaps = flaps
        self.ipv4 = ipv4 ?? Path(status, reason: reason)
        self.ipv6 = ipv6 ?? Path(.unknown, reason: .notAsked)
    }
}

// MARK: - JSON

extension HostStatus {
    /// Reads a `status` object: the daemon's, or what ``write(to:)`` wrote. Unknown words get the weakest meaning.
    package init(reading json: JSONValue) throws(WireError) {
        guard let outline = try? JSONReader.outline(json.encoded),
            let reader = try? WireReader(outline, path: "status.")
        else { throw .badKey("status") }
        try self.init(reader)
    }

    init(_ reader: WireReader) throws(WireError) {
        self.init(target: try reader.text("target") ?? "internet", try reader.word("status") ?? .unknown)
        reason = try reader.word("reason")
        let interface = try reader.text("root_interface", limit: 64)
        rootCause = try reader.word("root_cause").map { (kind: RootCause.Kind) in RootCause(kind, interface: interface)
        }
        linkClass = try reader.linkClass("class")
        self.interface = try reader.text("interface", limit: 64)
        isMetered = try reader.flag("metered")
        connectivity = try reader.word("connectivity") ?? .unknown
        connectivityReason = try reader.word("connectivity_reason")
        isValidated = try reader.flag("validated")
        since = try reader.time("since")
        epoch = try reader.number("epoch") ?? 0
        isStale = try reader.flag("stale")
        flaps = try reader.number("flaps") ?? 0
        ipv4 = try reader.object("ipv4").map(Path.init) ?? Path(status, reason: reason)
        ipv6 = try reader.object("ipv6").map(Path.init) ?? Path(.unknown, reason: .notAsked)
    }

    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("target", target)
            json.field("status", status.rawValue)
            json.field("class", linkClass?.rawValue)
            json.field("interface", interface)
            json.field("reason", reason?.rawValue)
            if let rootCause {
                json.field("root_cause", rootCause.kind.rawValue)
                json.field("root_interface", rootCause.interface)
            }
            json.field("metered", isMetered)
            json.field("connectivity", connectivity.rawValue)
            if let connectivityReason { json.field("connectivity_reason", connectivityReason.rawValue) }
            json.field("validated", isValidated)
            json.field("since", since?.description)
            json.field("epoch", Int64(clamping: epoch))
            json.field("stale", isStale)
            json.field("flaps", Int64(clamping: flaps))
            json.field("ipv4", object: ipv4.write)
            json.field("ipv6", object: ipv6.write)
        }
    }
}

extension HostStatus.Path {
    fileprivate init(_ reader: WireReader) throws(WireError) {
        self.init(try reader.word("status") ?? .unknown, reason: try reader.word("reason"))
        interface = try reader.text("interface", limit: 64)
        linkClass = try reader.linkClass("class")
        carrierClass = try reader.linkClass("carrier_class")
        connectivity = try reader.word("connectivity") ?? .unknown
        if let text = try reader.text("gateway", limit: 64) {
            guard let address = IPAddress(text) else { throw reader.fault("gateway") }
            gateway = address
        }
        if let text = try reader.text("source", limit: 64) {
            guard let prefix = IPPrefix(text) ?? IPPrefix(addressOnly: text) else { throw reader.fault("source") }
            source = prefix
        }
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.field("status", status.rawValue)
        if interface != nil || linkClass != nil {
            json.field("interface", interface)
            json.field("class", linkClass?.rawValue)
            json.field("carrier_class", carrierClass?.rawValue)
            json.field("gateway", gateway)
            json.field("source", source?.wireText)
            json.field("connectivity", connectivity.rawValue)
        }
        json.field("reason", reason?.rawValue)
    }
}

extension IPPrefix {
    fileprivate init?(addressOnly text: String) {
        guard let address = IPAddress(text) else { return nil }
        self.init(address, length: address.family == .ipv4 ? 32 : 128)
    }

    /// `ADDRESS/LENGTH`, or the address alone if it is whole.
    package var wireText: String {
        length == (address.family == .ipv4 ? 32 : 128) ? address.description : description
    }
}

extension WireReader {
    fileprivate func linkClass(_ name: StaticString) throws(WireError) -> LinkClass? {
        guard let word = try text(name) else { return nil }
        return LinkClass(rawValue: word) ?? .other
    }
}
