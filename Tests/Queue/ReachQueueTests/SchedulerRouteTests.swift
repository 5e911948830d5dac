import ReachCore
import Testing

@testable import ReachQueue

/// Requests follow the routes to their own destinations.
@Suite struct SchedulerRouteTests {
    private var stage = QueueStage()
    private static let url = "http://192.0.2.1/x"
    private static let name = "http://printer.example/x"

    @Test mutating func `an address on the link needs no path to the Internet`() throws {
        stage.network([], links: [2])
        let id = try stage.add(Self.url)
        let other = try stage.add("http://203.0.113.9/")
        try stage.route(Self.url, own: [.wired])
        try stage.route("http://203.0.113.9/", isByDefault: true)
        #expect(stage.startedIDs == [id])
        #expect(stage.starts[0].order.path.interface == "eth0")
        #expect(stage.blockers(other) == ["no-path"])
    }

    @Test mutating func `an address with a route of its own goes by no better default route`() throws {
        try stage.route(Self.url, own: [.wired.with { $0.isValidated = false }])
        stage.network([.wwan])
        _ = try stage.add(Self.url)
        #expect(stage.starts.map(\.order.path.interface) == ["eth0"])
        // Its route goes, and none is left that leads there.
        try stage.route(Self.url)
        let id = try stage.add(Self.url)
        stage.pass(.seconds(10))
        #expect(stage.blockers(id) == ["no-path"])
        #expect(stage.starts.count == 1)
    }

    @Test mutating func `an address without a route of its own takes the best default route that its condition allows`()
        throws
    {
        try stage.route(Self.url, isByDefault: true)
        stage.network([.wired, .wifi, .wwan])
        _ = try stage.add(Self.url)
        _ = try stage.add(Self.url, when: "wwan")
        #expect(stage.starts.map(\.order.path.interface) == ["eth0", "wwan0"])
    }

    @Test(arguments: [
        ("any", []), ("wifi", ["class"]), ("interface=wlan0", ["class"]), ("validated", ["validated"]),
        ("unmetered", []), ("family=6", ["family"]),
    ])
    mutating func `a condition looks at the path that the request would take`(text: String, missing: [String]) throws {
        try stage.route(Self.url, own: [.wired.with { $0.isValidated = false }])
        stage.network([.wifi.with { $0.families = [.ipv4, .ipv6] }])
        let id = try stage.add(Self.url, when: text)
        stage.pass(.seconds(5))
        #expect(stage.blockers(id) == missing || missing.isEmpty && stage.startedIDs == [id])
    }

