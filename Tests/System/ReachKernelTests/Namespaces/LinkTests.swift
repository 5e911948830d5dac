internal import ReachCore
internal import ReachKernel
internal import ReachLoop
internal import ReachTesting
internal import Testing

private typealias Change = TestEngine.Change

/// Links of many kinds, as part of a path and as targets.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct LinkTests {
    @Test func `an interface is watched before it exists and after its removal`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let watched = try await TestEngine.start(Target.interface("up0"), in: namespace)
        #expect(watched.state?.reason == .noInterface)
        try namespace.vethPair()
        try await watched.changes.wait { $0.state.isReachable }
        try await watched.expect(Change(.notReachable, .noInterface, because: .linkRemoved)) {
            try namespace.run("ip", "link", "del", "up0")
        }
    }

    @Test func `a link with a large index keeps its identity when it is renamed`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.run("ip", "link", "add", "w0", "index", "700000", "type", "bridge")
        try namespace.run("ip", "link", "add", "w1", "type", "veth", "peer", "name", "w2")
        for link in ["w0", "w1", "w2"] { try namespace.run("ip", "link", "set", link, "up") }
        try namespace.run("ip", "link", "set", "w1", "master", "w0")
        try namespace.run("ip", "addr", "add", "192.0.2.2/24", "dev", "w0")
        try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        let watched = try await TestEngine.start(in: namespace)
        try await watched.changes.wait { $0.state.isReachable }
        #expect(watched.state?.ipv4.interfaceIndex == 700_000)
        try await watched.expect(Change(.reachable, because: .linkChanged, [.path])) {
            try namespace.run("ip", "link", "set", "w0", "name", "w9")
        }
        #expect(watched.state?.interface == "w9")
    }

    @Test func `a link is found by its alternative name`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "link", "property", "add", "dev", "up0", "altname", "a-name-of-more-than-15-bytes")
        let watched = try await TestEngine.start(Target.interface("a-name-of-more-than-15-bytes"), in: namespace)
        #expect(watched.state?.isReachable == true)
        #expect(watched.state?.interface == "up0")
    }

    @Test func `a bridge without a port has no carrier, whatever its flags`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.run("ip", "link", "add", "b0", "type", "bridge")
        try namespace.run("ip", "link", "add", "p0", "type", "veth", "peer", "name", "p1")
        for link in ["b0", "p0", "p1"] { try namespace.run("ip", "link", "set", link, "up") }
        try namespace.run("ip", "addr", "add", "192.0.2.2/24", "dev", "b0")
        let watched = try await TestEngine.start(Target.address(#require(IPAddress("192.0.2.9"))), in: namespace)
        #expect(watched.state?.reason == .noCarrier)
        try namespace.run("ip", "link", "set", "p0", "master", "b0")
        try await watched.changes.wait { $0.state.isReachable }
        try namespace.run("ip", "link", "set", "p0", "nomaster")
        try await watched.changes.wait(within: .seconds(10)) { $0.last?.state.reason == .noCarrier }
    }

    @Test func `a link has the same number by its name and by each of its other names`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        for name in ["short", "a-name-of-16-byt", "a-name-of-more-than-15-bytes"] {
            try namespace.run("ip", "link", "property", "add", "dev", "up0", "altname", name)
            let (index, number) = try await namespace.perform { (LinkName.index(of: "up0"), LinkName.index(of: name)) }
            #expect(index != nil && number == index, "\(name)")
        }
        let others = try await namespace.perform {
            ["nope", "no-link-has-a-name-like-this", "", String(repeating: "x", count: 500)].map(LinkName.index(of:))
        }
        #expect(others.allSatisfy { $0 == nil })
        let zones = try await namespace.perform { ["7", "a-name-of-16-byt", "0", "no"].map(LinkName.index(ofZone:)) }
        #expect(zones[0] == 7 && zones[1] != nil && zones[2] == nil && zones[3] == nil)
    }

    @Test func `a macvlan loses its carrier with the link below it, and reports that link`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let peer = try namespace.vethPair()
        try namespace.run("ip", "link", "add", "link", "up0", "name", "m0", "type", "macvlan")
        try namespace.run("ip", "link", "set", "m0", "up")
        try namespace.run("ip", "addr", "add", "198.51.100.2/24", "dev", "m0")
        try namespace.run("ip", "route", "replace", "default", "via", "198.51.100.1")
        let watched = try await TestEngine.start(in: namespace)
        try await watched.changes.wait { $0.state.isReachable }
        #expect(watched.state?.ipv4.lower == ["up0"])
        #expect(watched.state?.linkClass == .virtual)
        try peer.run("ip", "link", "set", "up1", "down")
        try await watched.changes.wait { $0.last?.state.reason == .noCarrier }
    }

    @Test func `a tun device is a tunnel, and has no carrier without a program attached`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.run("ip", "tuntap", "add", "t0", "mode", "tun")
        try namespace.run("ip", "link", "set", "t0", "up")
        try namespace.run("ip", "addr", "add", "192.0.2.2/32", "dev", "t0")
        try namespace.run("ip", "route", "add", "default", "dev", "t0")
        let watched = try await TestEngine.start(in: namespace)
        #expect(watched.state?.reason == .noCarrier)
        #expect(watched.state?.ipv4.linkClass == .tunnel)
    }

    // A policy overrides the class that the kernel's data suggests.
    @Test func `a policy rule sets the class of a link, and with it whether it is metered`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let plain = try await TestEngine.start(in: namespace)
        #expect(plain.state?.linkClass == .virtual)
        #expect(plain.state?.isMetered == false)
        var options = ReachabilityEngine.Options()
        options.observer.policy = LinkPolicy(rules: [.init(pattern: Glob("up*"), linkClass: .wwan)])
        let overridden = try await TestEngine.start(in: namespace, options: options)
        #expect(overridden.state?.linkClass == .wwan)
        #expect(overridden.state?.isMetered == true)
        #expect(overridden.state?.networkReachabilityStatus == .reachableViaWWAN)
    }

    @Test func `other options change what differs at once, and watches stay`() async throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        var options = ReachabilityEngine.Options()
        options.holdDown = HoldDown(down: .seconds(60))
        let (watched, networks) = (EventLog<ReachabilityChange>(), EventLog<NetworkSnapshot>())
        let engine = try await TestEngine.start(
            in: namespace, options: options, and: "up0", interfaceChanges: watched, networks: networks)
        try await networks.wait(for: 1)
        options.observer.policy = LinkPolicy(rules: [.init(pattern: Glob("up*"), linkClass: .wwan)])
        engine.perform { [options] in $0.apply(options) }
        try await engine.changes.wait(for: 2)
        try await watched.wait(for: 2)
        let change = try #require(engine.changes.values.last)
        #expect(change.cause == .configuration && !change.isInitial && change.aspects == [.path, .linkClass, .metered])
        #expect(change.state.epoch == 2 && change.state.since == change.previous?.since)
        #expect(try await networks.wait(for: 2).last?.routes.allSatisfy { $0.traits.linkClass == .wwan } == true)

        // What the hold-down holds back is reported, and the present kernel is observed.
        try namespace.run("ip", "route", "del", "default")
        try await engine.drain()
        engine.perform { [options] in
            var options = options
            options.holdDown = HoldDown()
            $0.apply(options)
        }
        try await engine.changes.wait(for: 3)
        #expect(engine.state?.status == .notReachable && engine.changes.values.last?.cause == .configuration)
        try await engine.expect(Change(.reachable, because: .routeAdded)) {
            try namespace.run("ip", "route", "add", "default", "via", "192.0.2.1")
        }
        engine.perform { [options] in $0.apply(options) }
        try await engine.drain()
        #expect(engine.changes.values.count == 4, "nothing differs")
    }
}
