import ReachCore
import ReachProbe

/// A packet to a host of a drawn Internet, and what becomes of it and of its answer.
struct DrawnPacket: Hashable {
    enum Kind: Hashable {
        case tcp(UInt16)
        case udp(UInt16)
        case echo
    }

    let end: DrawnStation
    let family: IPAddress.Family
    let kind: Kind
    var isLarge = false
    /// Packets of one flow take one of several ways.
    var flow: UInt64 = 0
    /// After so many routers it ends.
    var life: Int?
}

enum DrawnFate: Hashable {
    enum Complaint: Hashable {
        case noRoute
        case hostMissing
        case prohibited

        var meaning: WayComplaint.Meaning {
            switch self {
            case .noRoute: .noWay
            case .hostMissing: .hostMissing
            case .prohibited: .prohibited
            }
        }
    }

    case arrives
    case vanishes
    case complaint(Complaint, by: DrawnStation)
    /// Its life ended here.
    case ended(DrawnStation)
    case notSent
    /// A router on the way resets the connection in the host's name.
    case reset
    case resetHere
}

extension DrawnInternet {
    func has(_ kind: DrawnFault.Kind, _ station: DrawnStation) -> Bool {
        faults.contains { $0.kind == kind && $0.station == station }
    }

    /// The routers that packets pass on their way.
    func way(to end: DrawnStation) -> [DrawnStation] {
        let gateway: [DrawnStation] = hasGateway ? [.gateway] : []
        switch end {
        case .machine, .gateway, .router, .secondLine, .secondRouter: return []
        case .proxy: return proxy == .neighbour ? [] : gateway + (1...routers).map { .router($0) }
        case .resolver where isBySecondLine(end): return [.secondLine]
        case .site: return gateway + (1...routers).map { .router($0) }
        case .resolver(let place):
            switch resolvers[place].place {
            case .machine, .gateway, .neighbour: return []
            case .provider: return gateway + [.router(1)]
            case .internet: return gateway + (1...routers).map { .router($0) }
            }
        }
    }

    /// Whether packets are handed to the gateway, or are for it.
    private func needsGateway(_ end: DrawnStation) -> Bool {
        if case .resolver(let place) = end { return ![.machine, .neighbour].contains(resolvers[place].place) }
        return hasGateway && (end != .proxy || proxy == .internet)
    }

    private func staysHere(_ end: DrawnStation) -> Bool {
        if case .resolver(let place) = end { resolvers[place].place == .machine } else { false }
    }

    func fate(of packet: DrawnPacket) -> DrawnFate {
        guard !staysHere(packet.end) else { return .arrives }
        if let fate = fateHere(packet) { return fate }
        if hasGateway, needsGateway(packet.end), !isBySecondLine(packet.end) {
            if [.gatewayOff, .gatewayTwin].contains(where: { has($0, .gateway) }) { return .vanishes }
            // The right one is a neighbour, and its own server is asked without another.
            if has(.wrongGateway, .machine), !way(to: packet.end).isEmpty { return .vanishes }
        }
        if has(.machineTwin, .gateway) || has(.widePrefix, .machine) || has(.staleAddress, .gateway) {
            // Neighbours answer: the twin's answer comes too late for them, and they need no router.
            if !way(to: packet.end).isEmpty, !isBySecondLine(packet.end) { return .vanishes }
        }
        if packet.isLarge, has(.smallFrames, .gateway), !isBySecondLine(packet.end) { return .vanishes }
        let fate = fateOnWay(packet)
        return isDroppedHere(packet, fate) ? .vanishes : fate
    }

    private func fateHere(_ packet: DrawnPacket) -> DrawnFate? {
        if has(.ownDrop, .machine) { return .notSent }
        guard case .tcp(let port) = packet.kind, isTargetsPort(port) else { return nil }
        if has(.ownDropOfPort, .machine) { return .notSent }
        return has(.ownReject, .machine) ? .resetHere : nil
    }

