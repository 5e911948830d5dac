/// What has to be mended before a target can be reached, and the interface that it concerns.
///
/// The ``Reason`` says why the kernel has no working path; when something below the route broke, that is often only
/// `no-route`. The root cause names what broke: of all that is wrong on the way to the target, the lowest.
public struct RootCause: Hashable, Sendable {
    /// What broke.
    public package(set) var kind: Kind
    /// The interface that broke; `nil` where the cause concerns none.
    public package(set) var interface: String?

    /// Creates a root cause.
    package init(_ kind: Kind, interface: String? = nil) {
        self.kind = kind
        self.interface = interface
    }

    /// What broke, with its word in JSON. What a ``Reason`` says already has the reason's word.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// No interface has the given name.
        case noInterface = "no-interface"
        /// The link is down.
        case linkDown = "link-down"
        /// The link has no carrier.
        case noCarrier = "no-carrier"
        /// The link has no usable address yet.
        case noAddress = "no-address"
        /// A route discards the packets.
        case blackhole
        /// A route rejects the packets as unreachable.
        case unreachable
        /// A route prohibits the packets.
        case prohibited
        /// A route of the type `throw` ends the search in its table, and no rule leads on to another route.
        case throwRoute = "throw-route"
        /// The gateway does not answer.
        case gatewayUnreachable = "gateway-unreachable"
        /// The target is on the link and does not answer.
        case neighbourUnreachable = "neighbour-unreachable"
        /// The name has no address.
        case nameNotResolved = "name-not-resolved"
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

extension RootCause.Kind {
    /// How far a link has come on the way to a working path. Of links, the one that has come furthest is the easiest to
    /// mend.
    enum Progress: Int, Comparable {
        case off, radioOff, noCarrier, waiting, usable, hasOwnAddress, hasAddress, lacksRoute

        static func < (left: Progress, right: Progress) -> Bool { left.rawValue < right.rawValue }
    }

    /// All that is known of a kind but its word, in one row.
    package struct Row: Sendable {
        /// Who can mend it.
        package let party: ResponsibleParty
        /// The layer that is broken, as the history of outages names it.
        package let layer: OutageLayer
        /// How far the link has come; of what is not about a link it says nothing.
        let progress: Progress
        /// From the interface's name.
        let clause: @Sendable (Clause) -> Clause
        /// What would mend it, as a sentence, from the interface's name; `nil` where the clause says it.
        let remedy: (@Sendable (String) -> String)?

        init(
            _ party: ResponsibleParty, _ layer: OutageLayer, _ clause: @escaping @Sendable (Clause) -> Clause,
            at progress: Progress = .noCarrier, remedy: (@Sendable (String) -> String)? = nil
        ) {
            self.party = party
            self.layer = layer
            self.progress = progress
            self.clause = clause
            self.remedy = remedy
        }
    }

    package var layer: OutageLayer { row.layer }

