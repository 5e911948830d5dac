import ReachCore
import ReachLoop
import ReachQueue
import Testing

@testable import ReachQueueRuntime

/// The routes to many destinations: what they cost, and which paths they make.
@Suite struct RouteFeedTests {
    /// A kernel whose routes the test chooses, and that counts the lookups.
    private final class Network: QueueNetwork {
        var answer: AddressRoute = .byDefault()
        var lookups = 0
        var largest = 0
        /// The addresses that are followed.
        var followed: Set<IPAddress> { watched.values.reduce(into: []) { $0.formUnion($1) } }
        private var watched: [Int: Set<IPAddress>] = [:]
        private var handlers: [Int: () -> Void] = [:]
        private var last = 0

        func followNetwork(_ handler: @escaping (NetworkSnapshot?) -> Void) -> () -> Void { {} }

        func follow(
            _ target: Target, for owner: UInt32?, _ handler: @escaping (TargetEvent) -> Void
        ) -> () -> Void { {} }

        func routes(to addresses: [RoutedAddress]) -> [AddressRoute]? {
            lookups += addresses.count
            largest = max(largest, addresses.count)
            return addresses.map { _ in answer }
        }

        func followRoutes(to addresses: Set<IPAddress>, _ handler: @escaping () -> Void) -> () -> Void {
            last += 1
            let number = last
            (handlers[number], watched[number]) = (handler, addresses)
            return { [weak self] in
                self?.handlers[number] = nil
                self?.watched[number] = nil
            }
        }

        func change() { for handler in handlers.values { handler() } }
    }

    /// A feed over such a kernel, and what it reports.
    private final class Scene {
        let network = Network()
        private(set) lazy var feed = RouteFeed(
            loop: loop, network: network, feed: { [paths] in paths }, server: { $0.target?.subject }
        ) { [unowned self] in reported += $0 }
        var reported: [DestinationRoute] = []
        private let loop: EventLoop
        private let paths = PathFeed { _ in }

        init() throws { loop = try EventLoop() }

        func run(for duration: Duration) {
            loop.schedule(at: SystemClock.boot + duration) { [loop] in loop.stop() }
            loop.run()
        }
    }

    private static func destination(_ number: Int) throws -> Destination {
        try Destination(url: "http://10.0.\(number / 250).\(number % 250 + 1)/")
    }

    @Test func `a thousand destinations cost one lookup each for a change, however often it is announced`() throws {
        let scene = try Scene()
        let (network, feed) = (scene.network, scene.feed)
        feed.update(isKnown: true)
        for number in 0..<1000 { feed.follow(try Self.destination(number)) }
        scene.run(for: .seconds(1))
        #expect(scene.reported.count == 1000)
        network.lookups = 0
        (network.largest, scene.reported) = (0, [])
        network.answer = .own(HostRoute(to: IPAddress(ipv4: 0x0a00_0001), interface: 2, name: "eth0"))
        for _ in 0..<20 { network.change() }
        scene.run(for: .seconds(1))
        #expect(network.lookups == 1000)
        #expect(network.largest <= 256)
        #expect(scene.reported.count == 1000 && scene.reported.allSatisfy { $0.own.map(\.interface) == ["eth0"] })
        // What does not differ is not reported.
        network.change()
        scene.run(for: .seconds(1))
        #expect(scene.reported.count == 1000)
    }

    @Test func `one destination more, or less, costs no lookup of the others`() throws {
        let scene = try Scene()
        let (network, feed) = (scene.network, scene.feed)
        feed.update(isKnown: true)
        for number in 0..<1000 { feed.follow(try Self.destination(number)) }
        scene.run(for: .seconds(1))
        network.lookups = 0
        feed.follow(try Self.destination(1000))
        scene.run(for: .milliseconds(500))
        // At once, and when notices about it pass.
        #expect(network.lookups == 2 && scene.reported.count == 1001)
        for number in 0..<900 {
            feed.unfollow(try Self.destination(number))
            if number % 300 == 0 { scene.run(for: .milliseconds(10)) }
        }
        scene.run(for: .milliseconds(500))
        #expect(network.lookups == 2)
        #expect(network.followed.count == 101)
        // The others are still followed.
        (network.lookups, scene.reported) = (0, [])
        network.answer = .own(HostRoute(to: IPAddress(ipv4: 0x0a00_0001), interface: 2, name: "eth0"))
        network.change()
        scene.run(for: .milliseconds(500))
        #expect(network.lookups == 101 && scene.reported.count == 101)
    }

    @Test func `what probes prove while the kernel cannot be observed brings no route back`() throws {
        let scene = try Scene()
        let feed = scene.feed
        let destination = try Self.destination(1)
        feed.follow(destination)
        feed.update(isKnown: true)
        feed.update(isKnown: false)
        feed.update()
        #expect(scene.reported.last == DestinationRoute(destination, defaultFamilies: []))
        feed.update(isKnown: true)
        #expect(scene.reported.last == DestinationRoute(destination, defaultFamilies: [.ipv4]))
    }

