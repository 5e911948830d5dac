import Glibc
import ReachCore
import ReachKernel
import ReachLoop
import ReachTesting
import ReachTransfer
import Testing

@testable import ReachProbe
import ReachRecords

/// Each kind of test that `reach explain --probe` makes, on a line that works and on lines that are broken.
@Suite(.enabled(if: SmallInternet.whyNot == nil, "\(SmallInternet.whyNot ?? "")"), .timeLimit(.minutes(2)))
struct DiagnosisAttemptTests {
    private static let web = HostAddress(.at("198.51.100.80"))
    private static let web6 = HostAddress(.at("2001:db8:80::80"))
    private static let gateway = IPAddress.at("192.0.2.1")
    private static let gateway6 = IPAddress.at("2001:db8::1")

    private static func small() throws -> SmallInternet {
        let small = try SmallInternet()
        try small.machine.run("sysctl", "-qw", "net.ipv4.ping_group_range=0 2147483647")
        return small
    }

    /// The answer of an attempt on the machine; `nil` if it gives none, or more than one.
    private static func answer<Answer: Sendable>(
        in small: SmallInternet,
        _ make: @escaping @Sendable (EventLoop, @escaping (Answer) -> Void) throws -> any DiagnosisAttempt
    ) async throws -> Answer? {
        try await small.machine.perform {
            let loop = try EventLoop()
            var answers: [Answer] = []
            let attempt = try make(loop) { answer in
                answers.append(answer)
                // What it does after its answer would be a second one.
                loop.schedule(at: SystemClock.boot + .milliseconds(20)) { loop.stop() }
            }
            loop.schedule(at: SystemClock.boot + .seconds(12)) { loop.stop() }
            loop.run()
            withExtendedLifetime(attempt) {}
            return answers.count == 1 ? answers[0] : nil
        }
    }

    // MARK: - The way

    private static func trace(_ host: HostAddress, in small: SmallInternet) async throws -> PathTrace? {
        try await answer(in: small) { TraceAttempt(host, $0, $1) }
    }

    @Test func `a trace names the router, and reaches the target`() async throws {
        let small = try Self.small()
        let ipv4 = try await Self.trace(Self.web, in: small)
        #expect(ipv4 == PathTrace(hops: [.init(distance: 1, address: Self.gateway)], end: .reached))
        let ipv6 = try await Self.trace(Self.web6, in: small)
        #expect(ipv6 == PathTrace(hops: [.init(distance: 1, address: Self.gateway6)], end: .reached))
    }

    @Test func `a trace ends where nothing passes, and names who forbids it or has no way`() async throws {
        let small = try Self.small()
        // No route of the router leads there.
        let lost = try await Self.trace(HostAddress(.at("198.18.0.1")), in: small)
        #expect(lost?.end == .unreachable(by: Self.gateway))
        #expect(lost?.isHostMissing == false)
        try small.goDark()
        let dark = try await Self.trace(Self.web, in: small)
        #expect(dark == PathTrace(hops: [.init(distance: 1, address: Self.gateway)], end: .silent))
        try small.comeBack()
        try small.router.run(
            "nft",
            """
            add table inet no; add chain inet no f { type filter hook forward priority 0; }
            add rule inet no f reject with icmpx admin-prohibited
            """)
        let forbidden = try await Self.trace(Self.web, in: small)
        #expect(forbidden?.end == .prohibited(by: Self.gateway))
    }

    @Test func `an echo request is answered, and one that no link of the way carries is too large`() async throws {
        let small = try Self.small()
        func ping(_ host: HostAddress, isLarge: Bool) async throws -> PingAnswer? {
            try await Self.answer(in: small) { SizedPing(host, isLarge: isLarge, $0, $1) }
        }
        for host in [Self.web, Self.web6] {
            #expect(try await ping(host, isLarge: false) == .answered)
            #expect(try await ping(host, isLarge: true) == .answered)
        }
        try small.router.run("ip", "link", "set", "wan0", "mtu", "1300")
        // Whatever this machine does with other packets that are too large.
        try small.machine.run("sysctl", "-qw", "net.ipv4.ip_no_pmtu_disc=1")
        for host in [Self.web, Self.web6] {
            #expect(try await ping(host, isLarge: false) == .answered)
            #expect(try await ping(host, isLarge: true) == .tooLarge)
        }
        try small.goDark()
        #expect(try await ping(Self.web, isLarge: false) == .silent)
        try small.machine.run("ip", "route", "del", "default")
        #expect(try await ping(Self.web, isLarge: false) == .unreachable(ENETUNREACH))
        try small.machine.run("sysctl", "-qw", "net.ipv4.ping_group_range=1 0")
        #expect(try await ping(Self.web6, isLarge: false) == .notPermitted)
    }

