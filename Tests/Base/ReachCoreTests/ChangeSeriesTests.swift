import ReachCore
import ReachTesting
import Testing

/// A series from several observers, each of which starts with counters of its own.
@Suite struct ChangeSeriesTests {
    /// The initial change of an observer that begins at this time.
    private func first(
        _ verdict: Verdict = .eth0, at seconds: Double, epoch: UInt64 = 1, flaps: Int = 0
    ) -> ReachabilityChange {
        var state = ReachabilityState(target: .internet, since: Instant.at(seconds).wall)
        state.adopt(verdict)
        state.epoch = epoch
        state.flaps = flaps
        return ReachabilityChange(at: .at(seconds), cause: .start, aspects: [], previous: nil, state: state)
    }

    private func begun(_ verdict: Verdict = .eth0, epoch: UInt64 = 1, flaps: Int = 0) -> ChangeSeries {
        var series = ChangeSeries(of: .internet)
        _ = series.begin(first(verdict, at: 0, epoch: epoch, flaps: flaps), cause: .resync)
        return series
    }

    @Test func `the first observer's first state is the initial one`() {
        var series = ChangeSeries(of: .internet)
        let initial = first(at: 1)
        let change = series.begin(initial, cause: .resync)
        #expect(change == initial)
        #expect(series.state == initial.state)
    }

    @Test func `the next one's is no change if nothing differs, and the time of the status does not restart`() throws {
        var series = begun()
        series.becomeStale()
        #expect(series.state?.isStale == true)
        #expect(series.begin(first(at: 9), cause: .resync) == nil)
        let state = try #require(series.state)
        #expect(!state.isStale)
        #expect(state.since == Instant.at(0).wall)
        #expect(state.epoch == 1)
    }

    @Test(arguments: [
        (Verdict.lost, [ReachabilityChange.Aspect.status], 9.0), (.via("wlan0", .wifi), [.path, .linkClass], 0),
    ])
    func `a difference is one change from the previous state`(
        verdict: Verdict, aspects: [ReachabilityChange.Aspect], since: Double
    ) throws {
        var series = begun()
        let found = series.begin(first(verdict, at: 9), cause: .resync)
        let change = try #require(found)
        #expect(change.aspects == aspects)
        #expect(change.cause == .resync)
        #expect(change.previous?.interface == "eth0")
        #expect(change.state.since == Instant.at(since).wall)
        #expect(change.state == series.state)
        // A subscriber that tries again with each epoch must not miss this one.
        #expect(change.state.epoch == 2)
    }

    @Test func `counters continue, and so does the time of a status that lasts`() throws {
        var series = begun(epoch: 7, flaps: 3)
        #expect(series.begin(first(at: 9), cause: .resync) == nil)
        #expect(series.state?.epoch == 7)
        var later = first(.via("wlan0"), at: 10, epoch: 2, flaps: 1).state
        later.since = Instant.at(9).wall
        let change = series.append(
            ReachabilityChange(at: .at(10), cause: .routeAdded, aspects: [.path], previous: nil, state: later))
        #expect(change.state.epoch == 8)
        #expect(change.state.flaps == 4)
        #expect(change.state.since == Instant.at(0).wall)
        #expect(change.previous?.interface == "eth0")
        let lost = series.append(
            ReachabilityChange(
                at: .at(11), cause: .routeRemoved, aspects: [.status], previous: nil, state: first(.lost, at: 11).state)
        )
        #expect(lost.state.since == Instant.at(11).wall)
    }

    @Test func `a higher epoch of the next observer is kept`() {
        var series = begun(epoch: 7)
        _ = series.begin(first(.via("wlan0"), at: 9, epoch: 12), cause: .resync)
        #expect(series.state?.epoch == 12)
    }

    @Test func `after a long time without an observer the status is unknown once, and what follows is a difference`()
        throws
    {
        var series = begun(epoch: 4)
        series.becomeStale()
        let found = series.becomeUnknown(at: .at(10))
        let unknown = try #require(found)
        #expect(unknown.cause == .cannotObserve && unknown.aspects == [.status])
        #expect(unknown.state.reason == .cannotObserve && !unknown.state.isStale)
        #expect(unknown.state.since == Instant.at(10).wall)
        #expect(series.becomeUnknown(at: .at(11)) == nil)
        let next = series.begin(first(at: 12), cause: .resync)
        let back = try #require(next)
        #expect(back.aspects == [.status] && back.previous?.status == .unknown)
        // Nothing had changed, so nothing needs to be tried again.
        #expect(back.state.epoch == 4)
    }

    @Test func `nothing is held back, stale or proved of a status that is given up`() throws {
        var held = first(at: 0).state
        held.isHeld = true
        held.heldCause = RootCause(.noCarrier, interface: "eth0")
        held.isValidated = true
        (held.connectivity, held.ipv4.connectivity) = (.full, .full)
        var series = ChangeSeries(of: .internet)
        _ = series.append(
            ReachabilityChange(at: .at(0), cause: .start, aspects: [], previous: nil, state: held))
        series.becomeStale()
        let found = series.becomeUnknown(at: .at(10))
        let state = try #require(found).state
        #expect(!state.isHeld && state.heldCause == nil && !state.isStale)
        #expect(state.connectivity == .unknown && state.ipv4.connectivity == .unknown && state.isValidated)
        #expect(state.connectivitySince == Instant.at(10).wall)
    }

    @Test func `states get the name of the target, and keep since when their connectivity is so`() throws {
        var series = ChangeSeries(of: .internet)
        series.name = "home"
        var early = first(at: 3).state
        early.connectivity = .full
        func change(_ state: ReachabilityState) -> ReachabilityChange {
            ReachabilityChange(at: .at(9), cause: .probe, aspects: [.connectivity], previous: nil, state: state)
        }
        #expect(series.append(change(early)).state.name == "home")
        var later = first(at: 9).state
        later.connectivity = .full
        #expect(series.append(change(later)).state.connectivitySince == Instant.at(3).wall)
        later.connectivity = .limited
        #expect(series.append(change(later)).state.connectivitySince == Instant.at(9).wall)
    }

    @Test func `if no observer ever reported, unknown is the initial state`() throws {
        var series = ChangeSeries(of: .internet)
        let found = series.becomeUnknown(at: .at(1))
        let unknown = try #require(found)
        #expect(unknown.isInitial && unknown.cause == .start && unknown.state.status == .unknown)
        #expect(series.begin(first(at: 2), cause: .resync)?.aspects == [.status])
    }

    @Test func `lost changes are one difference`() throws {
        var series = begun()
        #expect(series.catchUp(to: first(at: 0).state, at: .at(5)) == nil)
        let found = series.catchUp(to: first(.lost, at: 4, flaps: 2).state, at: .at(5))
        let change = try #require(found)
        #expect(change.aspects == [.status] && change.state.flaps == 2)
    }

    @Test func `impossible numbers do no harm`() {
        var series = begun(epoch: .max, flaps: .max)
        #expect(series.begin(first(.lost, at: 1, epoch: 1, flaps: .max), cause: .resync) != nil)
        _ = series.begin(first(.eth0, at: 2, epoch: .max, flaps: 1), cause: .resync)
        #expect(series.state?.epoch == .max)
        #expect(series.state?.flaps == .max)
    }
}