    @Test func `a route that is not known is none, and before the first look nothing is reported`() throws {
        let scene = try Scene()
        let (network, feed) = (scene.network, scene.feed)
        let destination = try Self.destination(1)
        feed.follow(destination)
        #expect(scene.reported.isEmpty && network.lookups == 0)
        feed.update(isKnown: true)
        feed.update(isKnown: false)
        let families = scene.reported.map(\.defaultFamilies)
        #expect(families == [[.ipv4], []])
    }

    @Test(arguments: [
        ("192.168.1.7", nil, false, false), ("fe80::7", nil, false, false), ("fd00::7", nil, false, false),
        ("192.168.1.7", nil, true, true), ("192.168.1.7", "192.168.1.1", false, true),
        ("198.51.100.7", nil, false, true), ("2001:db8::7", nil, false, true),
    ])
    func `behind a portal only private addresses on the link, that the request itself names, are beyond doubt`(
        address: String, gateway: String?, isNamed: Bool, isDoubted: Bool
    ) throws {
        let feed = PathFeed { _ in }
        var survey = ConnectivitySurvey()
        var report = ConnectivityReport()
        report.ipv4 = .portal
        survey.interfaces["eth0"] = report
        feed.update(survey: survey)
        var route = HostRoute(to: try #require(IPAddress(address)), interface: 2, name: "eth0")
        route.gateway = gateway.flatMap(IPAddress.init)
        #expect(feed.path(by: [route], isNamed: isNamed).isDoubted == isDoubted)
    }

    struct Answered: Sendable, CustomTestStringConvertible {
        let url: String
        let address: String
        /// Whether the address is on the link itself.
        var isNeighbour = false
        var connectivity = Connectivity.limited
        /// Whether the request waits.
        let waits: Bool

        var testDescription: String { "\(url) at \(address), \(connectivity.rawValue)" }
    }

    @Test(arguments: [
        Answered(url: "http://api.example.org/", address: "10.9.8.7", waits: true),
        Answered(url: "http://api.example.org/", address: "192.0.2.1", isNeighbour: true, waits: true),
        Answered(url: "http://api.example.org/", address: "100.64.0.1", connectivity: .portal, waits: true),
        // Nothing is doubted: a host of one's own by a public name, or a company's.
        Answered(url: "http://api.example.org/", address: "10.9.8.7", connectivity: .full, waits: false),
        Answered(
            url: "http://api.example.org/", address: "192.168.1.7", isNeighbour: true, connectivity: .unknown,
            waits: false),
        // Whoever answers has to prove who it is.
        Answered(url: "https://api.example.org/", address: "10.9.8.7", waits: false),
        // Such a name is no public one.
        Answered(url: "http://nas.lan/", address: "192.168.1.7", isNeighbour: true, waits: false),
        Answered(url: "http://api.example.org/", address: "198.51.100.7", waits: false),
    ])
    func `in the clear, nothing is sent to a public name at a private address while something is wrong`(
        row: Answered
    ) throws {
        let feed = PathFeed { _ in }
        var survey = ConnectivitySurvey()
        var report = ConnectivityReport()
        report.ipv4 = row.connectivity
        survey.interfaces["eth0"] = report
        feed.update(survey: survey)
        let key = DefaultRoute.Key(family: .ipv4, interface: 2)
        feed.update(
            network: NetworkSnapshot(
                internet: Verdict(.reachable, reason: nil), epoch: 1,
                routes: [DefaultRoute(key: key, name: "eth0", traits: PathTraits())]))
        let (address, destination) = (try #require(IPAddress(row.address)), try Destination(url: row.url))
        var host = HostRoute(to: address, interface: 2, name: "eth0")
        host.gateway = row.isNeighbour ? nil : IPAddress("192.0.2.1")
        let route = feed.route(
            to: destination, by: [row.isNeighbour ? .own(host) : .byDefault()], of: [address], isNamed: true,
            doubt: AddressDoubt(of: destination, at: destination.target?.subject))
        let ways = route.own + (route.isByDefault ? feed.last?.paths ?? [] : [])
        #expect(ways.contains { $0.takes(exposesSecrets: false) } != row.waits)
    }

    @Test func `an address that is added, or deprecated, ends no connection, and one that is gone does`() throws {
        let (old, fresh) = (try #require(IPAddress("2001:db8:1::2")), try #require(IPAddress("2001:db8:2::2")))
        let feed = PathFeed { _ in }
        func epoch(with addresses: InterfaceAddress...) -> UInt64? {
            var route = DefaultRoute(
                key: DefaultRoute.Key(family: .ipv6, interface: 2), name: "eth0", traits: PathTraits())
            route.addresses = addresses
            feed.update(
                network: NetworkSnapshot(
                    internet: Verdict(.reachable, reason: nil), epoch: 1, routes: [route]))
            return feed.last?.epoch
        }
        func own(_ address: IPAddress, _ flags: InterfaceAddress.Flags = []) -> InterfaceAddress {
            InterfaceAddress(interface: 2, address: address, prefixLength: 64, flags: flags)
        }
        let before = epoch(with: own(old))
        #expect(epoch(with: own(old, .deprecated), own(fresh)) == before)
        #expect(feed.last?.paths.first?.sources == [old, fresh])
        #expect(epoch(with: own(fresh)) != before)
    }
}