    @Test mutating func `the explanation names the path and what it lacks`() throws {
        try stage.route(Self.url, own: [.wired])
        stage.network([.wifi])
        let id = try stage.add(Self.url, when: "wifi")
        #expect(
            stage.explanation(id)?.reasons.map(\.text) == [
                "The path to http://192.0.2.1:80, by eth0, does not satisfy 'wifi'."
            ])
        try stage.route(Self.url)
        #expect(stage.explanation(id)?.reasons.map(\.text) == ["There is no network path to http://192.0.2.1:80."])
    }

    @Test(arguments: [
        ("validated", "is not proved to reach the Internet."), ("unmetered", "is metered."),
        ("network=office", "does not satisfy 'network=office'."),
        ("not network=lab", "does not satisfy 'not network=lab'."),
        ("quality=good", "is not known to be good."),
    ])
    mutating func `what a host's own path lacks is not said of the others`(condition: String, lack: String) throws {
        func lab(_ path: QueuePath) -> QueuePath {
            path.with {
                $0.isValidated = false; $0.network = "lab"
            }
        }
        try stage.route(Self.url, own: [lab(.wwan)])
        stage.network([
            .wifi.with {
                $0.network = "office"; $0.quality = .good
            }
        ])
        let id = try stage.add(Self.url, when: condition)
        stage.pass(.seconds(5))
        let reason = try #require(stage.explanation(id)?.reasons.first)
        #expect(reason.text == "The path to http://192.0.2.1:80, by wwan0, \(lack)")
        guard condition == "validated" else { return }
        #expect(reason.remedy.hasPrefix("Only links with a default route are tested."))
        stage.network([.wifi, lab(.wwan)])
        #expect(stage.explanation(id)?.reasons.first?.remedy == "It starts when a probe has proved it.")
    }

    @Test mutating func `what is lacked of the default routes is named only where they are waited for`() throws {
        try stage.route(Self.url, own: [.wired])
        stage.network([])
        let own = try stage.add(Self.url, when: "wifi")
        let other = try stage.add(Self.name, when: "wifi")
        func lacks(_ id: RequestID) -> NetworkCondition? { stage.explanation(id)?.reasons.first?.lacks }
        #expect(try lacks(own) == nil && lacks(other) == NetworkCondition("wifi"))
        // It is there, and settles.
        stage.network([.wifi])
        let reason = try #require(stage.explanation(other)?.reasons.first)
        #expect(reason.until != nil && reason.lacks == nil)
    }

    @Test mutating func `the explanation names the tunnel past which nothing is sent`() throws {
        let tunnel = QueuePath.path(5, "wg0", .tunnel)
        try stage.route(Self.url, isByDefault: true)
        stage.network([tunnel], tunnels: ["wg0"])
        let wired = try stage.add(Self.name, when: "wired")
        let reason = try #require(stage.explanation(wired)?.reasons.first)
        #expect(reason.blocker.words[0] == "class" && reason.lacks == nil)
        #expect(reason.remedy.contains("into the tunnel wg0 and not past it") && reason.remedy.contains("satisfies"))
        stage.network([], tunnels: ["wg0"])
        let any = try stage.add(Self.name)
        let dead = try #require(stage.explanation(any)?.reasons.first)
        #expect(dead.blocker.words[0] == "no-path" && dead.remedy.contains("into the tunnel wg0 and not past it"))
        #expect(dead.remedy.contains("works"))
    }

    @Test mutating func `a host with addresses of both kinds goes by its own route, or else by default`() throws {
        try stage.route(Self.url, own: [.wired], isByDefault: true)
        stage.network([.wwan])
        _ = try stage.add(Self.url)
        _ = try stage.add(Self.url, when: "wwan")
        #expect(stage.starts.map(\.order.path.interface) == ["eth0", "wwan0"])
    }

    @Test mutating func `what probes doubt keeps what a portal must not read, by a route of its own too`() throws {
        try stage.route(Self.url, own: [.wired.with { $0.isDoubted = true }])
        stage.network([])
        let id = try stage.add(Self.url) {
            $0.method = "POST"; $0.body = .inline([1])
        }
        #expect(stage.blockers(id) == ["not-validated"])
        let plain = try stage.add(Self.url)
        #expect(stage.startedIDs == [plain])
    }

    // MARK: Changes

    @Test mutating func `an attempt by a default route may finish when its destination gets a route of its own`() throws
    {
        try stage.route(Self.url, isByDefault: true)
        stage.network([.wwan])
        let id = try stage.add(Self.url)
        try stage.route(Self.url, own: [.wired])
        stage.pass(.seconds(10))
        #expect(stage.aborted.isEmpty && stage.state(id) == .running)
        stage.answer(id)
        _ = try stage.add(Self.url)
        #expect(stage.starts.map(\.order.path.interface) == ["wwan0", "eth0"])
    }

    @Test mutating func `an attempt by a route of its own ends with it, whatever the default routes do`() throws {
        try stage.route(Self.url, own: [.wired])
        stage.network([.wwan])
        let id = try stage.add(Self.url)
        stage.network([.wwan, .wifi])
        stage.network([])
        stage.pass(.seconds(10))
        #expect(stage.aborted.isEmpty)
        try stage.route(Self.url)
        stage.pass(.seconds(3))
        #expect(stage.aborted == [id])
        #expect(stage.blockers(id) == ["no-path"])
    }

    @Test mutating func `what failed by one route is tried at once by another`() throws {
        try stage.route(Self.url, own: [.wired])
        stage.network([])
        let id = try stage.add(Self.url)
        stage.fail(id, .localNetwork)
        #expect(stage.state(id) == .backoff)
        try stage.route(Self.url, own: [.wifi])
        stage.pass(.seconds(1))
        #expect(stage.starts.map(\.order.path.interface) == ["eth0", "wlan0"])
    }

    @Test mutating func `a long wait after failures by one route ends soon when there is another one`() throws {
        try stage.route(Self.url, own: [.wired])
        stage.network([])
        let id = try stage.add(Self.url)
        func left(_ stage: QueueStage) -> Duration {
            let until = stage.explanation(id)?.reasons.compactMap(\.until?.boot).max()
            return until.map { $0 - stage.moment.boot } ?? .zero
        }
        for _ in 0..<30 where left(stage) < .seconds(20) {
            stage.pass(left(stage))
            stage.fail(id, .localNetwork)
        }
        #expect(left(stage) >= .seconds(20))
        try stage.route(Self.url, own: [.wifi])
        stage.pass(.seconds(2))
        #expect(stage.starts.last?.order.path.interface == "wlan0")
    }

    @Test mutating func `an attempt that turns out to go by another path is no canary of its first one`() throws {
        let destination = try Destination(url: Self.name)
        stage.network([])
        let id = try stage.add(Self.name)
        stage.network([.wwan])
        stage.pass(.seconds(60))
        func canaries() -> Int? {
            let gates = stage.queue.gates
            return gates.all.first { gates[$0].key.destination == nil }.map { gates[$0].gate.canaries[0]?.count ?? 0 }
        }
        #expect(stage.startedIDs == [id] && canaries() == 1)
        stage.send(.attemptRouted(id, .wired, DestinationRoute(destination, own: [.wired], defaultFamilies: [])))
        #expect(canaries() == 0)
    }

    @Test mutating func `a route is followed while requests need it`() throws {
        try stage.route(Self.url, own: [.wired])
        stage.network([])
        let ids = [try stage.add(Self.url), try stage.add(Self.url, when: "not wwan")]
        stage.answer(ids[0])
        #expect(stage.unfollowed.isEmpty)
        stage.answer(ids[1])
        #expect(stage.unfollowed == [try Destination(url: Self.url)])
    }

    // MARK: Families

    private static let both = QueuePath.wired.with { $0.families = [.ipv4, .ipv6] }

    @Test mutating func `an address in a family without a path waits for one, and is not tried meanwhile`() throws {
        let destination = try Destination(url: Self.url)
        stage.routes[destination] = DestinationRoute(destination, defaultFamilies: [.ipv6])
        stage.network([.wired])
        let id = try stage.add(Self.url)
        stage.pass(.seconds(60))
        #expect(stage.starts.isEmpty && stage.blockers(id) == ["no-path"])
        let reason = try #require(stage.explanation(id)?.reasons.first)
        #expect(reason.text.contains("has only an IPv6 address") && reason.lacks == nil)
        stage.network([Self.both])
        stage.pass(.seconds(10))
        #expect(stage.startedIDs == [id] && stage.starts.last?.order.path.families == [.ipv6])
    }

    @Test mutating func `a name that turns out to have only addresses without a path waits, and counts no failure`()
        throws
    {
        let destination = try Destination(url: Self.name)
        stage.network([.wired])
        let id = try stage.add(Self.name)
        #expect(stage.startedIDs == [id])
        let route = DestinationRoute(destination, defaultFamilies: [.ipv6])
        stage.routes[destination] = route
        stage.send(.attemptRouted(id, nil, route))
        stage.fail(id, .localNetwork)
        stage.pass(.seconds(60))
        #expect(stage.startedIDs == [id] && stage.blockers(id) == ["no-path"])
        let explanation = try #require(stage.explanation(id))
        #expect(explanation.attempts == 0 && explanation.networkFailures == 0)
        stage.network([Self.both])
        stage.pass(.seconds(10))
        #expect(stage.startedIDs == [id, id])
    }

    @Test mutating func `while there is no path at all, names stay together`() throws {
        let destination = try Destination(url: Self.name)
        stage.network([], links: [2])
        try stage.add(Self.name)
        stage.send(.lookedUp(destination, DestinationRoute(destination, defaultFamilies: [.ipv6])))
        let gates = stage.queue.gates
        #expect(gates.all.map { gates[$0].key.destination } == [nil])
    }

    // MARK: Names

    @Test
    mutating func `a name that no default route serves is looked up once in each network, then with growing waits`()
        throws
    {
        let destination = try Destination(url: Self.name)
        stage.network([], links: [2])
        let ids = try (0..<100).map { _ in try stage.add(Self.name) }
        #expect(stage.lookups == [destination])
        stage.send(.lookedUp(destination, nil))
        #expect(stage.blockers(ids[0]) == ["no-path", "name"])
        try stage.add(Self.name)
        #expect(stage.lookups.count == 1)
        stage.pass(.seconds(29))
        #expect(stage.lookups.count == 1)
        stage.pass(.seconds(2))
        #expect(stage.lookups.count == 2)
        stage.send(.lookedUp(destination, nil))
        stage.pass(.seconds(59))
        #expect(stage.lookups.count == 2)
        // A VPN comes up.
        stage.network([], newEpoch: false, links: [2, 7])
        #expect(stage.lookups.count == 3)
        stage.send(.lookedUp(destination, DestinationRoute(destination, own: [.wired], defaultFamilies: [])))
        stage.pass(.seconds(5))
        #expect(stage.starts.first?.order.path.interface == "eth0")
        #expect(stage.lookups.count == 3)
    }

    @Test mutating func `without a link no name is looked up, and nothing wakes`() throws {
        stage.network([])
        let id = try stage.add(Self.name)
        #expect(stage.pass(.seconds(3600)) == 0)
        #expect(stage.lookups.isEmpty)
        #expect(stage.blockers(id) == ["no-path"])
    }

    @Test mutating func `one user's names do not keep another's from being looked up`() throws {
        stage.network([], links: [2])
        for number in 0..<50 { try stage.add("http://host\(number).example/", by: 1000) }
        try stage.add("http://other.example/", by: 2000)
        stage.pass(.seconds(2))
        #expect(stage.lookups.contains(try Destination(url: "http://other.example/")))
        #expect(stage.lookups.count == 5)
    }

    @Test(arguments: ["the link goes", "a path comes", "nothing changes"])
    mutating func `a name whose turn has not come is looked up only if that is still of use`(change: String) throws {
        stage.network([], links: [2])
        for number in 0..<5 { try stage.add("http://host\(number).example/", by: 1000) }
        #expect(stage.lookups.count == 4)
        stage.send(.lookedUp(stage.lookups[0], nil))
        switch change {
        case "the link goes": stage.network([], newEpoch: false)
        case "a path comes": stage.network([.wired], newEpoch: false, links: [2])
        default: break
        }
        stage.pass(.seconds(2))
        #expect(stage.lookups.count == (change == "nothing changes" ? 5 : 4))
    }

    @Test mutating func `what an interceptor has when its name turns out to be on the link goes there, too`() throws {
        let destination = try Destination(url: Self.name)
        let route = DestinationRoute(destination, own: [.wired], defaultFamilies: [])
        stage.routes[destination] = route
        stage.send(.interceptors(["api"]))
        stage.network([.wwan])
        let prepared = try stage.add(Self.name) { $0.interceptor = "api" }
        let judged = try stage.add(Self.name) { $0.interceptor = "api" }
        stage.send(.prepared(judged, isReady: true))
        stage.send(.answerHeld(judged))
        let other = try stage.add(Self.name)
        // While it waits, the route is known.
        try stage.add(Self.name, when: "wifi")
        stage.send(.attemptRouted(other, .wired, route))
        stage.network([])
        stage.answer(other)
        stage.send(.prepared(prepared, isReady: true))
        stage.send(.judged(judged, .again(after: .zero)))
        for _ in 0..<20 {
            stage.pass(.seconds(1))
            for id in [prepared, judged] { stage.send(.prepared(id, isReady: true)) }
            for id in [prepared, judged] where stage.state(id) == .running { stage.answer(id) }
        }
        for id in [prepared, judged] {
            #expect(stage.starts.last { $0.order.id == id }?.order.path.interface == "eth0")
        }
        #expect(stage.queue.brokenRules() == [])
    }

    @Test mutating func `what dies with its interceptor when its name turns out to be on the link dies there`() throws {
        let destination = try Destination(url: Self.name)
        let route = DestinationRoute(destination, own: [.wired], defaultFamilies: [])
        stage.routes[destination] = route
        stage.send(.interceptors(["api"]))
        stage.network([.wwan])
        let prepared = try stage.add(Self.name) { $0.interceptor = "api" }
        let judged = try stage.add(Self.name) { $0.interceptor = "api" }
        stage.send(.prepared(judged, isReady: true))
        stage.send(.answerHeld(judged))
        let other = try stage.add(Self.name)
        try stage.add(Self.name, when: "wifi")
        stage.send(.attemptRouted(other, .wired, route))
        stage.send(.prepared(prepared, isReady: false))
        stage.send(.judged(judged, .refused(nil)))
        #expect(stage.state(prepared) == .dead)
        #expect(stage.queue.brokenRules() == [])
    }

    @Test mutating func `a name that an attempt finds on the link goes there from then on`() throws {
        let destination = try Destination(url: Self.name)
        let route = DestinationRoute(destination, own: [.wired], defaultFamilies: [])
        stage.routes[destination] = route
        stage.network([.wwan])
        let first = try stage.add(Self.name)
        let waiting = try (0..<20).map { _ in try stage.add(Self.name) }
        stage.send(.attemptRouted(first, .wired, route))
        // The modem goes: nothing of this goes by it.
        stage.network([])
        stage.pass(.seconds(10))
        #expect(!stage.aborted.contains(first))
        let before = stage.starts.count
        for _ in 0..<60 {
            for id in [first] + waiting where stage.state(id) == .running { stage.answer(id) }
            stage.pass(.seconds(2))
        }
        #expect(waiting.allSatisfy { stage.state($0) == nil })
        #expect(stage.starts.count > before)
        #expect(stage.starts[before...].allSatisfy { $0.order.path.interface == "eth0" })
    }

    @Test mutating func `a name on the link of another class waits, and says what its path lacks`() throws {
        let destination = try Destination(url: Self.name)
        let route = DestinationRoute(destination, own: [.wired], defaultFamilies: [])
        stage.routes[destination] = route
        stage.network([.wifi])
        let id = try stage.add(Self.name, when: "wifi")
        let other = try stage.add("http://elsewhere.example/", when: "wifi")
        stage.send(.attemptRouted(id, nil, route))
        stage.fail(id, .localNetwork)
        stage.pass(.seconds(600))
        #expect(stage.blockers(id).contains("class"))
        #expect(stage.startedIDs == [id, other])
        // Now it is reached by Wi-Fi.
        try stage.route(Self.name, own: [.wifi])
        // After an outage starts are spread.
        stage.pass(.seconds(120))
        #expect(stage.startedIDs == [id, other, id])
    }

    @Test mutating func `the default route of a name that shares its groups moves nothing`() throws {
        stage.network([.wired])
        let id = try stage.add(Self.name)
        try stage.route(Self.name, isByDefault: true)
        stage.answer(id)
        #expect(stage.unfollowed.isEmpty, "it was never followed")
    }

    @Test mutating func `an attempt by another path, or address, than it was begun for ends if that does not do`()
        throws
    {
        let destination = try Destination(url: Self.name)
        let elsewhere = QueuePath.wifi.with { $0.sources = [IPAddress(ipv4: 0xC000_02FE)] }
        for (path, stays) in [(QueuePath.wifi, true), (.wired, false), (elsewhere, false)] {
            stage = QueueStage()
            stage.network([.wired, .wifi])
            let id = try stage.add(Self.name, when: "wifi")
            stage.send(.attemptRouted(id, path, DestinationRoute(destination)))
            stage.pass(.seconds(3))
            #expect(stage.aborted == (stays ? [] : [id]), "\(path)")
        }
    }

    @Test mutating func `ten thousand requests for a thousand hosts cost a lookup for each host at most`() throws {
        stage.network([], links: [2])
        for number in 0..<10_000 { try stage.add("http://host\(number % 1000).example/") }
        stage.pass(.seconds(1))
        var answered = 0
        while answered < stage.lookups.count {
            stage.send(.lookedUp(stage.lookups[answered], nil))
            answered += 1
            if answered == stage.lookups.count { stage.pass(.milliseconds(1100)) }
            guard stage.elapsed < .seconds(25) else { break }
        }
        #expect(Set(stage.lookups).count == stage.lookups.count)
    }
}