    // What the cable, the access point or the DHCP server is to blame for is the local network's.
    package var row: Row {
        switch self {
        case .noInterface: Row(.thisMachine, .link, { _ in "no interface has that name" })
        case .linkDown:
            Row(
                .thisMachine, .link, { "\($0) is down" }, at: .off,
                remedy: { "`ip link set \($0) up` would bring it up." })
        case .noCarrier:
            Row(
                .localNetwork, .link, { "\($0) has no carrier" },
                remedy: { _ in "The cable or what is at its other end is to be looked at." })
        case .noAddress:
            Row(.localNetwork, .address, { "\($0) has no usable address yet" }, at: .usable, remedy: Self.noAnswer)
        case .blackhole: Row(.thisMachine, .route, { _ in "a route discards the packets" })
        case .unreachable: Row(.thisMachine, .route, { _ in "a route rejects the packets as unreachable" })
        case .prohibited: Row(.thisMachine, .route, { _ in "a route forbids it" })
        case .throwRoute: Row(.thisMachine, .route, { _ in "a route of the type throw keeps it from the others" })
        case .gatewayUnreachable: Row(.localNetwork, .gateway, { "the gateway on \($0) does not answer" })
        case .neighbourUnreachable: Row(.server, .gateway, { "the host does not answer on \($0)" })
        case .nameNotResolved: Row(.nameServer, .name, { _ in "the name has no address" })
        case .noLinks: Row(.thisMachine, .link, { _ in "there is no link that could carry it" })
        case .interfaceGone: Row(.thisMachine, .link, { "\($0) is gone" })
        case .radioBlocked:
            Row(
                .thisMachine, .link, { "the radio of \($0) is switched off by software" }, at: .radioOff,
                remedy: { _ in "`rfkill unblock all` would switch it on." })
        case .radioSwitchedOff:
            Row(
                .thisMachine, .link, { "the radio of \($0) is switched off by a key or switch" }, at: .radioOff,
                remedy: { _ in "Only that key or switch can switch it on." })
        case .notAssociated:
            Row(
                .localNetwork, .link, { "\($0) is connected to no access point" },
                remedy: { _ in "The access point is off, out of range or unknown to this machine." })
        case .authenticating:
            Row(.localNetwork, .link, { "\($0) waits for the access point to let it in" }, at: .waiting)
        case .authenticationFailed:
            Row(
                .localNetwork, .link, { "the access point does not let \($0) in" }, at: .waiting,
                remedy: { _ in "The password may be wrong, or the signal too weak." })
        case .notAuthorised:
            Row(
                .localNetwork, .link, { "\($0) waits for authorisation (802.1X)" }, at: .waiting,
                remedy: { _ in "The switch wants a login by 802.1X, such as that of wpa_supplicant." })
        case .modemNotConnected:
            Row(
                .provider, .link, { "the modem \($0) has no data connection" },
                remedy: { _ in
                    "The SIM, the network's coverage or the subscription may be missing: the kernel does not show "
                        + "which, but `mmcli -m any` does where ModemManager runs."
                })
        case .noPorts:
            Row(
                .thisMachine, .link, { "\($0) has no port" },
                remedy: { "`ip link set PORT master \($0)` would give it one." })
        case .portNotForwarding:
            Row(
                .localNetwork, .link, { "no port of \($0) forwards yet (STP)" }, at: .waiting,
                remedy: { _ in
                    "A bridge with the spanning tree protocol forwards by a port after twice its forward delay, 30 s "
                        + "by default."
                })
        case .notAttached: Row(.thisMachine, .link, { "no program is attached to \($0)" })
        case .selfAssignedAddress:
            Row(
                .localNetwork, .address, { "\($0) has only an address that it gave itself" }, at: .hasOwnAddress,
                remedy: Self.noAnswer)
        case .addressTentative:
            Row(
                .thisMachine, .address, { "the address of \($0) is still being checked for duplicates" },
                at: .hasAddress)
        case .addressDuplicate:
            Row(.localNetwork, .address, { "the address of \($0) is in use by another host" }, at: .hasAddress)
        case .ipv6Disabled:
            Row(
                .thisMachine, .address, { "IPv6 is disabled on \($0)" }, at: .usable,
                remedy: { "`sysctl net.ipv6.conf.\($0).disable_ipv6=0` would enable it." })
        case .smallMTU:
            Row(
                .thisMachine, .address, { "the MTU of \($0) is below 1280, the least for IPv6" }, at: .usable,
                remedy: { "`ip link set \($0) mtu 1280` would give it IPv6." })
        case .noDefaultRoute:
            Row(.thisMachine, .route, { "\($0) has an address, but no default route" }, at: .lacksRoute)
        case .rule: Row(.thisMachine, .route, { _ in "a policy rule forbids it" })
        }
    }

    private static let noAnswer: @Sendable (String) -> String = { _ in "No DHCP server or router has answered on it." }
}

extension RootCause {
    /// Whether it is something about a link or its address, which a lookup of a route does not show.
    package var isBelowRoutes: Bool {
        kind != .noInterface && kind.layer.isBelowRoutes
    }

    /// The root cause in words, for people. The name of the interface is the kernel's, which may contain control
    /// characters.
    package var clause: Clause {
        kind.row.clause(interface.map { Clause(name: DisplayText.sanitized($0)) } ?? "the link")
    }

    package var sentence: String { clause.text }

    /// What would mend it, as a sentence; `nil` where the cause says it, or a step of the explanation does.
    package var remedy: String? { kind.row.remedy?(interface.map(DisplayText.sanitized) ?? "INTERFACE") }
}
