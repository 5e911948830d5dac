import ReachDesktop
import Testing

@Suite struct CallTurnsTests {
    private var turns = CallTurns<String>(limit: 6)

    private mutating func add(_ calls: String...) {
        for call in calls { #expect(turns.add(call, of: String(call.prefix(1))) == nil) }
    }

    private mutating func rest() -> [String] {
        var all: [String] = []
        while let call = turns.next() { all.append(call) }
        return all
    }

    @Test mutating func `who calls once waits for one call of each other, and each has the answers in order`() {
        add("a1", "a2", "a3", "b1", "a4", "c1")
        #expect(turns.next() == "a1")
        add("b2")
        #expect(rest() == ["b1", "c1", "a2", "b2", "a3", "a4"])
        #expect(turns.isEmpty)
        add("a5")
        #expect(rest() == ["a5"])
    }

    @Test mutating func `where there is no room, the last call of whoever has the most finds none`() {
        add("a1", "a2", "a3", "a4", "b1", "b2")
        #expect(turns.add("a5", of: "a") == "a5")
        #expect(turns.add("c1", of: "c") == "a4")
        #expect(turns.add("c2", of: "c") == "a3")
        #expect(rest() == ["a1", "b1", "c1", "a2", "b2", "c2"])
    }
}
