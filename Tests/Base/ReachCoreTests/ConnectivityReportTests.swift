import ReachCore
import ReachTesting
import Testing

/// What probes have proved, of both families, of single interfaces, and of their lines.
@Suite struct ConnectivityReportTests {
    private static let good = LineQuality(.good, lossPermille: 0, roundTrip: .milliseconds(23), jitter: nil, packets: 9)
    private static let lossy = LineQuality(.lossy, lossPermille: 80, roundTrip: nil, jitter: nil, packets: 9)

    @Test(
        arguments: [
            (.full, .none, false, .full), (Connectivity.none, .full, false, .full), (.limited, .portal, false, .portal),
            (.limited, .none, false, .limited), (.unknown, .limited, true, .unknown),
            (.portal, .unknown, true, .portal),
            (.full, .unknown, true, .full), (.none, .none, true, .unknown), (.none, .none, false, .none),
        ] as [(Connectivity, Connectivity, Bool, Connectivity)])
    func `the better family counts, and anything worse than a portal only once both are decided`(
        ipv4: Connectivity, ipv6: Connectivity, isUndecided: Bool, expected: Connectivity
    ) {
        let report = ConnectivityReport(ipv4: ipv4, ipv6: ipv6, isUndecided: isUndecided)
        #expect(report.combined == expected)
        #expect(report[.ipv4] == ipv4 && report[.ipv6] == ipv6)
    }

    private static func path(_ name: String, _ index: InterfaceIndex) -> NetworkPath {
        var path = NetworkPath(status: .reachable)
        (path.interface, path.interfaceIndex) = (name, index)
        return path
    }

    private static let survey = {
        var survey = ConnectivitySurvey(
            internet: ConnectivityReport(ipv4: .full, ipv6: .limited),
            interfaces: [
                "eth0": ConnectivityReport(ipv4: .full, ipv6: .none), "wlan0": ConnectivityReport(ipv4: .portal),
            ])
        survey.add(["eth0": good, "wlan0": lossy], of: [.ipv4: "eth0", .ipv6: "tun0"])
        return survey
    }()

    @Test func `lines belong to their interfaces, and the Internet has those of the kernel's choice`() {
        #expect(Self.survey.internet.qualities == [.ipv4: Self.good] && Self.survey.internet.measuresQuality)
        for (name, quality) in [("eth0", Self.good), ("wlan0", Self.lossy)] {
            let report = Self.survey.interfaces[name]
            #expect(report?.qualities == [.ipv4: quality, .ipv6: quality] && report?.measuresQuality == true)
        }
    }

    @Test func `a survey reports on the Internet and on interfaces, and on no single host`() throws {
        #expect(Self.survey.report(on: .internet) == Self.survey.internet)
        #expect(Self.survey.report(on: try Target("interface:eth0")) == Self.survey.interfaces["eth0"])
        #expect(Self.survey.report(on: try Target("interface:eth9")) == ConnectivityReport())
        for text in ["192.0.2.1", "192.0.2.0/24", "www.example.org"] {
            #expect(Self.survey.report(on: try Target(text)) == nil)
        }
    }

    @Test func `of a host's path is proved what is proved of its interface`() throws {
        var state = ReachabilityState(target: try Target("192.0.2.1"), since: Timestamp(nanosecondsSince1970: 0))
        state.adopt(Verdict(ipv4: Self.path("wlan0", 3), ipv6: Self.path("eth9", 9)))
        let proved = Self.survey.proving(state)
        #expect(proved.ipv4.connectivity == .portal && proved.ipv6.connectivity == .unknown)
        #expect(proved.ipv4.quality == Self.lossy && proved.ipv6.quality == nil)
        #expect(proved.isValidated && proved.connectivity == .portal)
    }

