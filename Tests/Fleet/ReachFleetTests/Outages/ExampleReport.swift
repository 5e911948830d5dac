import ReachCore
import ReachFleet

/// A report on an hour of two sites.
enum ExampleReport {
    /// Those of one were away for half of the hour, and a host of the other closed its connection for as long.
    static func make(
        quiet: QuietTime = QuietTime(id: "x", query: .all, from: at(0), until: at(600 + 180)),
        _ includes: (RosterHost) -> Bool = { _ in true }
    ) -> FleetReport {
        var (roster, history, notes) = (Roster(), FleetHistory(since: at(0), keepsTimelines: false), OperatorNotes())
        for number in 1...4 {
            var state = HostState(
                host: "till-\(number)", version: "1", written: Instant(wall: at(0), boot: BootTime(nanoseconds: 0)),
                boot: "b", lease: .seconds(120))
            state.labels = ["site": number < 3 ? "=a,\"b\"" : "berlin-7"]
            roster.apply(state: state.bytes, of: "till-\(number)", storedAt: at(0))
            let lease = HostLease(boot: "b", n: 0, since: at(0), behind: 0)
            roster.apply(lease: lease.bytes, of: "till-\(number)", storedAt: at(3590))
            roster.apply(listed: "till-\(number)", key: "K\(number)")
        }
        for (time, isUp) in [(600.0, false), (2400, true)] {
            for number in 2...4 {
                history.apply(
                    ConnectionAdvisory(
                        isUp: isUp, time: at(time), start: at(isUp ? time : 0), user: "K\(number)",
                        reason: number > 2 ? "Stale Connection" : "Client Closed"), of: "till-\(number)")
            }
        }
        _ = notes.apply(key: quiet.key, quiet.bytes, storedAt: at(0))
        return FleetReport(roster, history, EngineFacts(now: at(3600)), notes, from: at(0)) { host, _ in includes(host)
        }
    }
}
