internal import Glibc
internal import ReachCore
package import ReachKernel
package import ReachLoop
package import ReachRecords
package import ReachTransfer

/// Carries out the tasks of a ``DiagnosisMachine`` until it is complete or the time is over. Confined to the loop's
/// thread.
package final class DiagnosisRunner {
    /// How long parts of a diagnosis may take. All of them together fit into ``whole``.
    enum Limit {
        static let whole = Duration.milliseconds(9700)
        /// The C library waits five seconds for the first name server.
        static let name = Duration.milliseconds(5200)
        /// A satellite line with full queues takes more than two seconds for a round trip.
        static let connection = Duration.milliseconds(3200)
        static let exchange = Duration.milliseconds(2800)
        /// Second exchanges, which show why the first one failed.
        static let secondExchange = Duration.milliseconds(2000)
        /// On a line with a long round trip.
        static let slowExchange = Duration.milliseconds(5500)
        static let ping = Duration.milliseconds(2800)
        static let trace = Duration.milliseconds(1500)
    }

    let loop: EventLoop
    let transfers: TransferEngine
    let snapshot: KernelSnapshot
    private var machine: DiagnosisMachine
    private let pages: [DiagnosisDestination: ConnectivityEndpoint]
    private let completion: (Diagnosis) -> Void
    private var running: [DiagnosisTask: any DiagnosisAttempt] = [:]
    private var deadline: TimerQueue.ID?
    private let drops = ReversePathDrops()
    private let inputDrops = InputDrops()
    private var isOver = false
    /// The paths to all that was tested.
    private var paths: [NetworkPath] = []
    private let system = SystemResolver()
    private let replies: LoopReplies
    /// The time for everything; not ``Limit/whole`` only in tests.
    var limit = Limit.whole
    /// Below it the files of DHCP clients are read; not `/` only in tests.
    var leaseRoot = "/"

    /// - Parameters:
    ///   - pages: The pages with a known answer, by the destinations in the evidence that stand for them.
    ///   - completion: Called once, after this returns.
    package init(
        _ evidence: DiagnosisEvidence, pages: [DiagnosisDestination: ConnectivityEndpoint], loop: EventLoop,
        transfers: TransferEngine, snapshot: KernelSnapshot, completion: @escaping (Diagnosis) -> Void
    ) {
        machine = DiagnosisMachine(evidence)
        self.pages = pages
        self.loop = loop
        self.transfers = transfers
        self.snapshot = snapshot
        self.completion = completion
        replies = LoopReplies(loop: loop)
    }

    package func start() {
        deadline = loop.schedule(at: SystemClock.boot + limit) { [weak self] in
            self?.deadline = nil
            self?.finish()
        }
        loop.afterEvents { [weak self] in self?.advance() }
    }

    private func advance() {
        guard !isOver else { return }
        for task in machine.nextTasks() { begin(task) }
        if machine.isComplete { finish() }
    }

    private func finish() {
        guard !isOver else { return }
        isOver = true
        deadline.map(loop.cancel)
        running = [:]
        machine.record(reversePathDrops: drops.sinceStart)
        machine.record(inputDrops: inputDrops.sinceStart)
        machine.record(life: Self.life)
        machine.record(silentTunnels: silentTunnels)
        machine.record(portalAPI: portalAPI)
        machine.record(
            namesServers: ResolverText.nameServers(in: SmallFile.text("/etc/resolv.conf") ?? "").isEmpty == false)
        completion(machine.diagnosis)
    }

    private func begin(_ task: DiagnosisTask) {
        let started = SystemClock.boot
        let end: (DiagnosisResult) -> Void = { [weak self] result in
            guard let self, !isOver else { return }
            running[task] = nil
            machine.record(result, of: task, after: SystemClock.boot - started)
            advance()
        }
        // Results come later, so that each task has begun before another ends.
        let later: (DiagnosisResult) -> Void = { [loop] result in loop.afterEvents { end(result) } }
        switch task {
        case .internet: later(.path(path(to: .internet)))
        case .path(let host), .pathAgain(let host): later(.path(path(to: host.target)))
        case .servers:
            transfers.resolver.findServers { servers in
                end(.servers((servers + Self.servers(behind: servers)).map { NameServerAddress($0) }))
            }
        case .resolve(let name): resolve(name) { end(.resolved($0)) }
        case .solicit(let hop):
            running[task] = Solicitation(hop, snapshot.view.queries, loop) { end(.solicited($0)) }
        case .ask(let question): running[task] = NameServerAttempt(question, loop) { end(.asked($0)) }
        case .connect(let host, let port):
            running[task] = ConnectionAttempt(host, port, loop) { end(.connected($0)) }
        case .connectFrom(let source, let host, let port):
            running[task] = ConnectionAttempt(host, port, from: source, loop) { end(.connected($0)) }
        case .nextHops(let host): later(.nextHops(nextHops(to: host)))
        case .connectBy(let hop, let host, let port):
            let binding = InterfaceBinding(name: hop.interface, index: UInt32(bitPattern: hop.interfaceIndex))
            running[task] = ConnectionAttempt(host, port, by: binding, loop) { end(.connected($0)) }
        case .addresses(let index, let family): later(.addresses(addresses(of: index, family)))
        case .routers(let index, let family): later(.routers(routers(on: index, family)))
        case .rivals(let hop): later(.routers(rivals(of: hop)))
        case .ping(let host, let isLarge):
            running[task] = SizedPing(host, isLarge: isLarge, loop) { end(.pinged($0)) }
        case .trace(let host): running[task] = TraceAttempt(host, loop) { end(.traced($0)) }
        case .sample(let host): running[task] = LineSampler(host, loop) { end(.sampled($0)) }
        case .owners(let hop): running[task] = OwnersAttempt(hop, loop) { end(.owners($0)) }
        case .entry(let hop):
            let key = Neighbour.Key(interface: hop.interfaceIndex, address: hop.address)
            let entry = (try? snapshot.view.queries.neighbourEntry(key)) ?? nil
            later(.owners(entry?.hardwareAddress.map { [$0] } ?? []))
        case .forward(let hop, let owner, let host):
            let source = machine.evidence.source(to: host)
            running[task] = ForwardAttempt(hop, owner, host, from: source, loop) { end(.pinged($0)) }
        case .burst(let host, let port):
            let link = machine.evidence.hop(to: host)?.interfaceIndex
            running[task] = BurstAttempt(host, port, on: link, loop) { end(.burst($0)) }
        case .hosts(let name):
            let text = SmallFile.text("/etc/hosts") ?? ""
            later(.listed(ResolverConfiguration(resolv: "", hosts: text).hosts[name.lowercased()] ?? []))
        case .exchange(let exchange):
            let roundTrip = machine.evidence.duration(.connect(exchange.address, port: exchange.port))
            running[task] = ExchangeAttempt(
                exchange, pages[exchange.destination], roundTrip: roundTrip, transfers, loop
            ) {
                end(.exchanged($0))
            }
        }
    }

    /// The servers that systemd-resolved asks, where it is the machine's resolver.
    private static func servers(behind known: [ResolverConfiguration.Server]) -> [ResolverConfiguration.Server] {
        guard known.allSatisfy(\.address.isLoopback),
            let text = SmallFile.text("/run/systemd/resolve/resolv.conf"), text.containsUTF8("nameserver")
        else { return [] }
        return ResolverConfiguration(resolv: text, hosts: "").servers.filter { !known.contains($0) }
    }

    /// Where this process may not ask for a tunnel's peers, it is not among them.
    private var silentTunnels: [InterfaceIndex: TunnelSilence] {
        let now = SystemClock.now.wall
        var found: [InterfaceIndex: TunnelSilence] = [:]
        for index in Set(paths.compactMap(\.interfaceIndex)) {
            found[index] = snapshot.view.silence(ofTunnel: index, at: now)
        }
        return found
    }

    /// What the leases of the links on the way announce; `nil` for nothing that could be asked. What routers announce
    /// only a program hears that ran then: the daemon.
    private var portalAPI: String? {
        for path in paths {
            guard let name = path.interface, let index = path.interfaceIndex, let source = path.source,
                let uri = LeaseReader(root: leaseRoot).portal(of: name, index, addresses: [source]),
                case .api(let endpoint) = PortalURI(uri)
            else { continue }
            return endpoint.url
        }
        return nil
    }

    private func addresses(of index: InterfaceIndex, _ family: IPAddress.Family) -> [InterfaceAddress] {
        let all = (try? snapshot.view.queries.addresses(of: index)) ?? []
        return all.filter { $0.address.family == family }
    }

    /// The gateways of all default routes of a link, in any table.
    private func routers(on index: InterfaceIndex, _ family: IPAddress.Family) -> [IPAddress] {
        gateways(of: defaultRoutes(family), on: index)
    }

    /// Several on one link cannot be told apart by a socket that is bound to it.
    private func nextHops(to host: HostAddress) -> [FirstHop] {
        let routes = ((try? snapshot.view.queries.routes(of: .unicast, host.family)) ?? []).filter {
            $0.destination.contains(host.address)
        }
        let longest = routes.map(\.destination.length).max()
        let best = routes.filter { $0.destination.length == longest }.min { $0.metric ?? 0 < $1.metric ?? 0 }
        let hops = (best?.hops ?? []).compactMap { hop -> FirstHop? in
            guard let gateway = hop.gateway, let index = hop.interface,
                let name = (try? snapshot.view.queries.link(index))??.name
            else { return nil }
            return FirstHop(interface: name, interfaceIndex: index, address: gateway)
        }
        return Set(hops.map(\.interfaceIndex)).count == hops.count && hops.count > 1 ? hops : []
    }

    private func rivals(of hop: FirstHop) -> [IPAddress] {
        let routes = defaultRoutes(hop.address.family)
        let own = routes.first { gateways(of: [$0], on: hop.interfaceIndex).contains(hop.address) }
        guard let own else { return [] }
        // Without a metric it is 0.
        let others = routes.filter { $0.table == own.table && $0.metric ?? 0 <= own.metric ?? 0 }
        return gateways(of: others, on: hop.interfaceIndex).filter { $0 != hop.address }
    }

    private func defaultRoutes(_ family: IPAddress.Family) -> [Route] {
        ((try? snapshot.view.queries.routes(of: .unicast, family)) ?? []).filter { $0.destination.length == 0 }
    }

    private func gateways(of routes: [Route], on index: InterfaceIndex) -> [IPAddress] {
        routes.flatMap(\.hops).filter { $0.interface == index }.compactMap(\.gateway)
    }

    private func path(to target: Target) -> PathFact {
        guard let state = try? snapshot.state(of: target) else {
            return PathFact(status: .unknown, reason: .cannotObserve)
        }
        paths += [state.ipv4, state.ipv6]
        return PathFact(
            status: state.status, reason: state.reason, rootCause: state.rootCause, ipv4: state.ipv4, ipv6: state.ipv6)
    }

    /// For how many routers packets of IPv4 live. By IPv6 each router says so for its link.
    private static var life: Int? {
        SmallFile.text("/proc/sys/net/ipv4/ip_default_ttl")?.split(scalar: "\n").first.flatMap { Int($0) }
    }

    private func resolve(_ name: String, _ completion: @escaping (NameAnswer) -> Void) {
        var isAnswered = false
        let end: (NameAnswer) -> Void = { answer in
            guard !isAnswered else { return }
            isAnswered = true
            completion(answer)
        }
        let reply = replies.expect { (answer: NameAnswer) in end(answer) }
        system.resolve(name) { reply($0) }
        loop.schedule(at: SystemClock.boot + Limit.name) { end(.notAsked) }
    }
}

