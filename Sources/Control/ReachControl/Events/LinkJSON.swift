package import ReachCore

extension JSONWriter {
    /// Writes a link, as `reach links --json` prints it.
    package mutating func link(_ report: LinkReport, source: StatusSource, at moment: Instant) {
        let link = report.link
        object { json in
            json.field("v", 1)
            json.field("type", "link")
            json.times(moment.wall, moment.boot)
            json.field("source", source.rawValue)
            json.field("ifindex", link.index.wide)
            json.field("interface", link.name)
            json.field("alternative_names", link.alternativeNames)
            json.field("class", report.linkClass.rawValue)
            json.field("up", link.isUp)
            json.field("running", link.isUsable)
            json.field("operstate", link.operationalState?.word)
            json.field("kind", link.kind)
            json.field("controller", report.controller)
            json.field("lower", report.lower)
            json.field("trouble", report.trouble?.rawValue)
            json.field("broken_lower", report.brokenLower)
            json.field("metered", report.isMetered)
            json.network(report.network, isTrusted: report.isTrusted, report.meteredReason)
            json.wireless(report.wireless)
            json.proof(report.proof)
            json.traffic(report.traffic)
            json.field("mtu", link.mtu.wide)
            json.field("addresses", array: { json in for address in report.addresses { json.address(address) } })
            json.field(
                "internet",
                object: {
                    $0.field("ipv4", report.carriesInternet.contains(.ipv4))
                    $0.field("ipv6", report.carriesInternet.contains(.ipv6))
                })
        }
    }

    /// Only links that the daemon checks have the keys.
    private mutating func proof(_ proof: LinkReport.Proof?) {
        guard let proof else { return }
        field("connectivity", proof.connectivity.rawValue as String?)
        if let reason = proof.reason { field("connectivity_reason", reason.rawValue as String?) }
        if let checked = proof.checked { field("checked", checked) }
        if let roundTrip = proof.roundTrip { field("round_trip_us", roundTrip.nanoseconds / 1000) }
        quality(proof.quality)
    }

    private mutating func traffic(_ traffic: LinkReport.Traffic?) {
        guard let traffic else { return }
        field("received_bytes", traffic.received.wide)
        field("sent_bytes", traffic.sent.wide)
    }

    /// Only Wi-Fi links that have joined a network have the key.
    private mutating func wireless(_ link: WirelessLink?) {
        guard let link else { return }
        field(
            "wifi",
            object: { (json: inout JSONWriter) in
                json.field("ssid", link.network.ssid?.description)
                json.field("bssid", link.network.bssid?.description)
                json.field("frequency_mhz", link.frequency?.wide)
                json.field("signal_dbm", link.signal?.wide)
                json.field("send_kbps", link.sendRate?.wide)
                json.field("receive_kbps", link.receiveRate?.wide)
                json.field("security", link.security?.rawValue)
            })
    }

    private mutating func address(_ address: InterfaceAddress) {
        object { json in
            json.field("address", address.address.description)
            json.field("prefix_length", address.prefixLength.wide)
            json.field("family", address.address.family == .ipv4 ? "ipv4" : "ipv6")
            json.field("ready", address.isReady)
            json.field("duplicate", address.flags.contains(.duplicate))
            json.field("preferred", address.isPreferred)
            json.field("deprecated", address.flags.contains(.deprecated))
        }
    }
}

extension LinkReport {
    /// Reads a link that ``JSONWriter/link(_:source:at:)`` wrote: all that the command prints of a link.
    package init(reading json: JSONValue) throws(StatusReadingError) { try self.init(StatusReader(json)) }

