import Foundation
import ReachCore
import ReachKernel
import ReachTesting
import Testing

/// Reads the tables of the machine that runs the tests, and compares them with the output of ip(8).
@Suite struct KernelQueriesTests {
    private func ip(_ arguments: String...) throws -> [[String: Any]] {
        let text = try ChildProcess.run(["ip", "-j"] + arguments)
        return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]] ?? []
    }

    /// Repeats a query until two answers are equal, since other programs may change the machine in between.
    private func settled<Value: Equatable>(_ ask: () throws -> Value, _ compare: (Value) throws -> Void) throws {
        for _ in 0..<20 {
            let before = try ask()
            let after = try ask()
            if before == after { return try compare(after) }
        }
        Issue.record("the machine's tables never stop changing")
    }

    @Test func `links are those that ip link shows`() throws {
        let queries = try KernelQueries()
        try settled({ try Set(queries.links()) }) { links in
            let shown = try ip("link")
            #expect(
                Set(links.map(\.index)) == Set(shown.compactMap { ($0["ifindex"] as? Int).map(InterfaceIndex.init) }))
            for link in links {
                let row = try #require(shown.first { $0["ifindex"] as? Int == Int(link.index) })
                let flags = row["flags"] as? [String] ?? []
                #expect(link.name == row["ifname"] as? String)
                #expect(link.isUp == flags.contains("UP"))
                #expect(link.flags.contains(.lowerUp) == flags.contains("LOWER_UP"))
                #expect(link.flags.contains(.loopback) == flags.contains("LOOPBACK"))
                #expect(link.flags.contains(.pointToPoint) == flags.contains("POINTOPOINT"))
                #expect(Int(link.mtu) == row["mtu"] as? Int)
                let state = (row["operstate"] as? String)?.lowercased()
                #expect(link.operationalState.map { "\($0)".lowercased() } == state)
                let address = link.hardwareAddress.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
                if link.hardwareAddress.count == 6 {
                    #expect(address.joined(separator: ":") == row["address"] as? String)
                }
            }
        }
    }

    @Test func `addresses are those that ip address shows`() throws {
        let queries = try KernelQueries()
        try settled({ try Set(queries.addresses()) }) { addresses in
            let shown = try ip("address").flatMap { row -> [String] in
                let index = row["ifindex"] as? Int ?? 0
                let list = row["addr_info"] as? [[String: Any]] ?? []
                return list.map { "\(index) \($0["local"] ?? "")/\($0["prefixlen"] ?? "") \($0["address"] ?? "-")" }
            }
            let ours = addresses.map { address in
                "\(address.interface) \(address.address)/\(address.prefixLength) \(address.peer?.description ?? "-")"
            }
            #expect(ours.sorted() == shown.sorted())
        }
    }

    @Test func `rules are those that ip rule shows`() throws {
        let queries = try KernelQueries()
        try settled({ try Set(queries.rules()) }) { rules in
            for (family, option) in [(IPAddress.Family.ipv4, "-4"), (.ipv6, "-6")] {
                let shown = try ip(option, "rule").compactMap { $0["priority"] as? Int }
                #expect(rules.filter { $0.family == family }.map { Int($0.priority) }.sorted() == shown.sorted())
            }
        }
    }

    @Test func `an address of the machine itself has a local route by the loopback device`() throws {
        let queries = try KernelQueries()
        let loopback = try #require(try queries.link(1))
        #expect(loopback.name == "lo")
        #expect(loopback.flags.contains(.loopback))
        let answers = try queries.routes([RouteQuestion(IPAddress(ipv4: 0x7f00_0001))])
        guard case .route(let route) = try #require(answers.first) else {
            Issue.record("\(answers)")
            return
        }
        #expect(route.type == .local)
        #expect(route.hops.map(\.interface) == [1])
        // Without rules the kernel keeps the local and the main table in one trie, and reports the main table.
        #expect([254, 255].contains(route.table))
    }

    @Test func `answers, including refusals, come in the order of the questions`() throws {
        let queries = try KernelQueries()
        let loopback = IPAddress(ipv4: 0x7f00_0001)
        // No device has this index.
        let refused = RouteQuestion(loopback, interface: 2_000_000_000)
        let questions = (0..<60).map {
            $0 % 3 == 0 ? refused : RouteQuestion(IPAddress(ipv4: 0x7f00_0001 + UInt32($0)))
        }
        let answers = try queries.routes(questions)
        #expect(answers.count == 60)
        for (index, answer) in answers.enumerated() {
            switch answer {
            case .refused(let number): #expect(index % 3 == 0 && number == LinuxError.noDevice)
            case .route(let route): #expect(route.destination.address == questions[index].destination)
            }
        }
        #expect(try queries.routes([]) == [])
    }

    @Test func `a query for a missing link gives nothing, and the next query is answered`() throws {
        let queries = try KernelQueries()
        #expect(try queries.link(2_000_000_000) == nil)
        #expect(try queries.neighbour(Neighbour.Key(interface: 1, address: IPAddress(ipv4: 0x7f00_0009))) == nil)
        #expect(try queries.link(1)?.name == "lo")
    }
}
