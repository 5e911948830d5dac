package import ReachClient
package import ReachCore

extension JSONWriter {
    /// Writes a link, as `reach links --json` prints it.
    package mutating func link(_ report: LinkReport, source: StatusSource, at moment: Instant) {
        line("link", at: moment) { json in
            json.field("source", source.rawValue)
            report.writeMembers(to: &json)
        }
    }
}

/// All that the command prints of a link.
extension LinkReport: JSONObject {
    package static var blank: LinkReport { LinkReport(Link(index: 0, name: "")) }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        link.members(&line, &linkClass)
        line.optional("controller", &controller)
        line.optional("lower", &lower)
        line.word("trouble", &trouble)
        line.optional("broken_lower", &brokenLower)
        line.member("metered", &isMetered)
        line.network(&network, isTrusted: &isTrusted, &meteredReason)
        line.optional("wifi", &wireless, else: .missing)
        proofMembers(&line)
        trafficMembers(&line)
        line.optional("mtu", &link.mtu)
        line.member("addresses", &addresses)
        if line.isReading { for index in addresses.indices { addresses[index].interface = link.index } }
        line.member("internet", &internet)
    }

    /// Only links that the daemon checks have the keys.
    private mutating func proofMembers(_ line: inout some JSONMembers & ~Copyable) {
        var connectivity = proof?.connectivity
        line.word("connectivity", &connectivity, else: .missing)
        guard let connectivity else { return }
        var proof = proof ?? Proof(connectivity)
        line.word("connectivity_reason", &proof.reason, else: .missing)
        line.optional("checked", &proof.checked, else: .missing)
        line.microseconds("round_trip_us", &proof.roundTrip, else: .missing)
        line.optional("quality", &proof.quality, else: .missing)
        self.proof = proof
    }

    private mutating func trafficMembers(_ line: inout some JSONMembers & ~Copyable) {
        var (received, sent) = (traffic?.received, traffic?.sent)
        line.optional("received_bytes", &received, else: .missing)
        line.optional("sent_bytes", &sent, else: .missing)
        if let received, let sent { traffic = Traffic(received: received, sent: sent) }
    }

    private var internet: Families {
        get { Families(ipv4: carriesInternet.contains(.ipv4), ipv6: carriesInternet.contains(.ipv6)) }
        set { carriesInternet = Set((newValue.ipv4 ? [.ipv4] : []) + (newValue.ipv6 ? [.ipv6] : [])) }
    }

    private struct Families: JSONObject {
        static let blank = Families(ipv4: false, ipv6: false)
        var (ipv4, ipv6): (Bool, Bool)

        mutating func members(_ line: inout some JSONMembers & ~Copyable) {
            line.member("ipv4", &ipv4)
            line.member("ipv6", &ipv6)
        }
    }
}

extension Link {
    fileprivate mutating func members(_ line: inout some JSONMembers & ~Copyable, _ linkClass: inout LinkClass) {
        line.member("ifindex", &index)
        line.member("interface", &name)
        line.optional("alternative_names", &alternativeNames)
        line.word("class", &linkClass, unknown: .other)
        var (isUp, isRunning) = (isUp, isUsable)
        line.member("up", &isUp)
        line.member("running", &isRunning)
        var state = operationalState?.word
        line.optional("operstate", &state)
        if line.isReading {
            flags = isRunning ? [.running, .lowerUp] : []
            if isUp { flags.insert(.up) }
            operationalState = state.flatMap(OperationalState.init(word:))
        }
        line.optional("kind", &kind)
    }
}

/// Only Wi-Fi links that have joined a network have the key.
extension WirelessLink: JSONObject {
    package static var blank: WirelessLink { WirelessLink(network: WirelessNetwork(ssid: nil, bssid: nil)) }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.optional("ssid", &network.ssid)
        line.optional("bssid", &network.bssid)
        line.optional("frequency_mhz", &frequency)
        line.optional("signal_dbm", &signal)
        line.optional("send_kbps", &sendRate)
        line.optional("receive_kbps", &receiveRate)
        line.word("security", &security)
    }
}

extension SSID: JSONText {
    package init?(text: String) { self.init(text) }
    package var text: String { description }
}

/// Reading sets those flags that give `isReady`, `isPreferred` and the rest their written values.
extension InterfaceAddress: JSONObject {
    package static var blank: InterfaceAddress {
        InterfaceAddress(interface: 0, address: IPAddress(ipv4: 0), prefixLength: 0)
    }

    package mutating func members(_ line: inout some JSONMembers & ~Copyable) {
        line.member("address", &address)
        line.member("prefix_length", &prefixLength)
        var family = address.family == .ipv4 ? "ipv4" : "ipv6"
        line.optional("family", &family)
        var (isReady, isPreferred) = (isReady, isPreferred)
        var (isDuplicate, isDeprecated) = (flags.contains(.duplicate), flags.contains(.deprecated))
        line.member("ready", &isReady)
        line.optional("duplicate", &isDuplicate)
        line.member("preferred", &isPreferred)
        line.member("deprecated", &isDeprecated)
        guard line.isReading else { return }
        flags = isDeprecated ? .deprecated : []
        if isDuplicate { flags.insert(.duplicate) } else if !isReady { flags.insert(.tentative) }
        if !isPreferred, self.isPreferred { scope = Self.linkScope }
    }
}

extension Link.OperationalState {
    fileprivate init?(word: String) {
        guard let state = (0...6).compactMap(Self.init(rawValue:)).first(where: { $0.word == word }) else { return nil }
        self = state
    }
}
