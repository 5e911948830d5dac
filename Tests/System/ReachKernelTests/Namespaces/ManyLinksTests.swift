internal import ReachCore
internal import ReachKernel
internal import ReachTesting
internal import Testing

/// One answer on a host with many links: it reads the links of its paths, and says what one that reads everything says.
@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"), .timeLimit(.minutes(1)))
struct ManyLinksTests {
    private let machine: TestNamespace

    init() throws {
        machine = try TestNamespace()
        try machine.vethPair()
        let pairs = (0..<60).map {
            "link add p\($0) type veth peer name q\($0)\nlink set p\($0) up\nlink set q\($0) up"
        }
        try machine.batch(pairs.joined(separator: "\n"))
    }

    private struct Answer: Sendable, Equatable {
        var status: ReachabilityStatus
        var paths: [NetworkPath]
        var rootCause: RootCause?

        init(_ state: ReachabilityState) {
            (status, paths, rootCause) = (state.status, [state.ipv4, state.ipv6], state.rootCause)
        }
    }

    /// The answers of a snapshot that reads on demand, and how many links it has read.
    private func ask(_ targets: [Target]) async throws -> (onDemand: [Answer], complete: [Answer], links: Int) {
        try await machine.perform {
            let complete = try KernelSnapshot()
            let all = try targets.map { Answer(try complete.state(of: $0)) }
            var links = 0
            let some = try targets.map { target in
                let snapshot = try KernelSnapshot(onDemand: true)
                let answer = Answer(try snapshot.state(of: target))
                links = max(links, snapshot.view.table.links.count)
                return answer
            }
            return (some, all, links)
        }
    }

    @Test func `an answer reads the link of its path, and no other`() async throws {
        let found = try await ask([.internet, Target("198.51.100.7"), Target("192.0.2.77"), Target("interface:up0")])
        #expect(found.onDemand == found.complete)
        #expect(found.onDemand.map(\.status) == [.reachable, .reachable, .reachable, .reachable])
        #expect(found.links == 1)
        #expect(try await ask([Target("127.0.0.1")]).links == 1)
    }

    @Test func `links below, ports, and what any link may carry are read as far as it takes`() async throws {
        try machine.batch(
            """
            link add link up0 name up0.7 type macvlan
            link set up0.7 up
            address add 198.51.100.2/24 dev up0.7
            link add br7 type bridge
            link set p7 master br7
            link set br7 up
            address add 203.0.113.2/25 dev br7
            link add t7 type vxlan id 7 dstport 4789 remote 203.0.113.9
            link set t7 up
            address add 203.0.113.130/25 dev t7
            link property add dev p9 altname quite-a-long-alternative-name
            """)
        let texts = [
            "198.51.100.9", "203.0.113.8", "203.0.113.131", "interface:up0.7", "interface:br7", "interface:t7",
            "interface:quite-a-long-alternative-name", "interface:none", "198.51.100.9%up0.7", "198.51.100.9%none",
        ]
        let found = try await ask(texts.map { try Target($0) })
        for (text, (some, all)) in zip(texts, zip(found.onDemand, found.complete)) {
            #expect(some == all, "\(text)")
        }
        #expect(found.complete[0].paths[0].interface == "up0.7")
        #expect(found.complete[0].paths[0].lower == ["up0"])
        #expect(found.complete[1].paths[0].interface == "br7")
    }

    @Test func `what is not reachable has its root cause among all links`() async throws {
        try machine.run("ip", "link", "set", "up0", "down")
        let found = try await ask([
            .internet, Target("198.51.100.7"), Target("interface:up0"), Target("192.0.2.77%up0"),
        ])
        #expect(found.onDemand == found.complete)
        #expect(found.onDemand.allSatisfy { $0.status == .notReachable && $0.rootCause != nil })
    }

    @Test func `links of hardware and those with addresses are counted, and those of containers are not`() async throws
    {
        let names = try await machine.perform {
            let view = try KernelView()
            try view.refresh()
            let first = try view.countedLinks()
            let kept = try view.countedLinks(besides: [view.table.link(named: "p3")?.index ?? 0, 999])
            return [first.map(\.name), kept.map(\.name)]
        }
        #expect(names == [["up0"], ["up0", "p3"]])
    }

    @Test func `IPv6 routes for some sources only are found without reading all addresses`() async throws {
        try machine.batch(
            """
            address add 2001:db8:7::2/64 dev up0 nodad
            route add 2001:db8:9::/48 from 2001:db8:7::/64 via fe80::9 dev up0
            """)
        let found = try await ask([Target("2001:db8:9::1")])
        #expect(found.onDemand == found.complete)
        #expect(found.onDemand[0].paths[1].interface == "up0")
    }
}
