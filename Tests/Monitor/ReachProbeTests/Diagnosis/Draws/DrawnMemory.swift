import ReachCore
import ReachProbe
import ReachRecords
import ReachTesting

/// What a daemon remembers from before the fault.
struct DrawnMemory: Hashable, Sendable {
    /// A link that carried a family when something was reached last.
    enum Carrier: Hashable, Sendable {
        case uplink
        /// That was in another network, before this machine came to this one: the memory is stale.
        case other
    }

    /// None where the daemon was started later, or the family was never reached.
    var carriers: [IPAddress.Family: Carrier]
    /// Whether the diagnosis is the daemon's own. Otherwise it has what the daemon says: what broke, and of which link.
    var isOwn: Bool
    /// Whether the gateway did not answer before, whatever it does now.
    var hasFailedGateway: Bool

    init(_ families: [IPAddress.Family], _ random: inout SplitMix64) {
        carriers = [:]
        for family in IPAddress.Family.allCases {
            let usual: [Carrier?] = families.contains(family) ? [.uplink, .uplink, .uplink] : [nil, nil, nil]
            carriers[family] = (usual + [.other, nil]).randomElement(using: &random) ?? nil
        }
        isOwn = Bool.random(using: &random)
        hasFailedGateway = Int.random(in: 0..<4, using: &random) == 0
    }
}

/// Another link of this machine, by which nothing is sent now.
enum DrawnLink: CaseIterable, Hashable, Sendable {
    case absent, down, dark, addressless, routeless

    /// Who can mend what it lacks.
    func owner(isRemembered: Bool) -> Diagnosis.Party? {
        switch self {
        case .absent: isRemembered ? .thisMachine : nil
        case .down, .routeless: .thisMachine
        case .dark, .addressless: .localNetwork
        }
    }
}

extension DrawnInternet {
    /// Whether the kernel itself has no way for packets to leave.
    var isBrokenByKernel: Bool {
        let faults: [(DrawnFault.Kind, DrawnStation)] = [
            (.routeMissing, .machine), (.linkDown, .machine), (.carrierLost, .gateway), (.noLease, .gateway),
        ]
        return faults.contains { has($0.0, $0.1) }
    }

    /// Who is at fault for the other link, where the machine might use that one as well: it did before, or nobody knows
    /// which one it used.
    var ownerOfOtherLink: Diagnosis.Party? {
        guard isBrokenByKernel else { return nil }
        let isRemembered = memory?.carriers.values.contains(.other) == true
        let isUnknown = families.contains { memory?.carriers[$0] == nil }
        return isRemembered || isUnknown ? otherLink.owner(isRemembered: isRemembered) : nil
    }
}

/// The kernel's links of a drawn Internet, and the root cause that follows from them and from what is remembered.
struct DrawnKernel {
    let internet: DrawnInternet

    private static let otherLink: InterfaceIndex = 9

    /// What is said where packets cannot leave in these families.
    func broken(_ families: [IPAddress.Family]) -> PathFact {
        let verdict = verdict(families)
        return PathFact(
            status: verdict.status, reason: verdict.reason, rootCause: rootCause(of: verdict, known),
            ipv4: verdict.ipv4, ipv6: verdict.ipv6)
    }

    private func verdict(_ families: [IPAddress.Family]) -> Verdict {
        let reason: Reason = internet.has(.linkDown, .machine) ? .linkDown : .noRoute
        let path = NetworkPath(status: .notReachable, reason: reason)
        return Verdict(
            ipv4: families.contains(.ipv4) ? path : .notAsked, ipv6: families.contains(.ipv6) ? path : .notAsked)
    }

    /// What the diagnosis knows of what the daemon remembers.
    private var known: PathMemory {
        guard let memory = internet.memory else { return PathMemory() }
        var paths = PathMemory()
        paths.remember(path(by: memory.carriers[.ipv4]), path(by: memory.carriers[.ipv6]))
        if memory.isOwn { return paths }
        let verdict = verdict(IPAddress.Family.allCases)
        guard let cause = rootCause(of: verdict, paths), let name = cause.interface else { return PathMemory() }
        return PathMemory(of: cause, on: table.link(named: name)?.index ?? 0) { rootCause(of: verdict, $0) }
    }

    private func path(by carrier: DrawnMemory.Carrier?) -> NetworkPath {
        guard let carrier else { return .notAsked }
        var path = NetworkPath(status: .reachable)
        (path.interface, path.interfaceIndex) =
            carrier == .uplink ? ("up0", DrawnAnswers.link) : ("other0", Self.otherLink)
        return path
    }

    private func rootCause(of verdict: Verdict, _ memory: PathMemory) -> RootCause? {
        let table = table
        let cables = table.links.mapValues { $0.kind == nil ? LinkTraits.cable : LinkTraits() }
        var finder = RootCauseFinder(table: table, stack: LinkStack(links: table.links, traits: cables))
        finder.memory = memory
        return finder.rootCause(of: verdict)
    }

    private var table: NetworkTable {
        var table = NetworkTable()
        var uplink = Link.up(DrawnAnswers.link, "up0", kind: internet.hasGateway ? nil : "wireguard")
        if internet.has(.carrierLost, .gateway) { uplink = uplink.withoutCarrier }
        if internet.has(.linkDown, .machine) { uplink = uplink.takenDown }
        _ = table.apply(.link(uplink))
        if !internet.has(.noLease, .gateway) {
            for family in internet.families {
                guard let address = internet.address(of: .machine, family) else { continue }
                add("\(address)", on: DrawnAnswers.link, to: &table)
            }
        }
        if uplink.isUsable { add("fe80::20", on: DrawnAnswers.link, to: &table) }
        addOtherLink(to: &table)
        return table
    }

    private func addOtherLink(to table: inout NetworkTable) {
        let link = Link.up(Self.otherLink, "other0")
        switch internet.otherLink {
        case .absent: return
        case .down: _ = table.apply(.link(link.takenDown))
        case .dark: _ = table.apply(.link(link.withoutCarrier))
        case .addressless, .routeless: _ = table.apply(.link(link))
        }
        guard internet.otherLink == .routeless else { return }
        for family in internet.families {
            add(family == .ipv4 ? "203.0.113.220" : "2001:db8:9::20", on: Self.otherLink, to: &table)
        }
    }

    private func add(_ address: String, on link: InterfaceIndex, to table: inout NetworkTable) {
        _ = table.apply(.address(RouteFixtures.address(address, on: link)))
    }
}
