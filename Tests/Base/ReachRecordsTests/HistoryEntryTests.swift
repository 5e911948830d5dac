import ReachCore
import ReachRecords
import ReachTesting
import Testing

/// What of a change the history keeps.
@Suite struct HistoryEntryTests {
    private static func path(_ gateway: String) -> NetworkPath {
        var path = NetworkPath(status: .reachable)
        (path.interface, path.linkClass, path.gateway, path.network) = ("wlan0", .wifi, IPAddress(gateway), "office")
        path.connectivity = .full
        path.quality = LineQuality(.lossy, lossPermille: 50, roundTrip: .milliseconds(9), jitter: nil, packets: 100)
        return path
    }

    private static func change(
        _ verdict: Verdict, isInitial: Bool = false, _ edit: (inout ReachabilityState) -> Void = { _ in }
    ) -> ReachabilityChange {
        var state = ReachabilityState(target: .internet, since: Instant.at(1).wall)
        state.adopt(verdict)
        edit(&state)
        return ReachabilityChange(
            at: .at(7), cause: .carrierLost, aspects: [.status], previous: isInitial ? nil : state, state: state)
    }

    @Test func `a path is kept with all that distinguishes it from others`() {
        let lost = NetworkPath(status: .notReachable, reason: .noRoute)
        for (verdict, gateway) in [
            (Verdict(ipv4: Self.path("192.0.2.1"), ipv6: Self.path("fe80::1")), "192.0.2.1"),
            (Verdict(ipv4: lost, ipv6: Self.path("fe80::1")), "fe80::1"),
        ] {
            var expected = HistoryEntry.State(
                target: "internet", status: .reachable, linkClass: "wifi", interface: "wlan0", cause: "carrier-lost",
                connectivity: "full")
            (expected.gateway, expected.network, expected.quality) = (gateway, "office", "lossy")
            let change = Self.change(verdict) { ($0.isValidated, $0.connectivity) = (true, .full) }
            #expect(HistoryEntry.State(change) == expected)
        }
    }

    @Test func `an outage is kept with its reason and its root cause, and no gateway`() {
        var verdict = Verdict(.notReachable, reason: .noRoute)
        verdict.rootCause = RootCause(.noCarrier, interface: "eth0")
        verdict.ipv4.gateway = IPAddress("192.0.2.1")
        let expected = HistoryEntry.State(
            target: "home", status: .notReachable, reason: "no-route", rootCause: "no-carrier", rootInterface: "eth0",
            cause: "carrier-lost", isChange: false)
        #expect(HistoryEntry.State(Self.change(verdict, isInitial: true), of: "home") == expected)
    }

    @Test func `a record has the change's moment and its target`() {
        let entry = HistoryEntry(Self.change(.eth0), of: "home", boot: "b")
        #expect(entry.moment == .at(7) && entry.boot == "b" && entry.target == "home")
        let unwatched = HistoryEntry(.unwatched(target: "x"), at: .at(1), boot: "b")
        #expect(unwatched.target == "x")
        #expect(HistoryEntry(.stopped, at: .at(1), boot: "b").target == nil)
    }
}
