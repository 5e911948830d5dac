import ReachCore
import ReachLoop
import ReachProbe
import Testing

@Suite struct ProbeDoubtTests {
    private static let names = "http://web.example/"

    private static func result(_ outcome: ProbeResult.Outcome, from address: String?) -> ProbeResult {
        var result = ProbeResult(outcome, started: SystemClock.now, duration: .zero)
        result.address = address.flatMap { IPAddress($0) }
        return result
    }

    /// Outcome, target, address of the peer, and whether the Internet may be the cause.
    private static let cases: [(ProbeResult.Outcome, String, String?, Bool)] = [
        (.ok, names, "192.0.2.1", false), (.ok, names, nil, false),
        (.inconclusive(.noPath), names, nil, false),
        (.fail(.timeout), names, "192.0.2.1", true),
        (.fail(.nameNotResolved), names, nil, true),
        // A portal may have answered in the target's place.
        (.fail(.status), names, "192.0.2.1", true),
        (.fail(.certificate), "https://web.example/", "192.0.2.1", true),
        // The target itself answered.
        (.fail(.certificateEnding), "https://web.example/", "192.0.2.1", false),
        (.fail(.latency), names, "192.0.2.1", false),
        // Hosts of the local network.
        (.fail(.timeout), names, "10.0.0.1", false),
        (.fail(.timeout), names, "fd00::1", false),
        (.fail(.timeout), "icmp://192.168.0.1", nil, false),
        (.fail(.refused), "tcp://127.0.0.1:9", nil, false),
        // A router's name server forwards questions to the Internet.
        (.fail(.timeout), "dns://192.168.0.1/web.example", "192.168.0.1", true),
    ]

    @Test func `a failure that the Internet may have caused is distinguished from others`() throws {
        for (outcome, target, address, expected) in Self.cases {
            let result = Self.result(outcome, from: address)
            #expect(!result.suggestsInternet(for: try ProbeTarget(target)) || outcome == .ok)
            #expect(
                result.suggestsOutage(for: try ProbeTarget(target)) == expected,
                "\(outcome) \(target) \(address ?? "")")
        }
    }

    @Test(arguments: [
        (names, "192.0.2.1", true), (names, "10.0.0.1", false), ("icmp://192.0.2.1", nil, true),
        ("icmp://192.168.0.1", nil, false), ("dns://192.0.2.53/web.example", "192.0.2.53", false),
    ])
    func `a success beyond the local network is evidence for the Internet`(
        target: String, address: String?, expected: Bool
    ) throws {
        let result = Self.result(.ok, from: address)
        #expect(result.suggestsInternet(for: try ProbeTarget(target)) == expected)
    }
}