    /// The Internet by paths of which those of these families lead by `eth0`, and work or not.
    private static func internet(_ ipv4: ReachabilityStatus?, _ ipv6: ReachabilityStatus?) -> ReachabilityState {
        var state = ReachabilityState(target: .internet, since: Timestamp(nanosecondsSince1970: 0))
        let paths = [ipv4, ipv6].map { status in
            guard let status else { return NetworkPath(status: .notReachable) }
            var path = path("eth0", 2)
            path.status = status
            return path
        }
        state.adopt(Verdict(ipv4: paths[0], ipv6: paths[1]))
        return state
    }

    @Test(
        arguments: [
            (.reachable, .reachable, .full, .unknown, .full), (.reachable, .notReachable, .full, .full, .full),
            (.notReachable, .reachable, .full, .limited, .limited), (.notReachable, nil, .full, .unknown, .none),
            (.notReachable, .notReachable, .full, .portal, .none), (nil, nil, .full, .full, .full),
        ] as [(ReachabilityStatus?, ReachabilityStatus?, Connectivity, Connectivity, Connectivity)])
    func `of a link is proved what is proved of its families whose path by it works`(
        ipv4: ReachabilityStatus?, ipv6: ReachabilityStatus?, provedIPv4: Connectivity, provedIPv6: Connectivity,
        expected: Connectivity
    ) {
        let report = ConnectivityReport(ipv4: provedIPv4, ipv6: provedIPv6)
        let internet = Self.internet(ipv4, ipv6)
        #expect(LinkReport.Proof(report, of: "eth0", internet: internet).connectivity == expected)
        let alone = LinkReport.Proof(report, of: "eth1", internet: internet)
        #expect(alone == LinkReport.Proof(report, of: "eth0", internet: nil))
        #expect(alone.connectivity == report.combined)
    }

    @Test func `the reason of a link is that of the family that checks found limited`() {
        var report = ConnectivityReport(ipv4: .limited, ipv6: .limited)
        report.reasons = [.ipv4: .gatewayUnreachable, .ipv6: .nameNotResolved]
        #expect(LinkReport.Proof(report, of: "eth0", internet: nil).reason == .gatewayUnreachable)
        let proof = LinkReport.Proof(report, of: "eth0", internet: Self.internet(.notReachable, .reachable))
        #expect(proof.connectivity == .limited && proof.reason == .nameNotResolved)
    }

    @Test func `a portal's session and its page are of the state's own path`() {
        var report = ConnectivityReport(ipv4: .portal, portal: "http://login.example/")
        report.session = PortalSession(interface: "wlan0", isCaptive: true)
        for (name, isOwn) in [("wlan0", true), ("eth0", false)] {
            var machine = StatusMachine.begun(with: Verdict(ipv4: Self.path(name, 3), ipv6: .notAsked))
            _ = machine.setConnectivity(report, cause: .probe, at: .at(1))
            #expect(machine.state.portal == "http://login.example/")
            #expect((machine.state.portalSession != nil) == isOwn)
        }
    }

    @Test(
        arguments: [
            (good, "good (23 ms)", "0 %"), (lossy, "lossy (8 %)", "8 %"),
            (
                LineQuality(.good, lossPermille: 0, roundTrip: .zero, jitter: nil, packets: 9), "good (under 1 ms)",
                "0 %"
            ),
            (LineQuality(.good, lossPermille: 4, roundTrip: nil, jitter: nil, packets: 1), "good", "0.4 %"),
            (
                LineQuality(.slow, lossPermille: 99, roundTrip: .seconds(2), jitter: nil, packets: 1), "slow (2000 ms)",
                "9.9 %"
            ),
            (LineQuality(.slow, lossPermille: 104, roundTrip: nil, jitter: nil, packets: 1), "slow", "10 %"),
            (LineQuality(.lossy, lossPermille: 105, roundTrip: nil, jitter: nil, packets: 1), "lossy (11 %)", "11 %"),
            (LineQuality(.lossy, lossPermille: 100, roundTrip: nil, jitter: nil, packets: 1), "lossy (10 %)", "10 %"),
        ] as [(LineQuality, String, String)])
    func `a line is said with the figure of its word`(line: LineQuality, text: String, loss: String) {
        #expect(line.text == text && line.lossText == loss)
    }
}
