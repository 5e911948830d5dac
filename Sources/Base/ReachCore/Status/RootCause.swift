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

    /// The kinds of root causes, with their words in JSON.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// No interface has the given name, and none had it since the watch began.
        case noInterface = "no-interface"
        /// The machine has no link that could carry the path.
        case noLinks = "no-links"
        /// The interface that carried the path was removed.
        case interfaceGone = "interface-gone"
        /// The link was taken down, or never brought up.
        case linkDown = "link-down"
        /// Software switched the radio off (rfkill).
        case radioBlocked = "radio-blocked"
        /// A switch or key of the machine switched the radio off (rfkill).
        case radioSwitchedOff = "radio-switched-off"
        /// The cable, or the other end of it.
        case noCarrier = "no-carrier"
        /// A Wi-Fi link is connected to no access point.
        case notAssociated = "not-associated"
        /// A Wi-Fi link waits for the access point to let it in.
        case authenticating
        /// An access point has refused a Wi-Fi link several times: the password may be wrong.
        case authenticationFailed = "authentication-failed"
        /// The link has a carrier and waits for authorisation (802.1X).
        case notAuthorised = "not-authorised"
        /// The modem has no data connection. The kernel does not show whether it lacks a SIM, a network or a subscription.
        case modemNotConnected = "modem-not-connected"
        /// A bridge, bond or team has no port.
        case noPorts = "no-ports"
        /// No program holds the other side of a tun or tap link.
        case notAttached = "not-attached"
        /// The link works and has no address: no DHCP server has answered, or no router has advertised itself.
        case noAddress = "no-address"
        /// The link's only address is one that it gave itself: no DHCP server has answered.
        case selfAssignedAddress = "self-assigned-address"
        /// The kernel still checks whether another host uses the link's address.
        case addressTentative = "address-tentative"
        /// Another host uses the link's address.
        case addressDuplicate = "address-duplicate"
        /// A setting of the kernel disables IPv6 on the link.
        case ipv6Disabled = "ipv6-disabled"
        /// The link works and has an address, but no route leads to the target.
        case noDefaultRoute = "no-default-route"
        /// A route discards the packets.
        case blackhole
        /// A route rejects the packets as unreachable.
        case unreachable
        /// A route forbids the packets.
        case prohibited
        /// A policy rule refuses the packets.
        case rule
        /// The gateway does not answer ARP or neighbour discovery.
        case gatewayUnreachable = "gateway-unreachable"
        /// The target is on the link and does not answer ARP or neighbour discovery.
        case neighbourUnreachable = "neighbour-unreachable"
        /// The name has no address.
        case nameNotResolved = "name-not-resolved"
    }
}

extension RootCause {
    /// Whether it is something about a link or its address, which a lookup of a route does not show.
    package var isBelowRoutes: Bool {
        switch kind {
        case .noInterface, .noDefaultRoute, .blackhole, .unreachable, .prohibited, .rule, .gatewayUnreachable,
            .neighbourUnreachable, .nameNotResolved:
            false
        default: true
        }
    }

    /// The root cause in words, for people. The name of the interface is the kernel's, which may contain control characters.
    package var sentence: String {
        let name = interface.map(DisplayText.sanitized) ?? "the link"
        return switch kind {
        case .noInterface: "no interface has that name"
        case .noLinks: "there is no link that could carry it"
        case .interfaceGone: "\(name) is gone"
        case .linkDown: "\(name) is down"
        case .radioBlocked: "the radio of \(name) is switched off by software"
        case .radioSwitchedOff: "the radio of \(name) is switched off by a key or switch"
        case .noCarrier: "\(name) has no carrier"
        case .notAssociated: "\(name) is connected to no access point"
        case .authenticating: "\(name) waits for the access point to let it in"
        case .authenticationFailed: "the access point does not let \(name) in"
        case .notAuthorised: "\(name) waits for authorisation (802.1X)"
        case .modemNotConnected: "the modem \(name) has no data connection"
        case .noPorts: "\(name) has no port"
        case .notAttached: "no program is attached to \(name)"
        case .noAddress: "\(name) has no usable address yet"
        case .selfAssignedAddress: "\(name) has only an address that it gave itself"
        case .addressTentative: "the address of \(name) is still being checked for duplicates"
        case .addressDuplicate: "the address of \(name) is in use by another host"
        case .ipv6Disabled: "IPv6 is disabled on \(name)"
        case .noDefaultRoute: "\(name) has an address, but no default route"
        case .blackhole: "a route discards the packets"
        case .unreachable: "a route rejects the packets as unreachable"
        case .prohibited: "a route forbids it"
        case .rule: "a policy rule forbids it"
        case .gatewayUnreachable: "the gateway on \(name) does not answer"
        case .neighbourUnreachable: "the host does not answer on \(name)"
        case .nameNotResolved: "the name has no address"
        }
    }

    /// What would mend it, as a sentence; `nil` where the cause says it, or a step of the explanation does.
    package var remedy: String? {
        let name = interface.map(DisplayText.sanitized) ?? "INTERFACE"
        return switch kind {
        case .linkDown: "`ip link set \(name) up` would bring it up."
        case .radioBlocked: "`rfkill unblock all` would switch it on."
        case .radioSwitchedOff: "Only that key or switch can switch it on."
        case .noCarrier: "The cable or what is at its other end is to be looked at."
        case .notAssociated: "The access point is off, out of range or unknown to this machine."
        case .authenticationFailed: "The password may be wrong, or the signal too weak."
        case .notAuthorised: "The switch wants a login by 802.1X, such as that of wpa_supplicant."
        case .modemNotConnected:
            "The SIM, the network's coverage or the subscription may be missing: the kernel does not show which, but "
                + "`mmcli -m any` does where ModemManager runs."
        case .noPorts: "`ip link set PORT master \(name)` would give it one."
        case .noAddress, .selfAssignedAddress: "No DHCP server or router has answered on it."
        case .ipv6Disabled: "`sysctl net.ipv6.conf.\(name).disable_ipv6=0` would enable it."
        default: nil
        }
    }
}