/// A task under way. It ends when it is released.
protocol DiagnosisAttempt: AnyObject {}

extension NameServerAddress {
    fileprivate init(_ server: ResolverConfiguration.Server) {
        self.init(HostAddress(server.address, zone: server.zone), port: server.port)
    }
}

extension HostAddress {
    fileprivate var target: Target {
        guard let zone else { return .address(address) }
        return (try? Target.host("\(address)%\(zone)")) ?? .address(address)
    }

    /// The number of the zone's interface; 0 without one.
    var scope: UInt32 { zone.flatMap(LinkName.index(ofZone:)) ?? 0 }

    func socketAddress(_ port: UInt16) -> SocketAddress {
        SocketAddress(address: address, port: port, scope: scope)
    }
}

/// The packets that the kernel has dropped because answers to their sender would leave by another interface
/// (rp_filter).
struct ReversePathDrops {
    private let atStart = Self.count

    var sinceStart: UInt64 {
        let count = Self.count
        return count - min(atStart, count)
    }

    /// The counter `IPReversePathFilter` of this network namespace: lines of names and of values, in turn.
    private static var count: UInt64 {
        let lines = (SmallFile.text("/proc/thread-self/net/netstat") ?? "").split(scalar: "\n").map {
            $0.split(scalar: " ")
        }
        for (names, values) in zip(lines, lines.dropFirst()) where names.first == values.first {
            guard let place = names.firstIndex(of: "IPReversePathFilter"), place < values.count else { continue }
            return UInt64(values[place]) ?? 0
        }
        return 0
    }
}
