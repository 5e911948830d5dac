import ReachCore
import ReachTesting
import Testing

/// People and hooks, who watch a target by its status machine.
private struct Viewer {
    var machine = StatusMachine.begun()
    var seen: [(joined: JoinedChange, at: Double)] = []
    private var joiner: FlapJoiner?
    private let patience: FlapJoiner.Patience

    init(isChecked: Bool = false, _ patience: FlapJoiner.Patience = FlapJoiner.Patience()) {
        self.patience = patience
        if isChecked { _ = machine.setConnectivity(.full, cause: .probe, at: .at(1)) }
    }

    mutating func see(_ verdict: Verdict, at seconds: Double, _ cause: Cause = .carrierLost) {
        pass(until: seconds)
        machine.see(verdict, at: seconds, cause: cause).map { add($0, at: seconds) }
        let report = verdict.status == .reachable ? ConnectivityReport.undecided : .nothing
        if machine.state.isValidated { check(report, at: seconds) }
    }

    mutating func check(_ report: ConnectivityReport, at seconds: Double) {
        pass(until: seconds)
        machine.setConnectivity(report, cause: .probe, at: .at(seconds)).map { add($0, at: seconds) }
    }

    mutating func pass(until seconds: Double) {
        guard let joiner, joiner.deadline <= .at(seconds) else { return }
        self.joiner = nil
        seen.append((joiner.joined, Double(joiner.deadline.nanoseconds) / 1e9))
    }

    private mutating func add(_ change: ReachabilityChange, at seconds: Double) {
        guard var open = joiner else {
            joiner = FlapJoiner(beginningWith: change, patience)
            if joiner == nil { seen.append((JoinedChange(change), seconds)) }
            return
        }
        open.add(change)
        joiner = open.hasEnded ? nil : open
        if open.hasEnded { seen.append((open.joined, seconds)) }
    }
}

extension ConnectivityReport {
    fileprivate static let nothing = ConnectivityReport(ipv4: .none, ipv6: .none)
    fileprivate static let undecided = ConnectivityReport(ipv4: .unknown, ipv6: .none, isUndecided: true)
    fileprivate static let full = ConnectivityReport(ipv4: .full, ipv6: .none)
    fileprivate static let limited = ConnectivityReport(ipv4: .limited, ipv6: .none)
}

extension Verdict {
    fileprivate static func broken(_ cause: RootCause) -> Verdict {
        var verdict = Verdict(.notReachable, reason: .noRoute)
        verdict.rootCause = cause
        return verdict
    }

    fileprivate static let unplugged = broken(RootCause(.noCarrier, interface: "eth0"))
    fileprivate static let withoutAddress = broken(RootCause(.noAddress, interface: "eth0"))
    fileprivate static let withoutRoute = broken(RootCause(.noDefaultRoute, interface: "eth0"))
}

struct FlapJoinerTests {
    @Test func `a link that is back within a moment is one change, which says what was lost`() throws {
        var viewer = Viewer()
        viewer.see(.unplugged, at: 10)
        viewer.see(.eth0, at: 10.9)
        let seen = try #require(viewer.seen.first)
        #expect(viewer.seen.count == 1 && seen.at == 10.9)
        #expect(seen.joined.change.aspects == [], "all is as before")
        #expect(seen.joined.change.previous?.status == .reachable && seen.joined.change.state.status == .reachable)
        #expect(seen.joined.gap?.sentence == "it was lost for 900 ms: eth0 has no carrier")
    }

    @Test func `it ends with the check of the path that is back, whatever that finds`() {
        for (report, aspects) in [(ConnectivityReport.full, []), (.limited, [ReachabilityChange.Aspect.connectivity])] {
            var viewer = Viewer(isChecked: true)
            viewer.see(.unplugged, at: 10)
            viewer.see(.eth0, at: 10.9)
            #expect(viewer.seen.isEmpty, "nothing is proved yet")
            viewer.check(report, at: 11.5)
            #expect(viewer.seen.map(\.joined.change.aspects) == [aspects])
            #expect(viewer.seen.first?.joined.gap?.length == .milliseconds(900))
        }
    }

