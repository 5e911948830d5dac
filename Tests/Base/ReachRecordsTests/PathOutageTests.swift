import ReachCore
import ReachRecords
import ReachTesting
import Testing

@Suite struct PathOutageTests {
    private func state(
        _ target: String, via gateway: String?, on interface: InterfaceIndex = 2,
        _ connectivity: Connectivity = .unknown
    ) throws -> ReachabilityState {
        var state = ReachabilityState(target: try Target(target), since: Timestamp(nanosecondsSince1970: 0))
        var path = NetworkPath(status: .reachable)
        path.interfaceIndex = interface
        path.gateway = gateway.flatMap(IPAddress.init)
        state.adopt(Verdict(ipv4: path, ipv6: .notAsked))
        state.connectivity = connectivity
        return state
    }

    @Test(arguments: [
        ("203.0.113.9", "192.0.2.1" as String?, 2 as InterfaceIndex, Connectivity.limited, true),
        ("shop.example", "192.0.2.1", 2, .portal, true),
        ("203.0.113.9", "192.0.2.1", 2, .full, false), ("203.0.113.9", "192.0.2.1", 2, .unknown, false),
        // By another way, or nearer than what was proved.
        ("203.0.113.9", "192.0.2.7", 2, .limited, false), ("203.0.113.9", "192.0.2.1", 3, .limited, false),
        ("203.0.113.9", nil, 2, .limited, false), ("10.20.30.40", "192.0.2.1", 2, .limited, false),
    ])
    func `a target behind a proven outage of its path cannot be used`(
        target: String, gateway: String?, interface: InterfaceIndex, connectivity: Connectivity, isOut: Bool
    ) throws {
        let internet = try state("internet", via: "192.0.2.1", on: 2, connectivity)
        let target = try state(target, via: gateway, on: interface)
        #expect(target.provedOutage(by: internet) == (isOut ? connectivity : nil))
        // What history, page and metrics show.
        let proved = target.proved(by: internet)
        #expect(proved.connectivity == (isOut ? connectivity : .unknown) && proved.isValidated == isOut)
        #expect(target.proved(by: nil) == target)
        let recorded = HistoryEntry.State(proved, of: "web", cause: .probe)
        #expect(recorded.connectivity == (isOut ? connectivity.rawValue : nil) && recorded.target == "web")
    }

    @Test func `how a target can be used began with its proof, if there is one`() throws {
        var internet = try state("internet", via: "192.0.2.1", .limited)
        internet.connectivitySince = .at(50)
        var web = try state("shop.example", via: "192.0.2.1")
        #expect(web.useSince == web.since && web.proved(by: internet).useSince == .at(50))
        web.since = .at(70)
        #expect(web.proved(by: internet).useSince == .at(70), "the way is younger than the proof")
        web.status = .notReachable
        #expect(web.useSince == .at(70))
    }
}
