import ReachCore
import ReachLoop
import ReachTesting
import Testing

@testable import ReachControl

/// The stream over successive connections. A value decides, so the tests need no daemon and do not wait.
@Suite struct DaemonStreamTests {
    private static let gone = ControlError.closed(path: "/s")

    private func at(_ seconds: Int64) -> Instant {
        Instant(
            wall: Timestamp(nanosecondsSince1970: seconds * 1_000_000_000),
            boot: BootTime(nanoseconds: seconds * 1_000_000_000))
    }

    private func snapshot(_ state: ReachabilityState = .reachable(.internet), at seconds: Int64 = 0) -> StreamEvent {
        .snapshot(ReachabilityChange(at: at(seconds), cause: .start, aspects: [], previous: nil, state: state))
    }

    private var away: ReachabilityState {
        var state = ReachabilityState.reachable(.internet)
        state.adopt(Verdict(.notReachable, reason: .noRoute))
        return state
    }

    private func begun() -> DaemonStream {
        var stream = DaemonStream(of: .internet)
        _ = stream.handle(snapshot())
        return stream
    }

    @Test func `delays between attempts double from 100 ms to 5 s, and start again after a success`() {
        var stream = DaemonStream(of: .internet)
        let waits = (0..<8).map { _ in stream.handleLoss(Self.gone, at: at(0)).wait }
        #expect(waits == [100, 200, 400, 800, 1600, 3200, 5000, 5000].map { .milliseconds($0) })
        _ = stream.handle(snapshot())
        #expect(stream.handleLoss(Self.gone, at: at(1)).wait == .milliseconds(100))
    }

    @Test func `a daemon that never answered is reported unavailable once`() {
        var stream = DaemonStream(of: .internet)
        guard case .unavailable(Self.gone, let change)? = stream.handleLoss(Self.gone, at: at(0)).events.first else {
            Issue.record("no event")
            return
        }
        #expect(change.isInitial && change.state.reason == .cannotObserve)
        #expect(stream.handleLoss(Self.gone, at: at(1)).events.isEmpty)
        #expect(stream.deadline == nil)
        let events = stream.handle(snapshot(at: 3))
        guard events.count == 2, case .target(.change(let found)) = events[1] else {
            Issue.record("\(events)")
            return
        }
        #expect(events[0] == .reconnected(at(3), away: .seconds(3), found.state))
        #expect(found.aspects == [.status] && !found.isInitial)
    }

    @Test func `a lost daemon leaves a stale state, which becomes unknown after ten seconds`() {
        var stream = begun()
        var stale = ReachabilityState.reachable(.internet)
        stale.isStale = true
        #expect(stream.handleLoss(Self.gone, at: at(5)).events == [.disconnected(at(5), Self.gone, stale)])
        #expect(stream.handleLoss(Self.gone, at: at(6)).events.isEmpty)
        #expect(stream.deadline == at(15).boot)
        #expect(stream.expire(at: at(14)).isEmpty)
        let events = stream.expire(at: at(15))
        guard case .target(.change(let change))? = events.first else {
            Issue.record("\(events)")
            return
        }
        #expect(change.cause == .cannotObserve && change.state.status == .unknown)
        #expect(stream.deadline == nil)
        #expect(stream.expire(at: at(16)).isEmpty)
    }

    @Test func `a daemon that is back emits reconnected, and one change if anything differs`() {
        var stream = begun()
        _ = stream.handleLoss(Self.gone, at: at(5))
        #expect(stream.handle(snapshot(at: 7)) == [.reconnected(at(7), away: .seconds(2), .reachable(.internet))])
        #expect(stream.deadline == nil)
        _ = stream.handleLoss(Self.gone, at: at(8))
        let events = stream.handle(snapshot(away, at: 9))
        guard events.count == 2, case .target(.change(let change)) = events[1] else {
            Issue.record("\(events)")
            return
        }
        #expect(events[0] == .reconnected(at(9), away: .seconds(1), change.state))
        #expect(change.aspects == [.status] && change.cause == .resync)
        #expect(change.previous?.status == .reachable && change.previous?.isStale == true)
    }

    @Test func `lost events emit their number, then the state with the combined difference`() {
        var stream = begun()
        #expect(stream.handle(.dropped(at(1), count: 3)) == [.dropped(at(1), count: 3)])
        let events = stream.handle(snapshot(away, at: 1))
        guard case .snapshot(let current, let difference?)? = events.first else {
            Issue.record("\(events)")
            return
        }
        #expect(current.state.status == .notReachable && difference.aspects == [.status])
        guard case .snapshot(let again, difference: nil)? = stream.handle(snapshot(away, at: 2)).first else {
            Issue.record("no snapshot, or a difference")
            return
        }
        #expect(again.state == current.state && again.bootTime == at(2).boot)
    }

