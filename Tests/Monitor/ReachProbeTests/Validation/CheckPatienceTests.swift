import ReachCore
import ReachProbe
import Testing

/// How long checks of slow paths may take.
struct CheckPatienceTests {
    private static let route = DefaultRoute.sample()

    @Test(
        arguments: [
            (nil, 5, 5000), (0, 5, 5000), (20, 5, 5000), (2000, 5, 16000), (2000, 2, 16000), (3000, 60, 60000),
            (60_000, 5, 30_000),
        ] as [(Int?, Int, Int)])
    func `a check may take as long as eight round trips, but no longer than half a minute for them`(
        roundTrip: Int?, configured: Int, expected: Int
    ) {
        var patience = CheckPatience()
        patience.note(roundTrip.map { .milliseconds($0) }, of: Self.route)
        let least = Duration.seconds(configured)
        #expect(patience.limit(for: Self.route, least: least) == .milliseconds(expected))
        #expect(patience.longestLimit(least: least) == .milliseconds(expected))
    }

    @Test func `what others show makes a check longer, and never shorter`() {
        var patience = CheckPatience()
        for (roundTrip, limit) in [(1000, 8), (2000, 16), (10, 16)] {
            patience.extend(to: .milliseconds(roundTrip), of: Self.route)
            #expect(patience.limit(for: Self.route, least: .seconds(5)) == .seconds(limit))
        }
        patience.extend(to: .milliseconds(800), of: .sample(gateway: "192.0.2.254"))
        #expect(patience.limit(for: .sample(gateway: "192.0.2.254"), least: .seconds(5)) == .milliseconds(6400))
    }

    @Test func `the last measurement counts, and only for the network of which it was made`() {
        var patience = CheckPatience()
        patience.note(.seconds(2), of: Self.route)
        patience.note(nil, of: Self.route)
        #expect(patience.limit(for: Self.route, least: .seconds(5)) == .seconds(16))
        #expect(patience.limit(for: .sample(gateway: "192.0.2.254"), least: .seconds(5)) == .seconds(5))
        #expect(patience.limit(for: .sample(interface: 3), least: .seconds(5)) == .seconds(5))
        patience.note(.milliseconds(30), of: Self.route)
        #expect(patience.limit(for: Self.route, least: .seconds(5)) == .seconds(5))
    }
}
