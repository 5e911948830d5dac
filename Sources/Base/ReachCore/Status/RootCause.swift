/// What has to be mended before a target can be reached, and the interface that it concerns.
///
/// The ``Reason`` says why the kernel has no working path; when something below the route broke, that is often only
/// `no-route`. The root cause names what broke: of all that is wrong on the way to the target, the lowest.
public struct RootCause: Hashable, Sendable {
    /// What broke.
    public var kind: Kind
    /// The interface that broke; `nil` where the cause concerns none.
    public var interface: String?

    /// Creates a root cause.
    public init(_ kind: Kind, interface: String? = nil) {
        self.kind = kind
        self.interface = interface
    }

    /// Creates a root cause that the reason names.
    public init(_ reason: Reason, interface: String? = nil) { self.init(.reason(reason), interface: interface) }

    /// Creates a root cause below the reason.
    public init(_ detail: Detail, interface: String? = nil) { self.init(.detail(detail), interface: interface) }

    /// What broke: what the reason says already, or something that the reason does not show.
    public enum Kind: Hashable, Sendable {
        case reason(Reason)
        case detail(Detail)
    }

    /// What a ``Reason`` does not show, with its word in JSON.
    public enum Detail: String, Hashable, Sendable, CaseIterable {
        /// The machine has no link that could carry the path.
        case noLinks = "no-links"
        /// The interface that carried the path was removed.
        case interfaceGone = "interface-gone"
        /// Software switched the radio off (rfkill).
        case radioBlocked = "radio-blocked"
        /// A switch or key of the machine switched the radio off (rfkill).
        case radioSwitchedOff = "radio-switched-off"
        /// A Wi-Fi link is connected to no access point.
        case notAssociated = "not-associated"
        /// A Wi-Fi link waits for the access point to let it in.
        case authenticating
        /// An access point has refused a Wi-Fi link several times: the password may be wrong.
        case authenticationFailed = "authentication-failed"
        /// The link has a carrier and waits for authorisation (802.1X).
        case notAuthorised = "not-authorised"
        /// The modem has no data connection. The kernel does not show whether it lacks a SIM, a network or a
        /// subscription.
        case modemNotConnected = "modem-not-connected"
        /// A bridge, bond or team has no port.
        case noPorts = "no-ports"
        /// No port of a bridge forwards packets, though one has a carrier: the spanning tree protocol has not let it
        /// yet.
        case portNotForwarding = "port-not-forwarding"
        /// No program holds the other side of a tun or tap link.
        case notAttached = "not-attached"
        /// The link's only address is one that it gave itself: no DHCP server has answered.
        case selfAssignedAddress = "self-assigned-address"
        /// The kernel still checks whether another host uses the link's address.
        case addressTentative = "address-tentative"
        /// Another host uses the link's address.
        case addressDuplicate = "address-duplicate"
        /// A setting of the kernel disables IPv6 on the link.
        case ipv6Disabled = "ipv6-disabled"
        /// The link's MTU is below the 1280 bytes that IPv6 needs (RFC 8200, 5): the kernel has no IPv6 on it.
        case smallMTU = "small-mtu"
        /// The link works and has an address, but no route leads to the target.
        case noDefaultRoute = "no-default-route"
        /// A policy rule refuses the packets.
        case rule
    }
}

extension RootCause.Kind: RawRepresentable, CaseIterable {
    /// The reasons that can be root causes. Of the others, something else is one.
    private static let reasons: [Reason] = [
        .noInterface, .linkDown, .noCarrier, .noAddress, .blackhole, .unreachable, .prohibited, .gatewayUnreachable,
        .neighbourUnreachable, .nameNotResolved,
    ]

    /// All kinds, those that are reasons first.
    public static var allCases: [Self] { reasons.map(Self.reason) + RootCause.Detail.allCases.map(Self.detail) }

    /// Reads the word that JSON has.
    public init?(rawValue: String) {
        if let reason = Self.reasons.first(where: { $0.rawValue == rawValue }) {
            self = .reason(reason)
        } else if let detail = RootCause.Detail(rawValue: rawValue) {
            self = .detail(detail)
        } else {
            return nil
        }
    }

    /// The word in JSON.
    public var rawValue: String {
        switch self {
        case .reason(let reason): reason.rawValue
        case .detail(let detail): detail.rawValue
        }
    }