    @Test func `other events pass through, but not before the first state`() {
        let others = StreamEvent.others(at: at(1))
        var stream = DaemonStream(of: .internet)
        for other in others { #expect(stream.handle(other).isEmpty) }
        #expect(!stream.isLive)
        _ = stream.handle(snapshot())
        #expect(stream.isLive)
        for other in others { #expect(stream.handle(other).count == 1) }
        _ = stream.handleLoss(Self.gone, at: at(1))
        for other in others { #expect(stream.handle(other).isEmpty) }
    }

    @Test func `an event of a later version is written as received, with this stream's number`() throws {
        let json = try JSONReader.read(
            Array(
                #"{"v":1,"type":"probe","seq":9,"time":"2026-11-21T03:10:00.000001Z","boottime_ns":7,"url":"x","n":[1]}"#
                    .utf8))
        var (reader, lines) = (EventStreamReader(), EventStream(source: .daemon))
        var stream = begun()
        let found = stream.handle(try reader.read(json)).first
        let event = try #require(found)
        #expect(
            String(decoding: lines.line(event.encoded(source: .daemon)), as: UTF8.self)
                == #"{"v":1,"type":"probe","seq":1,"time":"2026-11-21T03:10:00.000001Z","boottime_ns":7,"n":[1],"url":"x"}"#
                + "\n")
    }

    /// Checks that any events in any order make one series without a gap.
    @Test func `any order of events makes one series`() {
        var random = SeededGenerator(seed: 31)
        for _ in 0..<300 {
            var stream = DaemonStream(of: .internet)
            var latest: ReachabilityState?
            var isConnected = true
            for second in 1...40 as ClosedRange<Int64> {
                let next = snapshot(random.oneIn(2) ? away : .reachable(.internet), at: second)
                for event in random.step(&stream, next, at: at(second)) {
                    switch event {
                    case .target(.change(let change)), .unavailable(_, let change):
                        // `reconnected` ends staleness before the change follows.
                        var previous = change.previous
                        previous?.isStale = latest?.isStale ?? false
                        #expect(previous == latest && change.isInitial == (latest == nil))
                        #expect(change.isInitial == change.aspects.isEmpty)
                        #expect(change.state.epoch >= latest?.epoch ?? 0)
                        latest = change.state
                    case .snapshot(let change, let difference):
                        #expect(difference == nil || difference?.previous?.status == latest?.status)
                        latest = change.state
                    case .disconnected(_, _, let state):
                        #expect(isConnected && state.isStale)
                        latest?.isStale = true
                        #expect(state == latest)
                        isConnected = false
                    case .reconnected(_, _, let state):
                        #expect(!state.isStale)
                        latest?.isStale = false
                        isConnected = true
                    default: #expect(isConnected)
                    }
                    if case .unavailable = event { isConnected = false }
                }
                #expect(stream.deadline == nil || !stream.isLive)
            }
        }
    }

    @Test func `events about the daemon itself have the keys that the manual names`() {
        var lines = EventStream(source: .daemon)
        func text(_ event: StreamEvent) -> String {
            String(decoding: lines.line(event.encoded(source: .daemon)), as: UTF8.self)
        }
        #expect(
            text(.reconnected(at(1), away: .milliseconds(1234), away))
                == #"{"v":1,"type":"reconnected","seq":1,"time":"1970-01-01T00:00:01.000000Z","boottime_ns":1000000000,"away_ms":1234}"#
                + "\n")
        let gone = text(.disconnected(at(1), Self.gone, away))
        #expect(gone.contains(#""type":"disconnected","seq":2,"#))
        #expect(gone.contains(#""reason":"the daemon at /s hung up","status":{"v":1,"type":"status""#))
    }
}

extension StreamEvent {
    /// Events without a state.
    fileprivate static func others(at moment: Instant) -> [StreamEvent] {
        [
            .target(.resync(moment, reason: "x")), .target(.wake(moment, slept: .seconds(1))),
            .dropped(moment, count: 1),
            .other(moment, type: "probe", .object([:])),
        ]
    }
}

extension SeededGenerator {
    /// Feeds the stream a random event or loss at the time of the snapshot.
    fileprivate mutating func step(
        _ stream: inout DaemonStream, _ snapshot: StreamEvent, at moment: Instant
    ) -> [StreamEvent] {
        switch Int.random(in: 0..<6, using: &self) {
        case 0, 1: return stream.handleLoss(.closed(path: "/s"), at: moment).events
        case 2: return stream.handle(pick(StreamEvent.others(at: moment)))
        case 3: return stream.expire(at: moment)
        default: return stream.handle(snapshot)
        }
    }
}
