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
        if let checked = proof.checked { field("checked", checked) }
        if let roundTrip = proof.roundTrip { field("round_trip_us", roundTrip.nanoseconds / 1000) }
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
