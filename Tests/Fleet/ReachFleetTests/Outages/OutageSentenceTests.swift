import ReachCore
import ReachFleet
import Testing

@Suite struct OutageSentenceTests {
    private let members = (0..<318).map {
        FleetMember(host: "h\($0)", address: IPAddress("203.0.113.\($0 % 250 + 1)"))
    }

    private func outage(_ absences: [Absence]) throws -> Outage {
        try #require(OutageFinder.find(absences, among: members + others).first)
    }

    private let others = (0..<700).map { FleetMember(host: "o\($0)", address: IPAddress("198.51.\($0 % 200).1")) }

    @Test func `an outage is a sentence with how many, what they share, since when, and how close together`() throws {
        let line = try outage(away(0..<312, from: 604)).line
        #expect(line == "312 of 318 hosts behind 203.0.113.0/24 silent since 03:10:04, within 4 s")
    }

    @Test func `where the last words are all that is known it says how much later it may have begun`() throws {
        let vanished = (0..<312).map { Absence(member: $0, start: at(604), vagueness: .seconds(30)) }
        #expect(
            try outage(vanished).line
                == "312 of 318 hosts behind 203.0.113.0/24 silent since 03:10:04, or up to 30 s later")
        let soon = (0..<312).map { Absence(member: $0, start: at(604), vagueness: .seconds(2)) }
        #expect(try outage(soon).line.hasSuffix("silent since 03:10:04, within 1 s"))
        // A lease of 5 s: hosts that are found to be away later may show that it was later.
        let later = (0..<312).map { Absence(member: $0, start: at(604), vagueness: .seconds(5)) }
        #expect(try outage(later).line.hasSuffix("silent since 03:10:04, or up to 5 s later"))
    }

    @Test func `it says how many are back`() throws {
        let absences = away(0..<212, from: 604) + away(212..<312, from: 604, to: 900)
        let line = try outage(absences.sorted { $0.start! < $1.start! }).line
        #expect(line == "312 of 318 hosts behind 203.0.113.0/24 silent since 03:10:04, within 3 s; 100 are back")
    }

    @Test func `once nine in ten are back it is over`() throws {
        let absences = away(0..<290, from: 604, to: 1501) + away(290..<312, from: 604)
        let sorted = absences.sorted { $0.start! < $1.start! }
        #expect(
            try outage(sorted).line
                == "312 of 318 hosts behind 203.0.113.0/24 silent from 03:10:04, within 3 s; 290 back by 03:25:01")
        #expect(try !outage(sorted).isOpen)
        let all = try outage(away(0..<312, from: 604, to: 1501))
        #expect(
            all.line == "312 of 318 hosts behind 203.0.113.0/24 silent from 03:10:04, within 4 s; all back by 03:25:01")
        #expect(all.firstBack == at(1501))
    }

    @Test func `what the hosts themselves say since replaces what was presumed`() throws {
        let absences = (0..<300).map {
            Absence(
                member: $0, start: at(604), end: at(700), evidence: .confirmed,
                reason: $0 < 10 ? .noCarrier : .gatewayUnreachable)
        }
        let line = try outage(absences).line
        #expect(
            line == "300 of 318 hosts behind 203.0.113.0/24 not reachable from 03:10:04, within 1 s: "
                + "the gateway does not answer; all back by 03:11:40")
        #expect(try outage(absences).confirmed == 300)
    }

    @Test func `what else the hosts share follows, with a bound`() throws {
        let members = (0..<10).map { index in
            FleetMember(
                host: "h\(index)", gateway: IPAddress("192.0.2.1"),
                labels: ["a": "1", "b": "2", "c": "3", "d": "4", "e": "\u{1b}[31m"])
        }
        let outage = try #require(OutageFinder.find(away(0..<6, from: 1), among: members + others).first)
        #expect(outage.line == "6 of 10 hosts behind gateway 192.0.2.1 silent since 03:00:01, within 1 s")
        #expect(outage.addition?.hasPrefix("also 6 of 10 with ") == true)
        #expect(outage.addition?.hasSuffix(" and 1 more") == true)
        #expect(outage.addition?.contains("\u{1b}") == false)
    }

    @Test(arguments: [
        ("gateway,address", true), ("site", true), ("a,,b", false), (",", false), ("", false),
    ])
    func `a list of traits has no empty names`(_ text: String, _ isValid: Bool) {
        #expect((TraitChoice(text) != nil) == isValid)
    }
}
