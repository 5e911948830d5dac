package import ReachCore

/// The target of a probe, written as a URL: `https://example.net/health`, `tcp://192.0.2.1:22`,
/// `tls://mail.example.net:993`, `icmp://192.0.2.1`, or for DNS (RFC 4501) `dns://192.0.2.53/example.net?type=MX`;
/// `dns:example.net` asks the machine's own name servers.
package struct ProbeTarget: Hashable, Sendable, CustomStringConvertible {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case http
        case https
        case tcp
        case tls
        case dns
        case icmp

        /// The port of a URL without one; `nil` where a port is required.
        var standardPort: UInt16? {
            switch self {
            case .http: 80
            case .https, .tls: 443
            case .dns: 53
            case .tcp: nil
            case .icmp: 0
            }
        }

        /// What each URL of it begins with.
        var beginning: String { self == .dns ? "dns:" : rawValue + "://" }

        /// Whether libcurl makes its attempts.
        var isTransfer: Bool {
            switch self {
            case .http, .https, .tcp, .tls: true
            case .dns, .icmp: false
            }
        }
    }

    package let kind: Kind
    /// The URL as it was written.
    package let description: String
    /// The host that the probe is sent to, an address or a name; `nil` for the machine's own name servers.
    package let host: Host?
    /// 0 for icmp.
    package let port: UInt16
    /// The question for a name server; `nil` for other kinds.
    package let question: Question?

    package enum Host: Hashable, Sendable {
        case address(IPAddress, zone: String?)
        case name(String)
    }

    package struct Question: Hashable, Sendable {
        package let name: String
        package let type: DNSRecordType
    }

    /// - Throws: A sentence that says what is wrong with the text.
    package init(_ text: String) throws(TargetError) {
        var parser = ProbeTargetParser(text)
        self = try parser.parse()
    }

    init(kind: Kind, description: String, host: Host?, port: UInt16, question: Question? = nil) {
        self.kind = kind
        self.description = description
        self.host = host
        self.port = port
        self.question = question
    }

    /// The target to watch for a path.
    package var reachabilityTarget: Target {
        switch host {
        case .address(let address, let zone): Target.address(address, zone: zone)
        case .name(let name): (try? Target.host(name)) ?? .internet
        case nil: .internet
        }
    }

    /// The host of the URL, without brackets; empty without a host.
    package var hostText: String {
        switch host {
        case .address(let address, let zone): address.description + (zone.map { "%" + $0 } ?? "")
        case .name(let name): name
        case nil: ""
        }
    }
}

extension Target {
    fileprivate static func address(_ address: IPAddress, zone: String?) -> Target {
        (try? host(address.description + (zone.map { "%" + $0 } ?? ""))) ?? .internet
    }
}

/// The types of records that a probe can ask for.
package enum DNSRecordType: String, Hashable, Sendable, CaseIterable {
    case a = "A"
    case aaaa = "AAAA"
    case cname = "CNAME"
    case mx = "MX"
    case ns = "NS"
    case ptr = "PTR"
    case srv = "SRV"
    case txt = "TXT"
}

extension ProbeTarget {
    /// Fails if only an interface says which host is meant: every link has link-local addresses.
    ///
    /// - Parameter interface: The interface by which the attempt is sent; `nil` if the kernel chooses.
    package func check(with interface: String?) throws(TargetError) {
        guard interface == nil, case .address(let address, nil)? = host, address.family == .ipv6, address.isLinkLocal
        else { return }
        throw TargetError(
            description: "'\(DisplayText.sanitized(description))' is on every link, since \(address) is link-local: "
                + "name its interface, as in [\(address)%eth0] or by --interface")
    }
}
