import ReachCore
import ReachFleet
import Testing

@Suite struct AbsenceStripTests {
    @Test func `the strip says in which half-hours a host was away`() {
        let end = at(0)
        let absences = [
            Absence(member: 0, start: at(-3600), end: at(-900)),
            Absence(member: 0, start: at(-86_000 - 3600), end: at(-84_600)),
        ]
        let strip = AbsenceStrip.text(HostPast(absences: absences), asOf: end, known: at(-90_000))
        #expect(strip == "2" + String(repeating: "0", count: 45) + "21")
    }

    @Test func `a time in which a host was switched off counts for nothing, as in a report`() {
        let off = Absence(member: 0, start: at(-5400), end: at(-1800), isSwitchedOff: true)
        let past = HostPast(absences: [off], unknown: [at(-1800).nanosecondsSince1970..<at(0).nanosecondsSince1970])
        #expect(
            AbsenceStrip.text(past, asOf: at(0), known: at(-90_000)) == String(repeating: "0", count: 45) + "333")
        #expect(past.uncounted.count == 2)
    }

    @Test func `the strip says from when on it knows`() {
        let strip = AbsenceStrip.text(HostPast(), asOf: at(0), known: at(-3600))
        #expect(strip == String(repeating: "3", count: 46) + "00")
        #expect(AbsenceStrip.text(HostPast(), asOf: at(0), known: at(-100_000)) == nil)
        // An absence of no length, at the edge of two cells, and ones that ended before or begin after.
        for (start, end) in [(-1800.0, -1800.0), (-200_000, -90_000), (10, 20)] {
            let absence = Absence(member: 0, start: at(start), end: at(end))
            #expect(AbsenceStrip.text(HostPast(absences: [absence]), asOf: at(0), known: at(-100_000)) == nil)
        }
        let whole = Absence(member: 0, start: at(-1800), end: at(0))
        let expected = String(repeating: "0", count: 47) + "2"
        #expect(AbsenceStrip.text(HostPast(absences: [whole]), asOf: at(0), known: at(-100_000)) == expected)
        let long = AbsenceStrip.text(
            HostPast(absences: [Absence(member: 0, start: nil)]), asOf: at(0), known: at(-100_000))
        #expect(long == String(repeating: "2", count: 48))
    }
}
