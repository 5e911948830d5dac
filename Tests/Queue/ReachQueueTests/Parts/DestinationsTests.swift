import ReachCore
import ReachTesting
import Testing

@testable import ReachQueue

@Suite struct DestinationsTests {
    private var destinations: Destinations
    private var random = SplitMix64(seed: 1)
    private let host: Destination

    init() throws {
        var policy = QueuePolicy()
        policy.slots.destination = 3
        destinations = Destinations(FixedPolicy(policy, seed: 1))
        host = try Destination(url: "https://a.example/")
    }

    private mutating func index(_ owner: UInt32 = 7, _ destination: Destination? = nil) -> DestinationIndex {
        destinations.index(of: .init(destination: destination ?? host, owner: owner), generation: 0)
    }

    private func group(generation: UInt32 = 0) -> RequestGroup {
        var group = RequestGroup(
            .init(condition: .any, destination: nil), gate: PathGate(missing: [], at: .at(0)), epoch: 1)
        group.path = .wired
        group.generation = generation
        return group
    }

    private func block(of index: DestinationIndex, _ group: RequestGroup, at time: BootTime) -> Blocker? {
        destinations.block(of: index, in: group, isRetry: false, isSpaced: false, at: time, epoch: 1)?.blocker
    }

    @Test mutating func `users share a site, which goes with the last record`() throws {
        let (first, second) = (index(7), index(8))
        #expect(first != second && index(7) == first)
        let site = try #require(destinations[host])
        #expect(destinations[site].records == [first, second] && destinations.allSites == [site])
        for index in [first, second] {
            destinations.join(index)
            destinations.leave(index, at: .at(1))
        }
        #expect(destinations[host] == nil && destinations.allSites.isEmpty)
    }

    @Test mutating func `a destination without requests is kept while its failures count`() {
        let index = index()
        destinations.join(index)
        destinations.leaveAlone(index, until: .at(50), at: .at(1))
        destinations.leave(index, at: .at(2))
        #expect(destinations[host] != nil && self.index() == index)
        #expect(destinations.trouble(at: index)?.askedUntil == .at(50))
    }

    @Test mutating func `a destination whose failures no longer count leaves nothing behind`() throws {
        let first = index(7)
        destinations.join(first)
        destinations.hold(off: first, until: .at(50), inEpoch: 1, at: .at(1))
        destinations.leave(first, at: .at(2))
        let other = index(7, try Destination(url: "https://b.example/"))
        destinations.join(other)
        destinations.leaveAlone(other, until: .at(3000), at: .at(1000))
        #expect(destinations[host] != nil && destinations.earliestTimer == .at(50))
        destinations.leave(other, at: .at(1000))
        #expect(destinations[host] == nil && destinations.attentive.isEmpty && destinations.earliestTimer == .at(3000))
        let next = index(8)
        #expect(next == first && destinations.trouble(at: next) == nil)
        #expect(block(of: next, group(), at: .at(1001)) == nil && destinations[next].count == 0)
    }

    @Test mutating func `attempts of all users count, but a user without any gets one more`() {
        let (first, second) = (index(7), index(8))
        for _ in 0..<3 { #expect(destinations.start(first, resume: 0, at: .at(1)) == false) }
        #expect(block(of: first, group(), at: .at(2)) == .concurrency && block(of: second, group(), at: .at(2)) == nil)
        _ = destinations.start(second, resume: 0, at: .at(2))
        #expect(block(of: second, group(), at: .at(3)) == .concurrency)
        for _ in 0..<2 { destinations.end(first) }
        #expect(block(of: first, group(), at: .at(4)) == nil && block(of: second, group(), at: .at(4)) == nil)
    }

    @Test mutating func `after a resume one attempt goes first, and each answer allows one more`() {
        let index = index()
        let isFirst = destinations.start(index, resume: 4, at: .at(1))
        #expect(isFirst)
        #expect(block(of: index, group(generation: 4), at: .at(2)) == .concurrency)
        _ = destinations.answered(index, by: "eth0", isSuccess: true, at: .at(2))
        #expect(block(of: index, group(generation: 4), at: .at(2)) == nil)
        #expect(block(of: index, group(generation: 5), at: .at(2)) == .concurrency)
    }

    @Test mutating func `a circuit breaker is for one interface, and an answer closes it`() throws {
        let index = index()
        let result = destinations.failed(
            index, by: "eth0", AttemptFailure(status: 503), trips: true, at: .at(1), using: &random)
        let opened = try #require(result)
        #expect(opened.step == 1 && opened.until > .at(1) && destinations.openBreakers == 1)
        #expect(destinations.attentive == [index] && destinations.earliestTimer == opened.until)
        #expect(block(of: index, group(), at: .at(2)) == .breaker)
        var other = group()
        other.path = .wifi
        #expect(block(of: index, other, at: .at(2)) == nil)
        #expect(destinations.popDue(at: opened.until, epoch: 1) == index && destinations.attentive == [index])
        #expect(destinations.answered(index, by: "wlan0", isSuccess: true, at: .at(3)) == false)
    }

    @Test mutating func `a wait after a failure of the network ends with its epoch`() {
        let index = index()
        destinations.hold(off: index, until: .at(90), inEpoch: 1, at: .at(1))
        #expect(block(of: index, group(), at: .at(2)) == .rate && destinations.attentive == [index])
        let block = destinations.block(of: index, in: group(), isRetry: false, isSpaced: false, at: .at(2), epoch: 2)
        #expect(block == nil)
    }

    @Test mutating func `a breaker of an earlier run waits for its requests, and never for long`() throws {
        let until = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: .at(1_000_000_000))
        let stored = StoredBreaker(destination: host, interface: "eth0", owner: 7, openUntil: until, step: 2)
        destinations.restore([stored], isLast: false, at: .at(1))
        #expect(destinations.openBreakers == 0)
        let index = index()
        destinations.restore([], isLast: true, at: .at(2))
        #expect(destinations.openBreakers == 1 && block(of: index, group(), at: .at(3)) == .breaker)
        let longest = BootTime.at(2) + QueuePolicy().breaker.openLongest
        #expect(block(of: index, group(), at: longest + .seconds(1)) == nil)
    }

