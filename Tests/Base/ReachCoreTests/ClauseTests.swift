import ReachCore
import Testing

struct ClauseTests {
    @Test func `a clause gets a capital letter where it begins with a word of its own`() {
        #expect(("packets to \(5) hosts vanish" as Clause).sentence == "Packets to 5 hosts vanish.")
        #expect(("nothing answers" as Clause).sentence == "Nothing answers.")
    }

    @Test(arguments: ["a", "no", "the", "by", "eth0"])
    func `a name keeps its letters, also one that looks like a word`(name: String) {
        #expect(RootCause(.linkDown, interface: name).clause.sentence == "\(name) is down.")
        let nested: Clause = "\(Clause(name: name)), which is down"
        #expect("\(nested) since noon" as Clause == Clause(name: "\(name), which is down since noon"))
        #expect(("\(nested) since noon" as Clause).start == "\(name), which is down since noon")
    }

    @Test func `a clause that was put first counts as what it begins with, and an empty one as nothing`() {
        let (empty, words): (Clause, Clause) = ("", "the gateway \(1)")
        #expect(("\(words) is silent" as Clause).start == "The gateway 1 is silent")
        #expect(("\(empty)\("wlan0") is silent" as Clause).start == "wlan0 is silent")
        #expect(RootCause(.linkDown).clause.sentence == "The link is down.")
    }
}
