import ReachFleet
import Testing

/// Who is answered next of the hosts that ask for a token.
@Suite struct EnrolmentTurnsTests {
    @Test func `a host that asks 29,000 times keeps no other one from being answered`() {
        var turns = EnrolmentTurns<Int>(limit: 1024)
        for number in 0..<29_000 { _ = turns.add(number, of: "reach.v1.enroll.loud.K") }
        #expect(turns.add(-1, of: "reach.v1.enroll.quiet.K") == true)
        #expect(turns.next() == 28_999, "its last request: it has given up the others")
        _ = turns.add(29_000, of: "reach.v1.enroll.loud.K")
        #expect(turns.next() == -1)
        #expect(turns.next() == 29_000)
        #expect(turns.isEmpty && turns.next() == nil)
    }

    @Test func `only a new subject is one more that waits`() {
        var turns = EnrolmentTurns<Int>(limit: 2)
        #expect(turns.add(1, of: "a") == true)
        #expect(turns.add(2, of: "a") == false)
        #expect(turns.add(3, of: "b") == true)
        #expect(turns.add(4, of: "c") == false, "all places are taken")
        #expect(turns.next() == 2)
        #expect(turns.add(5, of: "c") == true)
        #expect(turns.next() == 3)
        #expect(turns.next() == 5)
    }
}