    @Test func `a sample counts what is answered, and what is not`() async throws {
        let small = try Self.small()
        func sample(_ host: HostAddress) async throws -> LineSample? {
            try await Self.answer(in: small) { LineSampler(host, $0, $1) }
        }
        for host in [Self.web, Self.web6] {
            let whole = try #require(try await sample(host))
            #expect(whole.sent == 120 && whole.answered == 120)
            #expect((whole.roundTrip ?? .zero) > .zero && whole.jitter != nil)
        }
        try small.goDark("ip protocol icmp icmp type echo-request numgen inc mod 2 0")
        let half = try #require(try await sample(Self.web))
        #expect(half.sent == 120 && half.answered == 60)
        try small.comeBack()
        try small.goDark()
        let none = try #require(try await sample(Self.web))
        #expect(none == LineSample(sent: 120, answered: 0))
    }

    // MARK: - Neighbours

    /// - Parameter address: A host on the machine's link.
    private static func hop(_ address: IPAddress) -> FirstHop {
        FirstHop(interface: "up0", interfaceIndex: InterfaceIndex(bitPattern: if_nametoindex("up0")), address: address)
    }

    @Test func `the owners of an address are those who answer for it`() async throws {
        let small = try Self.small()
        func owners(_ address: IPAddress) async throws -> [HardwareAddress]? {
            try await Self.answer(in: small) { OwnersAttempt(Self.hop(address), $0, $1) }
        }
        let link = try small.router.run("ip", "-br", "link", "show", "up1").split(separator: " ")
        let router = try #require(HardwareAddress(String(link[2])))
        #expect(try await owners(Self.gateway) == [router])
        #expect(try await owners(.at("192.0.2.77")) == [])
        // Another way through the router answers, and a stranger does not.
        func forward(by owner: HardwareAddress) async throws -> PingAnswer? {
            try await Self.answer(in: small) {
                ForwardAttempt(Self.hop(Self.gateway), owner, Self.web, from: .at("192.0.2.2"), $0, $1)
            }
        }
        #expect(try await forward(by: router) == .answered)
        #expect(try await forward(by: try #require(HardwareAddress("02:00:00:00:00:77"))) == .silent)
        let withoutSource = try await Self.answer(in: small) {
            ForwardAttempt(Self.hop(Self.gateway), router, Self.web, from: nil, $0, $1)
        }
        #expect(withoutSource == .failed(EINVAL))
    }

    // MARK: - Servers

    @Test func `a name server's answer differs from its silence, a closed port and a firewall`() async throws {
        let small = try Self.small()
        let server = IPAddress.at(SmallInternet.nameServer)
        func ask(
            _ name: String, _ family: IPAddress.Family = .ipv4, isByTCP: Bool = false, port: UInt16 = 53
        ) async throws -> NameServerAnswer? {
            let question = NameServerQuestion(
                server: NameServerAddress(HostAddress(server), port: port), name: name, family: family, isByTCP: isByTCP
            )
            return try await Self.answer(in: small) { NameServerAttempt(question, $0, $1) }
        }
        for isByTCP in [false, true] {
            #expect(try await ask("check.example.net", isByTCP: isByTCP) == .addresses([Self.web.address]))
            #expect(try await ask("check.example.net", .ipv6, isByTCP: isByTCP) == .addresses([Self.web6.address]))
            #expect(try await ask("check.example.net", isByTCP: isByTCP, port: 5353) == .refused)
        }
        try small.goDark()
        #expect(try await ask("check.example.net") == .silent)
        try small.machine.run(
            "nft",
            """
            add table inet own; add chain inet own o { type filter hook output priority 0; }
            add rule inet own o udp dport 53 drop
            """)
        #expect(try await ask("check.example.net") == .failed(EPERM))
    }

    @Test func `a connection stands, is refused, or finds silence or a router that has no way`() async throws {
        let small = try Self.small()
        func connect(_ host: HostAddress, _ port: UInt16) async throws -> ConnectionAnswer? {
            try await Self.answer(in: small) { ConnectionAttempt(host, port, $0, $1) }
        }
        for host in [Self.web, Self.web6] {
            #expect(try await connect(host, 80) == .connected)
            #expect(try await connect(host, 81) == .refused)
        }
        guard case .unreachable(ENETUNREACH, let complaint)? = try await connect(HostAddress(.at("198.18.0.1")), 80)
        else {
            Issue.record("it is not unreachable")
            return
        }
        #expect(complaint?.meaning == .noWay)
        try small.goDark()
        #expect(try await connect(Self.web, 80) == .silent)
        try small.machine.run(
            "nft",
            """
            add table inet own; add chain inet own o { type filter hook output priority 0; }
            add rule inet own o tcp dport 80 drop; add rule inet own o tcp dport 81 reject with tcp reset
            """)
        #expect(try await connect(Self.web, 80) == .failed(EPERM))
    }