    private init(_ reader: StatusReader) throws(StatusReadingError) {
        let link = try Link(reader)
        let internet = try reader.object("internet")
        var families: Set<IPAddress.Family> = []
        if try internet.value("ipv4", \.bool) { families.insert(.ipv4) }
        if try internet.value("ipv6", \.bool) { families.insert(.ipv6) }
        self.init(
            link, linkClass: LinkClass(rawValue: try reader.value("class", \.string)) ?? .other,
            controller: try reader.optional("controller", \.string), lower: try reader.texts("lower"),
            trouble: try reader.word("trouble"), brokenLower: try reader.optional("broken_lower", \.string),
            isMetered: try reader.value("metered", \.bool),
            addresses: try reader.objects("addresses").map { address throws(StatusReadingError) in
                try InterfaceAddress(address, of: link.index)
            }, carriesInternet: families)
        meteredReason = try reader.word("metered_reason")
        network = try reader.optional("network", \.string)
        isTrusted = try reader.optional("trusted", \.bool) ?? false
        if let connectivity: Connectivity = try reader.word("connectivity") {
            var proof = Proof(connectivity)
            proof.reason = try reader.word("connectivity_reason")
            proof.checked = try reader.optional("checked", \.string).flatMap { Timestamp($0) }
            proof.roundTrip = try reader.optional("round_trip_us", \.integer).map { .microseconds($0) }
            proof.quality = try reader.quality()
            self.proof = proof
        }
        if let received: UInt64 = try reader.number("received_bytes"),
            let sent: UInt64 = try reader.number("sent_bytes")
        {
            traffic = Traffic(received: received, sent: sent)
        }
        if try reader.optional("wifi", \.object) != nil { wireless = try WirelessLink(reader.object("wifi")) }
    }
}

extension WirelessLink {
    fileprivate init(_ reader: StatusReader) throws(StatusReadingError) {
        var ssid: SSID?
        if let text = try reader.optional("ssid", \.string) {
            guard let name = SSID(text) else { throw reader.fault("ssid") }
            ssid = name
        }
        self.init(network: WirelessNetwork(ssid: ssid, bssid: try reader.hardwareAddress("bssid")))
        frequency = try reader.number("frequency_mhz")
        signal = try reader.number("signal_dbm")
        sendRate = try reader.number("send_kbps")
        receiveRate = try reader.number("receive_kbps")
        security = try reader.word("security")
    }
}

extension Link {
    fileprivate init(_ reader: StatusReader) throws(StatusReadingError) {
        guard let index: InterfaceIndex = try reader.number("ifindex") else { throw reader.fault("ifindex") }
        self.init(index: index, name: try reader.value("interface", \.string))
        alternativeNames = try reader.texts("alternative_names")
        if try reader.value("up", \.bool) { flags.insert(.up) }
        if try reader.value("running", \.bool) { flags.formUnion([.running, .lowerUp]) }
        operationalState = try reader.optional("operstate", \.string).flatMap(OperationalState.init(word:))
        kind = try reader.optional("kind", \.string)
        mtu = try reader.number("mtu") ?? 0
    }
}

extension InterfaceAddress {
    /// Reads an address. Sets those flags that give `isReady`, `isPreferred` and the rest their written values.
    fileprivate init(_ reader: StatusReader, of interface: InterfaceIndex) throws(StatusReadingError) {
        guard let address = try reader.address("address") else { throw reader.fault("address") }
        guard let prefixLength: UInt8 = try reader.number("prefix_length") else { throw reader.fault("prefix_length") }
        var flags: Flags = []
        if try reader.optional("duplicate", \.bool) ?? false { flags.insert(.duplicate) }
        if try reader.value("deprecated", \.bool) { flags.insert(.deprecated) }
        if try !reader.value("ready", \.bool), flags.isDisjoint(with: .duplicate) { flags.insert(.tentative) }
        self.init(interface: interface, address: address, prefixLength: prefixLength, flags: flags)
        if try !reader.value("preferred", \.bool), isPreferred { scope = Self.linkScope }
    }
}

extension Link.OperationalState {
    fileprivate init?(word: String) {
        guard let state = (0...6).compactMap(Self.init(rawValue:)).first(where: { $0.word == word }) else { return nil }
        self = state
    }
}
