import ReachCore
import ReachFleet
import Testing

@Suite struct AbsenceTests {
    private func change(
        _ time: Double, _ isHere: Bool, _ evidence: PresenceChange.Evidence = .presumed, _ reason: Reason? = nil
    ) -> PresenceChange {
        PresenceChange(member: 0, time: at(time), isHere: isHere, evidence: evidence, reason: reason)
    }

    private func list(_ changes: PresenceChange..., here: Bool = true) -> [Absence] {
        Absence.list(of: changes, isHere: [here])
    }

    @Test func `a connection that comes back within half a minute is no absence`() {
        #expect(list(change(10, false), change(39, true)).isEmpty)
        #expect(list(change(10, false), change(41, true)).count == 1)
    }

    @Test func `a short absence that the host itself reports is one`() {
        #expect(list(change(10, false, .confirmed), change(11, true, .confirmed)).count == 1)
    }

    @Test func `what the host says replaces what the engine saw`() {
        let absence = list(
            change(10, false, .confirmed, .gatewayUnreachable), change(130, false), change(310, true),
            change(300, true, .confirmed))
        #expect(absence.map(\.start) == [at(10)])
        #expect(absence.map(\.end) == [at(300)])
        #expect(absence.map(\.evidence) == [.confirmed])
        #expect(absence.map(\.reason) == [.gatewayUnreachable])
    }

    @Test func `a host that noticed later than the engine is believed, too`() {
        let absence = list(
            change(10, false), change(12, false, .confirmed, .noCarrier), change(60, true), change(61, true, .confirmed)
        )
        #expect(absence.map(\.start) == [at(12)])
        #expect(absence.map(\.end) == [at(61)])
    }

    @Test func `the first time at which a host says that it is back counts`() {
        let absence = list(
            change(10, false, .confirmed), change(60, true), change(61, true, .confirmed), change(100, true, .confirmed)
        )
        #expect(absence.map(\.end) == [at(61)])
    }

    @Test func `what the engine saw later changes neither begin nor reason of what the host says`() {
        let absence = list(
            change(10, false, .confirmed, .noCarrier), change(12, false, .confirmed, .noRoute), change(14, false),
            change(60, true, .confirmed), change(70, true))
        #expect(absence.map(\.start) == [at(10)] && absence.map(\.reason) == [.noCarrier])
        #expect(absence.map(\.end) == [at(60)])
    }

    @Test func `how much later a host may have gone, and whether it hung up, is of the engine's word alone`() {
        let closing = PresenceChange(
            member: 0, time: at(10), isHere: false, vagueness: .seconds(120), isClosing: true)
        let seen = list(closing, here: false)
        #expect(seen.map(\.vagueness) == [.seconds(120)] && seen.map(\.isSwitchedOff) == [true])
        let confirmed = list(closing, change(11, false, .confirmed), here: false)
        #expect(confirmed.map(\.vagueness) == [.zero] && confirmed.map(\.isSwitchedOff) == [false])
    }

    @Test func `a host that returns first was away before the window`() {
        #expect(list(change(10, true)).map(\.start) == [nil])
        #expect(list(change(10, true)).map(\.end) == [at(10)])
    }

    @Test func `a daemon that starts says nothing about the time before`() {
        let start = PresenceChange(member: 0, time: at(10), isHere: true, evidence: .confirmed, provesAbsence: false)
        #expect(list(start).isEmpty)
        #expect(list(change(5, false), start).isEmpty)
        #expect(list(change(5, false, .confirmed), start).map(\.end) == [at(10)])
    }

    @Test func `a host that is away and has no change was away before the window`() {
        #expect(list(here: false) == [Absence(member: 0, start: nil)])
        #expect(list(here: true).isEmpty)
    }

    @Test func `the order in which changes arrive does not matter`() {
        let changes = [change(10, false, .confirmed), change(20, true), change(50, false), change(90, true)]
        let expected = Absence.list(of: changes, isHere: [true])
        #expect(expected.count == 2)
        #expect(Absence.list(of: changes.reversed(), isHere: [true]) == expected)
    }

    @Test func `a change of an unknown host changes nothing`() {
        #expect(Absence.list(of: [PresenceChange(member: 7, time: at(1), isHere: false)], isHere: [true]).isEmpty)
    }

    // MARK: - The strip

    @Test func `the strip says in which half-hours a host was away`() {
        let end = at(0)
        let absences = [
            Absence(member: 0, start: at(-3600), end: at(-900)),
            Absence(member: 0, start: at(-86_000 - 3600), end: at(-84_600)),
        ]
        let strip = AbsenceStrip.text(absences, asOf: end, known: at(-90_000))
        #expect(strip == "2" + String(repeating: "0", count: 45) + "21")
    }

    @Test func `the strip says from when on it knows`() {
        let strip = AbsenceStrip.text([], asOf: at(0), known: at(-3600))
        #expect(strip == String(repeating: "3", count: 46) + "00")
        #expect(AbsenceStrip.text([], asOf: at(0), known: at(-100_000)) == nil)
        // An absence of no length, at the edge of two cells, and ones that ended before or begin after.
        for (start, end) in [(-1800.0, -1800.0), (-200_000, -90_000), (10, 20)] {
            let absence = Absence(member: 0, start: at(start), end: at(end))
            #expect(AbsenceStrip.text([absence], asOf: at(0), known: at(-100_000)) == nil)
        }
        let whole = Absence(member: 0, start: at(-1800), end: at(0))
        let expected = String(repeating: "0", count: 47) + "2"
        #expect(AbsenceStrip.text([whole], asOf: at(0), known: at(-100_000)) == expected)
        let long = AbsenceStrip.text([Absence(member: 0, start: nil)], asOf: at(0), known: at(-100_000))
        #expect(long == String(repeating: "2", count: 48))
    }
}