    /// The layer that is broken, as the history of outages names it.
    var layer: OutageLayer {
        switch self {
        case .reason(let reason): reason.layer
        case .detail(.selfAssignedAddress), .detail(.addressTentative), .detail(.addressDuplicate),
            .detail(.ipv6Disabled), .detail(.smallMTU):
            .address
        case .detail(.noDefaultRoute), .detail(.rule): .route
        case .detail: .link
        }
    }
}

extension RootCause {
    /// Whether it is something about a link or its address, which a lookup of a route does not show.
    package var isBelowRoutes: Bool {
        kind != .reason(.noInterface) && [.link, .address].contains(kind.layer)
    }

    /// The root cause in words, for people. The name of the interface is the kernel's, which may contain control
    /// characters.
    package var sentence: String {
        let name = interface.map(DisplayText.sanitized) ?? "the link"
        return switch kind {
        case .detail(.noLinks): "there is no link that could carry it"
        case .detail(.interfaceGone): "\(name) is gone"
        case .reason(.linkDown): "\(name) is down"
        case .detail(.radioBlocked): "the radio of \(name) is switched off by software"
        case .detail(.radioSwitchedOff): "the radio of \(name) is switched off by a key or switch"
        case .reason(.noCarrier): "\(name) has no carrier"
        case .detail(.notAssociated): "\(name) is connected to no access point"
        case .detail(.authenticating): "\(name) waits for the access point to let it in"
        case .detail(.authenticationFailed): "the access point does not let \(name) in"
        case .detail(.notAuthorised): "\(name) waits for authorisation (802.1X)"
        case .detail(.modemNotConnected): "the modem \(name) has no data connection"
        case .detail(.noPorts): "\(name) has no port"
        case .detail(.portNotForwarding): "no port of \(name) forwards yet (STP)"
        case .detail(.notAttached): "no program is attached to \(name)"
        case .reason(.noAddress): "\(name) has no usable address yet"
        case .detail(.selfAssignedAddress): "\(name) has only an address that it gave itself"
        case .detail(.addressTentative): "the address of \(name) is still being checked for duplicates"
        case .detail(.addressDuplicate): "the address of \(name) is in use by another host"
        case .detail(.ipv6Disabled): "IPv6 is disabled on \(name)"
        case .detail(.smallMTU): "the MTU of \(name) is below 1280, the least for IPv6"
        case .detail(.noDefaultRoute): "\(name) has an address, but no default route"
        case .reason(.prohibited): "a route forbids it"
        case .detail(.rule): "a policy rule forbids it"
        case .reason(.gatewayUnreachable): "the gateway on \(name) does not answer"
        case .reason(.neighbourUnreachable): "the host does not answer on \(name)"
        case .reason(.nameNotResolved): "the name has no address"
        case .reason(let reason): reason.sentence
        }
    }

    /// What would mend it, as a sentence; `nil` where the cause says it, or a step of the explanation does.
    package var remedy: String? {
        let name = interface.map(DisplayText.sanitized) ?? "INTERFACE"
        return switch kind {
        case .reason(.linkDown): "`ip link set \(name) up` would bring it up."
        case .detail(.radioBlocked): "`rfkill unblock all` would switch it on."
        case .detail(.radioSwitchedOff): "Only that key or switch can switch it on."
        case .reason(.noCarrier): "The cable or what is at its other end is to be looked at."
        case .detail(.notAssociated): "The access point is off, out of range or unknown to this machine."
        case .detail(.authenticationFailed): "The password may be wrong, or the signal too weak."
        case .detail(.notAuthorised): "The switch wants a login by 802.1X, such as that of wpa_supplicant."
        case .detail(.modemNotConnected):
            "The SIM, the network's coverage or the subscription may be missing: the kernel does not show which, but "
                + "`mmcli -m any` does where ModemManager runs."
        case .detail(.noPorts): "`ip link set PORT master \(name)` would give it one."
        case .detail(.portNotForwarding):
            "A bridge with the spanning tree protocol forwards by a port after twice its forward delay, 30 s by default."
        case .reason(.noAddress), .detail(.selfAssignedAddress): "No DHCP server or router has answered on it."
        case .detail(.ipv6Disabled): "`sysctl net.ipv6.conf.\(name).disable_ipv6=0` would enable it."
        case .detail(.smallMTU): "`ip link set \(name) mtu 1280` would give it IPv6."
        default: nil
        }
    }
}
