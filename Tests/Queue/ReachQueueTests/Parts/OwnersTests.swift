import ReachCore
import ReachTesting
import Testing

@testable import ReachQueue

@Suite struct OwnersTests {
    private var owners = Owners()

    @Test mutating func `totals are the sums of the accounts`() {
        owners.add(2, bytes: 30, to: 1)
        owners.add(1, bytes: 5, to: 2)
        owners.reserve(100, for: 2)
        #expect(owners.count == 3 && owners.bytes == 135)
        #expect(owners.count(of: 1) == 2 && owners.bytes(of: 1) == 30 && owners.bytes(of: 2) == 105)
        owners.reserve(-100, for: 2)
        owners.add(-1, bytes: -5, to: 2)
        #expect(owners.count == 2 && owners.bytes == 30 && owners.bytes(of: 2) == 0 && owners.count(of: 3) == 0)
    }

    @Test mutating func `requests that are still to be restored count until they come, or never do`() {
        owners.expect(ExpectedRequests(shares: [1: .init(count: 2, bytes: 30)], total: 2))
        #expect(owners.count == 2 && owners.bytes == 30)
        owners.restored(10, of: 1)
        owners.add(1, bytes: 10, to: 1)
        #expect(owners.count == 2 && owners.bytes == 30)
        owners.endRestoring()
        #expect(owners.count == 1 && owners.bytes == 10 && owners.expected == nil)
    }

    @Test mutating func `root's hold, the fleet's and a user's are independent`() {
        #expect(owners.hold(7, since: .at(1)) && !owners.hold(7, since: .at(2)))
        #expect(owners.isHeld(7) && !owners.isHeld(8) && !owners.holdsAll && owners.heldSince(7) == .at(1))
        #expect(owners.hold(0, since: .at(3)) && owners.holdsAll && owners.heldSince(8) == .at(3))
        #expect(owners.holdByFleet(since: .at(4), reason: nil) == true)
        #expect(!owners.holdByFleet(since: .at(5), reason: "tests") && owners.fleetHold?.reason == "tests")
        #expect(owners.fleetHold?.since == .at(4))
        #expect(owners.hold(0, since: nil) && owners.holdsAll && owners.holdByFleet(since: nil, reason: nil))
        #expect(!owners.holdsAll && owners.isHeld(7) && owners.hold(7, since: nil) && !owners.isHeld(7))
    }

    @Test mutating func `a user sees their own hold and those that concern them`() {
        let now = Instant(wall: Timestamp(nanosecondsSince1970: 0), boot: .at(9))
        _ = owners.hold(7, since: .at(1))
        _ = owners.hold(8, since: .at(2))
        _ = owners.hold(0, since: .at(3))
        #expect(owners.holds(for: QueueInput.Client(user: 8), at: now).map(\.source) == [.user, .root])
        #expect(owners.holds(for: .root, at: now).compactMap(\.owner) == [7, 8])
    }
}