    @Test func `what DHCP takes and gives again meanwhile is a part of it`() {
        var viewer = Viewer(isChecked: true)
        viewer.see(.unplugged, at: 10)
        viewer.see(.broken(RootCause(.noCarrier, interface: "eth0")), at: 10.3, .addressRemoved)
        viewer.see(.withoutAddress, at: 12, .carrierGained)
        viewer.see(.withoutRoute, at: 15, .addressAdded)
        viewer.see(.via("eth0", gateway: "192.0.2.9"), at: 15.1, .routeAdded)
        viewer.check(.full, at: 15.2)
        viewer.pass(until: 20)
        #expect(viewer.seen.map(\.joined.change.aspects) == [[.path]])
        #expect(viewer.seen.first?.at == 16.2, "the path may change further for a moment")
    }

    @Test func `an outage is reported with the time of the loss, once no flap would last as long`() throws {
        var viewer = Viewer(isChecked: true)
        viewer.see(.unplugged, at: 10)
        viewer.pass(until: 13.9)
        #expect(viewer.seen.isEmpty)
        viewer.pass(until: 14)
        let seen = try #require(viewer.seen.first)
        #expect(seen.joined.change.aspects == [.status, .connectivity])
        #expect(seen.joined.change.time == Instant.at(10).wall && seen.joined.change.cause == .carrierLost)
        #expect(seen.joined.gap == nil)
        viewer.see(.eth0, at: 30)
        viewer.check(.full, at: 30.1)
        #expect(viewer.seen.count == 3, "the return from what was reported is reported as it comes")
    }

    @Test func `a link that is back without an address is reported after ten seconds`() {
        var viewer = Viewer()
        viewer.see(.unplugged, at: 10)
        viewer.see(.withoutAddress, at: 13, .carrierGained)
        viewer.pass(until: 100)
        #expect(viewer.seen.map(\.at) == [20])
        #expect(viewer.seen.first?.joined.change.state.rootCause?.kind == .noAddress)
    }

    @Test func `a link that comes and goes is reported each ten seconds, with how often it was lost`() {
        var viewer = Viewer(isChecked: true)
        for second in stride(from: 10.0, to: 70, by: 2) {
            viewer.see(.unplugged, at: second)
            viewer.see(.eth0, at: second + 1)
        }
        viewer.pass(until: 80)
        #expect((6...12).contains(viewer.seen.count), "\(viewer.seen.count)")
        #expect(viewer.seen.first?.joined.gap?.sentence.contains("it was lost 5 times within 9.0 s") == true)
    }

    @Test func `what is no link's loss is reported at once`() {
        let gateway = Verdict.broken(RootCause(.gatewayUnreachable, interface: "eth0"))
        for verdict in [gateway, .withoutRoute, .broken(RootCause(.rule)), .lost, .blind, .via("wlan0", .wifi)] {
            var viewer = Viewer()
            viewer.see(verdict, at: 10)
            #expect(viewer.seen.map(\.at) == [10], "\(verdict)")
        }
    }

    @Test func `another link that takes over, and a kernel that cannot be observed, end it`() {
        for verdict in [Verdict.via("wlan0", .wifi), .blind] {
            var viewer = Viewer()
            viewer.see(.unplugged, at: 10)
            viewer.see(verdict, at: 11)
            #expect(viewer.seen.map(\.at) == [11], "\(verdict)")
            #expect(viewer.seen.first?.joined.change.previous?.interface == "eth0")
        }
    }

    @Test func `what a hold-down has waited for is not waited for again`() {
        var machine = StatusMachine.begun(holdDown: HoldDown(down: .seconds(5)))
        _ = machine.see(.unplugged, at: 10)
        let change = machine.timeReached(at: .at(15))
        #expect(change != nil && change.flatMap { FlapJoiner(beginningWith: $0, FlapJoiner.Patience()) } == nil)
    }
}
