import ReachCore
import ReachFleet
import Testing

/// Hosts behind one public address are one line, with a state of its own.
@Suite struct FleetLineTests {
    private struct Host {
        let id: String
        var address = "203.0.113.7"
        var renewed = 990.0
        var connectivity = Connectivity.full
        var since = 0.0
        var left: Double?
        var down: [String] = []
    }

    private static func lines(_ hosts: [Host]) -> [String] {
        var roster = Roster()
        for host in hosts {
            roster.apply(listed: host.id, key: "K\(host.id)")
            var state = HostState(
                host: host.id, version: "1", written: Instant(wall: at(host.left ?? 0), boot: BootTime(nanoseconds: 0)),
                boot: "b", lease: .seconds(30))
            state.status = HostStatus(.reachable, connectivity: host.connectivity, since: at(host.since))
            state.left = host.left.map { at($0) }
            state.probesDown = host.down
            roster.apply(state: state.bytes, of: host.id, storedAt: at(host.left ?? 0))
            if host.left == nil {
                let lease = HostLease(boot: "b", n: 1, since: at(0), behind: 0)
                roster.apply(lease: lease.bytes, of: host.id, storedAt: at(host.renewed))
            }
            roster.apply(
                ConnectionAdvisory(
                    isUp: true, time: at(0), start: at(0), user: "K\(host.id)", address: IPAddress(host.address)))
        }
        return FleetLine.list(roster.hosts, EngineFacts(now: at(1000))).map { line in
            let since = line.since.map {
                " since \(($0.nanosecondsSince1970 - at(0).nanosecondsSince1970) / 1_000_000_000)"
            }
            return
                "\(line.name) \(line.word.shown)\(since ?? ""): \(line.connected) of \(line.hosts.joined(separator: ","))"
        }
    }

    @Test func `a line carries while one of its hosts is with the server, whatever the others are`() {
        #expect(
            Self.lines([Host(id: "b"), Host(id: "a", renewed: 100), Host(id: "c", left: 500)])
                == ["203.0.113.7 online: 1 of a,b,c"])
    }

    @Test func `a line whose hosts all went is silent since the last one went, unless that one said goodbye over it`() {
        #expect(
            Self.lines([Host(id: "a", renewed: 100), Host(id: "b", renewed: 400), Host(id: "c", left: 50)])
                == ["203.0.113.7 silent since 400: 0 of a,b,c"])
        #expect(
            Self.lines([Host(id: "a", renewed: 100), Host(id: "b", left: 500)])
                == ["203.0.113.7 left since 500: 0 of a,b"])
    }

    @Test func `a line is limited if no host that is there has the Internet, and one target is no trouble of it`() {
        let portal = Host(id: "a", connectivity: .portal, since: 300)
        #expect(Self.lines([portal, Host(id: "b", renewed: 100)]) == ["203.0.113.7 limited since 300: 1 of a,b"])
        #expect(Self.lines([portal, Host(id: "b", down: ["shop"])]) == ["203.0.113.7 online: 2 of a,b"])
    }

    @Test func `addresses are lines of their own, and of IPv6 what a provider gives to one customer`() {
        #expect(
            Self.lines([
                Host(id: "a", address: "2001:db8:0:100::1"), Host(id: "b", address: "2001:db8:0:1ff::2"),
                Host(id: "c", address: "2001:db8:0:200::3"), Host(id: "d"), Host(id: "e", address: "203.0.113.8"),
            ]) == [
                "203.0.113.7 online: 1 of d", "203.0.113.8 online: 1 of e", "2001:db8:0:100::/56 online: 2 of a,b",
                "2001:db8:0:200::/56 online: 1 of c",
            ])
    }
}
