import ReachCore
import Testing

/// Ages in seconds: the last answer, where an entry that is new counts as confirmed 60 s ago, and the last change of
/// the state.
struct NeighbourDatingTests {
    private func ages(_ confirmed: Double, _ updated: Double) -> NeighbourDating.Ages {
        NeighbourDating.Ages(confirmed: .seconds(confirmed), updated: .seconds(updated))
    }

    private func other(
        _ address: String, _ state: NeighbourState, _ confirmed: Double, _ updated: Double
    ) throws -> NeighbourDating.Other {
        NeighbourDating.Other(
            key: Neighbour.Key(interface: 2, address: try #require(IPAddress(address))), state: state,
            ages: ages(confirmed, updated))
    }

    private func isOld(
        _ failed: NeighbourDating.Ages, among others: [NeighbourDating.Other] = [], gains: UInt32? = 2,
        _ times: NeighbourTimes = NeighbourTimes()
    ) -> Bool {
        NeighbourDating(among: others, carrierGains: gains, times: [.ipv4: times]).isFromBeforeCarrier(failed, .ipv4)
    }

    @Test func `what failed before the link reported its groups failed without a carrier`() throws {
        let reports = try other("ff02::16", .noarp, 65, 5)
        #expect(isOld(ages(200, 5.2), among: [reports], gains: nil))
        #expect(!isOld(ages(200, 5.05), among: [reports]), "the report may be late")
        #expect(!isOld(ages(200, 4), among: [reports]))
        #expect(!isOld(ages(200, 5.2), among: [try other("ff02::1:ff00:2", .noarp, 65, 5)]))
    }

    @Test func `a single attempt since the carrier was lost proves nothing once it is back`() throws {
        #expect(isOld(ages(73, 10)))
        #expect(!isOld(ages(73, 10), gains: 1), "the link never lost its carrier")
        #expect(!isOld(ages(73, 10), gains: nil))
        #expect(!isOld(ages(70, 10)), "someone set the state")
        #expect(!isOld(ages(90, 10)), "there were more attempts")
        #expect(!isOld(ages(25, 10)), "it answered before")
        let alive = try other("192.0.2.7", .stale, 300, 270)
        #expect(!isOld(ages(73, 10), among: [alive]), "another one answered before, so the carrier was there")
        #expect(isOld(ages(73, 10), among: [try other("192.0.2.7", .reachable, 5, 300)]), "only after it")
        #expect(isOld(ages(73, 10), among: [try other("192.0.2.7", .stale, 90, 30)]), "that one was only heard of")
    }

    @Test func `a neighbour that is asked again has failed before, if not without a carrier`() throws {
        #expect(!ages(60.5, 0.5).isAskedAgain(NeighbourTimes()), "it is asked for the first time")
        #expect(ages(80, 0.5).isAskedAgain(NeighbourTimes()))
        #expect(ages(20, 0.5).isAskedAgain(NeighbourTimes()), "it answered before")
        #expect(ages(81, 1.5).before(.seconds(1)) == ages(80, 0.5))
        let dating = NeighbourDating(among: [try other("ff02::16", .noarp, 65, 5)], carrierGains: nil)
        let may = { dating.mayHaveFailedBeforeCarrier($0, IPAddress.Family.ipv4) }
        #expect(may(ages(80, 0.5)) && !may(ages(64, 0.5)))
        #expect(!NeighbourDating(among: [], carrierGains: nil).mayHaveFailedBeforeCarrier(ages(80, 0.5), .ipv4))
    }

    @Test func `the device's own times count, which a router's advertisement may have changed`() throws {
        let slow = NeighbourTimes(reachable: .seconds(120), retransmission: .seconds(4), questions: 3)
        #expect(slow.patience == .seconds(12))
        #expect(isOld(ages(262, 10), slow), "a single attempt of twelve seconds")
        #expect(!isOld(ages(262, 10)) && !isOld(ages(73, 10), slow))
        #expect(!ages(240.5, 0.5).isAskedAgain(slow) && ages(60.5, 0.5).isAskedAgain(slow))
        #expect(NeighbourTimes(questions: .max).patience == .seconds(100))
    }
}