    @Test func `a burst tells a refusal that this machine makes from one that comes from elsewhere`() async throws {
        let small = try Self.small()
        func burst(_ host: HostAddress) async throws -> BurstAnswer? {
            try await Self.answer(in: small) { BurstAttempt(host, 81, on: nil, $0, $1) }
        }
        let there = try await burst(Self.web)
        #expect(there?.sent == 8 && there?.isRefusedHere == false && there?.droppedHere == 0)
        #expect(there?.passedBy == nil, "there is no second router")
        let far = try TestNamespace()
        try small.internet.run("ip", "link", "add", "far0", "type", "veth", "peer", "name", "far1", "netns", far.name)
        for (namespace, link, address) in [(small.internet, "far0", "198.18.0.1/24"), (far, "far1", "198.18.0.2/24")] {
            try namespace.run("ip", "address", "add", address, "dev", link)
            try namespace.run("ip", "link", "set", link, "up")
        }
        try far.run("ip", "route", "add", "default", "via", "198.18.0.1")
        try small.router.run("ip", "route", "add", "198.18.0.0/24", "via", "203.0.113.1")
        try small.internet.run("sysctl", "-qw", "net.ipv4.ip_forward=1")
        let beyond = try await burst(HostAddress(.at("198.18.0.2")))
        #expect(beyond?.passedBy == .at("203.0.113.1") && beyond?.isRefusedHere == false)
        far.remove()
        try small.machine.run(
            "nft",
            """
            add table inet own; add chain inet own o { type filter hook output priority 0; }
            add rule inet own o tcp dport 81 reject with tcp reset
            """)
        let here = try await burst(Self.web)
        #expect(here?.sent == 8 && here?.isRefusedHere == true && here?.droppedHere == 0, "\(String(describing: here))")
    }

    @Test func `an exchange has the status, the page, the clock and the certificate, or why there is none`()
        async throws
    {
        let small = try Self.small()
        var options = TransferEngine.Options()
        options.certificatesPath = small.authorityPath
        options.resolver.configurationPath = try small.resolverConfiguration()
        options.resolver.hostsPath = try small.hosts()
        let given = options
        func exchange(
            _ text: String, port: UInt16, _ variant: DiagnosisExchange.Variant = .normal, page: String? = nil
        ) async throws -> ExchangeAnswer? {
            let destination = try #require(try DiagnosisDestination.read(text))
            let exchange = DiagnosisExchange(destination, at: Self.web, port: port, variant: variant)
            return try await Self.answer(in: small) { loop, completion in
                ExchangeAttempt(
                    exchange, page.flatMap { ConnectivityEndpoint($0) }, roundTrip: nil,
                    try TransferEngine(loop: loop, options: given), loop, completion)
            }
        }
        let plain = try #require(try await exchange(SmallInternet.plain, port: 80, page: SmallInternet.plain))
        #expect(plain.ending == .response(204) && plain.page == .expected && plain.validity == nil)
        let skew = try #require(plain.clockSkew)
        #expect(skew > .seconds(-3) && skew < .seconds(3))
        #expect(!plain.isValidByServersClock)
        for variant in [.normal, .again, .smallSegments, .anyCertificate] as [DiagnosisExchange.Variant] {
            let secure = try #require(try await exchange(SmallInternet.secure, port: 443, variant))
            #expect(secure.ending == .response(204) && secure.page == nil)
            #expect(secure.isValidByServersClock && secure.validity != nil && secure.issuer != nil)
        }
        let handshake = try await exchange("tls://check.example.net", port: 443)
        #expect(handshake?.ending == .secured && handshake?.validity != nil)
        #expect(Self.failure(try await exchange("tls://other.example.net", port: 443)) == .certificateWrongHost)
        #expect(Self.failure(try await exchange("http://check.example.net:81/", port: 81)) == .refused)
        try small.openPortal()
        let portal = try await exchange(SmallInternet.plain, port: 80, page: SmallInternet.plain)
        #expect(portal?.ending == .response(302) && portal?.location == SmallInternet.login)
        #expect(portal?.page == .portal(SmallInternet.login))
        #expect(Self.failure(try await exchange(SmallInternet.secure, port: 443)) == .silent(.connect))
    }

    private static func failure(_ answer: ExchangeAnswer?) -> ExchangeAnswer.Failure? {
        guard case .failure(let failure, _)? = answer?.ending else { return nil }
        return failure
    }
}
