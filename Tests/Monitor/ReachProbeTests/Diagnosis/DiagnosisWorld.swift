import ReachCore
import ReachProbe
import ReachRecords
import Synchronization

/// A small Internet as a value, which answers each task of a diagnosis as a machine in it would find out: a gateway
/// 192.0.2.1 and 2001:db8::1 on up0, the name servers .53 and .54 beyond it, and www.example.net at .80. A situation
/// changes some answers.
struct DiagnosisWorld {
    typealias Change = (DiagnosisTask) -> DiagnosisResult?

    var target = "https://www.example.net/"
    var endpoints: [String] = []
    /// Addresses that stand for the Internet.
    var anchors: [IPAddress] = []
    /// Of the target, and without one of the endpoints.
    var proxy: String?
    var reversePathDrops: UInt64 = 0
    var inputDrops: [IPAddress.Family: UInt64] = [:]
    /// For how many routers packets live.
    var life: Int?
    var portalAPI: String?
    var silentTunnels: [InterfaceIndex: TunnelSilence] = [:]
    var change: Change = { _ in nil }
    /// What comes after the end.
    var isLate: (DiagnosisTask) -> Bool = { _ in false }

    static let web = HostAddress(IPAddress.at("198.51.100.80"))
    static let web6 = HostAddress(IPAddress.at("2001:db8:80::80"))
    static let server = NameServerAddress(HostAddress(IPAddress.at("198.51.100.53")))
    static let secondServer = NameServerAddress(HostAddress(IPAddress.at("198.51.100.54")))
    static let gateway = IPAddress.at("192.0.2.1")
    static let gatewayHost = HostAddress(gateway)

    /// The diagnosis, and the tasks that were carried out for it.
    var run: (diagnosis: Diagnosis, tasks: [DiagnosisTask]) {
        var destination = try? DiagnosisDestination.read(target)
        destination?.proxy = readProxy
        let pages = endpoints.compactMap { url -> DiagnosisDestination? in
            guard let read = try? DiagnosisDestination.read(url) else { return nil }
            return DiagnosisDestination(
                title: url, host: read.host, ports: read.ports, exchange: read.exchange, isEndpoint: true,
                proxy: destination == nil ? readProxy : nil)
        }
        var machine = DiagnosisMachine(
            DiagnosisEvidence(title: target, target: destination, endpoints: pages, anchors: anchors))
        var all: [DiagnosisTask] = []
        while true {
            let tasks = machine.nextTasks()
            guard !tasks.isEmpty else { break }
            all += tasks
            for task in tasks where !isLate(task) { machine.record(result(of: task), of: task) }
        }
        machine.record(reversePathDrops: reversePathDrops)
        machine.record(inputDrops: inputDrops)
        machine.record(life: life)
        machine.record(portalAPI: portalAPI)
        machine.record(silentTunnels: silentTunnels)
        return (machine.diagnosis, all)
    }

    private var readProxy: DiagnosisDestination.Proxy? {
        guard let proxy, let port = UInt16(proxy.split(separator: ":").last ?? ""),
            let name = proxy.split(separator: ":").first.map(String.init)
        else { return nil }
        let host: DiagnosisDestination.Host = IPAddress(name).map { .address(HostAddress($0)) } ?? .name(name)
        return .init(url: "http://\(proxy)", host: host, port: port)
    }

    private func result(of task: DiagnosisTask) -> DiagnosisResult { change(task) ?? Self.healthy(task) }

