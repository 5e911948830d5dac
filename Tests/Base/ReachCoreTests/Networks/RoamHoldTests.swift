import ReachCore
import ReachTesting
import Testing

/// The order of events is that of mac80211 in Linux 6.1: the carrier goes, nl80211 says why, the link joins, the
/// carrier returns.
@Suite struct RoamHoldTests {
    private let home = WirelessNetwork(ssid: SSID("home"), bssid: HardwareAddress("02:00:00:00:00:01"))
    private let homeToo = WirelessNetwork(ssid: SSID("home"), bssid: HardwareAddress("02:00:00:00:00:02"))
    private let cafe = WirelessNetwork(ssid: SSID("cafe"), bssid: HardwareAddress("02:00:00:00:00:03"))
    private let up = Link.up(1, "wlan0")

    private func time(_ milliseconds: Int64) -> BootTime { BootTime(nanoseconds: milliseconds * 1_000_000) }

    /// After the loss of the carrier at 0.
    private func lost() -> RoamHold {
        var hold = RoamHold()
        #expect(hold.holds(up.withoutCarrier, after: up, in: home, at: time(0)) == true)
        #expect(hold.deadline == time(200))
        return hold
    }

    @Test func `a link that moves to another access point never loses its carrier`() {
        var hold = lost()
        #expect(hold.left(up, home, mayReturn: true, at: time(40)) == nil)
        #expect(hold.deadline == time(3000))
        #expect(hold.holds(up.handshaking, after: up, in: home, at: time(60)) == true)
        #expect(hold.joined(1, homeToo) == nil)
        #expect(hold.holds(up, after: up, in: homeToo, at: time(150)) == false)
        #expect(hold.deadline == nil)
    }

    @Test func `a link that leaves again and again is held for 3 s in all`() {
        var hold = lost()
        for round in Int64(0)..<10 {
            _ = hold.left(up, home, mayReturn: true, at: time(40 + round * 250))
            #expect(hold.joined(1, homeToo) == nil)
            #expect(hold.deadline == time(3000))
        }
        #expect(hold.timeReached(at: time(3000)).map(\.loss) == [up.withoutCarrier])
    }

    @Test func `nl80211 may be first`() {
        var hold = RoamHold()
        #expect(hold.left(up, home, mayReturn: true, at: time(0)) == nil)
        #expect(hold.holds(up, after: up, in: home, at: time(5)) == false, "a notice about something else")
        #expect(hold.holds(up.withoutCarrier, after: up, in: home, at: time(10)) == true)
        #expect(hold.joined(1, homeToo) == nil)
        #expect(hold.holds(up, after: up, in: homeToo, at: time(150)) == false)
        #expect(!hold.isHolding(1))
    }

    @Test func `a carrier that returns before nl80211 says where the link is was lost if the network is another one`() {
        for (network, loss) in [(cafe, up.withoutCarrier), (homeToo, nil)] {
            var hold = lost()
            #expect(hold.holds(up, after: up, in: home, at: time(50)) == false)
            #expect(!hold.isHolding(1) && hold.deadline == time(250))
            #expect(hold.joined(1, network) == loss)
            #expect(hold.deadline == nil)
        }
        var hold = lost()
        _ = hold.holds(up, after: up, in: home, at: time(50))
        #expect(hold.left(up, home, mayReturn: false, at: time(60)) == nil, "the carrier is there")
        #expect(hold.deadline == time(260))
        #expect(hold.joined(1, cafe) == up.withoutCarrier)
        hold = lost()
        _ = hold.holds(up, after: up, in: home, at: time(50))
        #expect(hold.holds(up.withoutCarrier, after: up, in: home, at: time(100)) == true, "lost again")
        #expect(hold.timeReached(at: time(300)).map(\.loss) == [up.withoutCarrier])
        hold = lost()
        _ = hold.holds(up, after: up, in: home, at: time(50))
        #expect(hold.timeReached(at: time(250)).map(\.loss) == [nil], "the same network, or none that says so")
    }

    @Test func `a link that leaves for a reason loses its carrier at once`() {
        var hold = lost()
        #expect(hold.left(up, home, mayReturn: false, at: time(40)) == up.withoutCarrier)
        #expect(hold.deadline == nil)
    }

    @Test func `a farewell before the loss of the carrier holds nothing back`() {
        var hold = RoamHold()
        #expect(hold.left(up, home, mayReturn: false, at: time(0)) == nil)
        #expect(hold.holds(up.withoutCarrier, after: up, in: home, at: time(40)) == false)
        #expect(hold.deadline == nil)
    }

    @Test func `of a link without a carrier that leaves nothing is remembered, but of one that is held`() {
        var hold = RoamHold()
        #expect(hold.left(up.withoutCarrier, home, mayReturn: true, at: time(0)) == nil)
        #expect(!hold.knows(1))
        hold = lost()
        #expect(hold.left(up.withoutCarrier, home, mayReturn: true, at: time(40)) == nil)
        #expect(hold.knows(1) && hold.isHolding(1))
    }

    @Test func `without a word from nl80211 the loss counts after a moment`() {
        var hold = lost()
        #expect(hold.timeReached(at: time(199)).count == 0)
        let due = hold.timeReached(at: time(200))
        #expect(due.map(\.index) == [1] && due[0].loss == up.withoutCarrier)
        #expect(hold.deadline == nil)
    }

    @Test func `a link that joins no other access point in time has lost its carrier`() {
        var hold = lost()
        _ = hold.left(up, home, mayReturn: true, at: time(40))
        #expect(hold.holds(up.handshaking, after: up, in: home, at: time(90)) == true)
        #expect(hold.timeReached(at: time(2999)).count == 0)
        let due = hold.timeReached(at: time(3000))
        #expect(due.map(\.loss) == [up.handshaking], "as the kernel described it last")
    }

    @Test func `joining another network is no move`() {
        var hold = lost()
        _ = hold.left(up, home, mayReturn: true, at: time(40))
        #expect(hold.joined(1, cafe) == up.withoutCarrier)
        #expect(!hold.isHolding(1))
    }

    @Test func `a wrong password at the next access point is a loss`() {
        var hold = lost()
        _ = hold.left(up, home, mayReturn: true, at: time(40))
        #expect(hold.joined(1, homeToo) == nil)
        #expect(hold.left(up, homeToo, mayReturn: false, at: time(90)) == up.withoutCarrier)
    }

    @Test func `what is taken down, removed, wired or not joined is never held back`() {
        var hold = RoamHold()
        #expect(hold.holds(up.takenDown, after: up, in: home, at: time(0)) == false)
        #expect(hold.holds(up.withoutCarrier, after: up, in: nil, at: time(0)) == false)
        #expect(hold.holds(up.withoutCarrier, after: nil, in: home, at: time(0)) == false, "a link that appears")
        #expect(hold.holds(up.withoutCarrier, after: up.withoutCarrier, in: home, at: time(0)) == false)
        hold = lost()
        #expect(hold.holds(up.takenDown, after: up, in: home, at: time(10)) == false)
        #expect(!hold.isHolding(1))
        hold = lost()
        hold.forget(1)
        #expect(hold.deadline == nil)
    }
}