    @Test mutating func `the first group that follows a route asks for it, and the last one ends that`() throws {
        _ = index()
        let site = try #require(destinations[host])
        let groups = [GroupIndex(rawValue: 0), GroupIndex(rawValue: 1)]
        destinations.separate(site)
        #expect(destinations.follow(site, groups[0], isTarget: false) == nil)
        #expect(destinations.follow(site, groups[1], isTarget: false) == groups[0])
        let route = DestinationRoute(host, own: [.wired])
        #expect(destinations.setRoute(route, of: site) && !destinations.setRoute(route, of: site))
        #expect(destinations[site].isSeparate && !destinations.usesDefaultRoutes(host))
        #expect(destinations.unfollow(site, groups[0], isTarget: false) == false)
        #expect(destinations.unfollow(site, groups[1], isTarget: false) == true)
        #expect(destinations.route(to: host) == nil && !destinations[site].isSeparate)
    }
}

@Suite struct NameLookupsTests {
    private var lookups = NameLookups()
    private let sites = (0..<10).map { SiteIndex(rawValue: $0) }

    private let names: [Destination]

    init() throws { names = try (0..<10).map { try Destination(url: "https://h\($0).example/") } }

    @Test mutating func `a name is looked up once at a time, and once in each network`() {
        #expect(lookups.isDue(sites[0]) && lookups.begin(sites[0], names[0], for: [7], at: .at(1)) == 7)
        #expect(lookups.begin(sites[0], names[0], for: [7], at: .at(1)) == nil && !lookups.isDue(sites[0]))
        lookups.networkChanged()
        #expect(lookups.isDue(sites[0]))
        lookups.ended(names[0])
        lookups.ended(sites[0], isResolved: false, at: .at(2))
        lookups.scheduleNext(sites[0], isStranded: true, at: .at(2))
        #expect(lookups.earliestTimer == .at(2) && lookups.unresolvedSince(sites[0]) == .at(2))
    }

    @Test mutating func `waits double up to fifteen minutes`() {
        for wait in [30, 60, 120, 240, 480, 900, 900] {
            _ = lookups.begin(sites[0], names[0], for: [7], at: .at(0))
            lookups.ended(names[0])
            lookups.scheduleNext(sites[0], isStranded: true, at: .at(0))
            #expect(lookups.earliestTimer == .at(Double(wait)))
        }
        lookups.forget(sites[0])
        #expect(lookups.earliestTimer == nil && lookups.isDue(sites[0]))
    }

    @Test mutating func `a name whose requests have a path is not looked up again, and its next waits are short`() {
        for wait in [30, 60] as [Int64] {
            _ = lookups.begin(sites[0], names[0], for: [7], at: .at(0))
            lookups.ended(names[0])
            lookups.scheduleNext(sites[0], isStranded: true, at: .at(0))
            #expect(lookups.popDue(at: .at(Double(wait))) == sites[0])
        }
        lookups.scheduleNext(sites[0], isStranded: false, at: .at(60))
        #expect(lookups.earliestTimer == nil)
        lookups.scheduleNext(sites[0], isStranded: true, at: .at(100))
        #expect(lookups.earliestTimer == .at(130))
    }

    @Test mutating func `one user has at most four lookups, and all users eight`() {
        for number in 0..<4 { #expect(lookups.begin(sites[number], names[number], for: [7], at: .at(0)) == 7) }
        #expect(lookups.begin(sites[4], names[4], for: [7], at: .at(0)) == nil && lookups.earliestTimer == .at(1))
        for number in 4..<8 { #expect(lookups.begin(sites[number], names[number], for: [7, 8], at: .at(0)) == 8) }
        #expect(lookups.begin(sites[8], names[8], for: [9], at: .at(0)) == nil)
    }
}