    /// Whether this machine drops what comes back.
    func isDroppedHere(_ packet: DrawnPacket, _ fate: DrawnFate) -> Bool {
        if has(.ownInput, .machine) { return fate != .vanishes }
        if has(.reversePath, .machine) {
            return fate != .vanishes && !way(to: packet.end).isEmpty && !isBySecondLine(packet.end)
        }
        guard has(.ownInputOfTCP, .machine), case .tcp = packet.kind else { return false }
        return fate == .arrives || fate == .reset
    }

    func isTargetsPort(_ port: UInt16) -> Bool {
        switch target {
        case .port: port == 22
        case .https, .secureAddress: port == 443
        case .bare: port == 443 || port == 80
        case .http, .internet: port == 80
        case .ping: false
        }
    }

    private func fateOnWay(_ packet: DrawnPacket) -> DrawnFate {
        let way = way(to: packet.end)
        for (place, station) in way.enumerated() {
            if packet.life == place + 1 { return end(of: packet, at: station, behind: way[..<place]) }
            for fault in faults where fault.station == station {
                if fault.kind == .loops { return loop(packet, way, place) }
                guard let fate = Self.fate(of: packet, by: fault, self) else { continue }
                // Where echo requests are dropped on the way, so is what routers report.
                if case .complaint = fate, way[..<place].contains(where: { has(.dropsPings, $0) }) { return .vanishes }
                return fate
            }
        }
        return .arrives
    }

    private func end(
        of packet: DrawnPacket, at station: DrawnStation, behind passed: ArraySlice<DrawnStation>
    ) -> DrawnFate {
        let isHidden = mute.contains(station) || passed.contains { has(.dropsPings, $0) }
        return isHidden ? .vanishes : .ended(station)
    }

    private func loop(_ packet: DrawnPacket, _ way: [DrawnStation], _ place: Int) -> DrawnFate {
        guard let life = packet.life, life > place, place > 0 else { return .vanishes }
        let station = (life - 1 - place).isMultiple(of: 2) ? way[place] : way[place - 1]
        return end(of: packet, at: station, behind: way[..<place])
    }

    /// What a router with a fault does with a packet; `nil` for passing it on.
    private static func fate(
        of packet: DrawnPacket, by fault: DrawnFault, _ internet: DrawnInternet
    ) -> DrawnFate? {
        let isTarget = packet.end == .site(.target)
        let port: UInt16? = if case .tcp(let port) = packet.kind { port } else { nil }
        let isPort = port.map(internet.isTargetsPort) ?? false
        let question: Bool = packet.kind == .udp(53) || packet.kind == .tcp(53)
        let drops: Bool
        switch fault.kind {
        case .dark, .farEndOff: drops = true
        case .keepsEchoesOnly: drops = packet.kind != .echo
        case .translatorDead:
            if case .site(let site) = packet.end { drops = site != .anchor } else { drops = false }
        case .darkIPv4: drops = packet.family == .ipv4
        case .darkIPv6: drops = packet.family == .ipv6
        case .dropsPort: drops = isPort
        case .dropsTCP: drops = port != nil
        case .dropsQuestions: drops = question
        case .dropsPings: drops = packet.kind == .echo
        case .dropsTarget: drops = isTarget
        case .dropsLarge: drops = packet.isLarge
        case .spreads: drops = StableHash.mix(packet.flow ^ internet.seed) % 2 == 0
        // A login page lets questions and itself pass.
        case .redirects: drops = !question && port != 80
        case .forbidsAll: return .complaint(.prohibited, by: fault.station)
        case .forbidsPort: return isPort ? .complaint(.prohibited, by: fault.station) : nil
        case .forbidsTarget: return isTarget ? .complaint(.prohibited, by: fault.station) : nil
        case .hasNoRoute: return .complaint(.noRoute, by: fault.station)
        case .refusesPort: return isPort ? .reset : nil
        default: drops = false
        }
        return drops ? .vanishes : nil
    }

    /// The share of packets that do not come back.
    func lossShare(to end: DrawnStation) -> Double {
        let share = 0.03 + Double(seed % 20) / 100
        let lossy = way(to: end).count { has(.loses, $0) }
        var kept = 1.0
        for _ in 0..<(2 * lossy) { kept *= 1 - share }
        return 1 - kept
    }
}