    static func healthy(_ task: DiagnosisTask) -> DiagnosisResult {
        switch task {
        case .internet: .path(PathFact(status: .reachable, ipv4: path(.ipv4), ipv6: path(.ipv6)))
        case .path(let host), .pathAgain(let host): .path(path(to: host.address))
        case .servers: .servers([server, secondServer])
        case .solicit: .solicited(.answered)
        case .ask(let question): .asked(answer(to: question))
        case .resolve(let name):
            .resolved(name == "www.example.net" ? .addresses([web.address, web6.address]) : .noAddress)
        case .connect: .connected(.connected)
        case .ping: .pinged(.answered)
        case .exchange(let exchange):
            .exchanged(ExchangeAnswer(.response(200), page: exchange.destination.isEndpoint ? .expected : nil))
        case .trace: .traced(PathTrace(hops: [PathTrace.Hop(distance: 1, address: gateway)], end: .silent))
        case .sample: .sampled(LineSample(sent: 120, answered: 120, roundTrip: .milliseconds(12)))
        case .owners(let hop): .owners(hop.address == gateway ? [.at("02:00:00:00:00:01")] : [])
        case .burst: .burst(BurstAnswer(sent: 8))
        case .hosts: .listed([])
        case .forward: .pinged(.silent)
        case .connectFrom, .connectBy: .connected(.silent)
        case .nextHops: .nextHops([])
        case .addresses: .addresses([])
        case .routers, .rivals: .routers([])
        case .entry: .owners([])
        }
    }

    private static func answer(to question: NameServerQuestion) -> NameServerAnswer {
        guard question.name == "www.example.net" else { return .noSuchName }
        return .addresses([question.family == .ipv4 ? web.address : web6.address])
    }

    /// The path to an address: directly on the link, or by the gateway.
    static func path(to address: IPAddress) -> PathFact {
        let isOnLink = IPPrefix("192.0.2.0/24")?.contains(address) == true
        let way = path(address.family, isOnLink: isOnLink)
        return PathFact(
            status: .reachable, ipv4: address.family == .ipv4 ? way : .notAsked,
            ipv6: address.family == .ipv6 ? way : .notAsked)
    }

    static func pathWithoutGateway(to address: IPAddress) -> PathFact {
        var fact = path(to: address)
        fact.ipv4.gateway = nil
        return fact
    }

    static func path(_ family: IPAddress.Family, isOnLink: Bool = false) -> NetworkPath {
        var path = NetworkPath(status: .reachable)
        path.interface = "up0"
        path.interfaceIndex = 2
        path.linkClass = .wired
        if !isOnLink { path.gateway = family == .ipv4 ? gateway : IPAddress("2001:db8::1") }
        path.source = IPAddress(family == .ipv4 ? "192.0.2.2" : "2001:db8::2")
        return path
    }

    /// The kernel has no working path at all.
    static func broken(_ reason: Reason, _ cause: RootCause.Kind?) -> Change {
        { task in
            func fact(_ families: [IPAddress.Family]) -> DiagnosisResult {
                let path = NetworkPath(status: .notReachable, reason: reason)
                return .path(
                    PathFact(
                        status: .notReachable, reason: reason, rootCause: cause.map { RootCause($0, interface: "up0") },
                        ipv4: families.contains(.ipv4) ? path : .notAsked,
                        ipv6: families.contains(.ipv6) ? path : .notAsked))
            }
            switch task {
            case .internet: return fact([.ipv4, .ipv6])
            case .path(let host): return fact([host.family])
            case .resolve: return .resolved(.notAsked)
            default: return nil
            }
        }
    }

    /// Nothing beyond the first hop answers in these families.
    static func dark(_ families: Set<IPAddress.Family>) -> Change {
        { task in
            switch task {
            case .ask(let question) where families.contains(question.server.host.family): .asked(.silent)
            case .resolve where families.contains(.ipv4): .resolved(.notAsked)
            case .connect(let host, _) where families.contains(host.family): .connected(.silent)
            case .ping(let host, _) where families.contains(host.family): .pinged(.silent)
            default: nil
            }
        }
    }
}

extension IPAddress {
    static func at(_ text: String) -> IPAddress { IPAddress(text) ?? IPAddress(ipv4: 0) }

    /// The same for what is asked again and again: half the time of a draw went into reading addresses.
    static func literal(_ text: String) -> IPAddress {
        literals.withLock { known in
            if let address = known[text] { return address }
            let address = at(text)
            known[text] = address
            return address
        }
    }

    private static let literals = Mutex<[String: IPAddress]>([:])
}

extension HardwareAddress {
    static func at(_ text: String) -> HardwareAddress {
        guard let address = HardwareAddress(text) else { preconditionFailure("\(text) is no hardware address") }
        return address
    }
}
