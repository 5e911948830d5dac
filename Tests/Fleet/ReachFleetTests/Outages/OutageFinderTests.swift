import ReachCore
import ReachFleet
import ReachTesting
import Testing

@Suite struct OutageFinderTests {
    private func find(_ absences: [Absence], _ members: [FleetMember] = fleet()) -> [Outage] {
        OutageFinder.find(absences.sorted { $0.start ?? at(-1e6) < $1.start ?? at(-1e6) }, among: members)
    }

    @Test func `a site that goes away is one outage, named by its gateway, and by its network, label and more besides`()
    {
        let outages = find(away(0..<19, from: 4))
        #expect(outages.count == 1)
        #expect(outages.first?.extent.trait.name == "gateway")
        #expect(outages.first?.extent.affected == 19)
        #expect(outages.first?.extent.known == 20)
        // Not the whole fleet, nor wifi or wwan: only 10 and 9 of 30 of these are away.
        #expect(outages.first?.others.map(\.trait.name) == ["address", "isp", "site"])
        #expect(outages.first?.isOpen == true)
    }

    @Test func `a provider that fails is one outage and not one for each of its sites`() {
        let outages = find(away(20..<60, from: 4))
        #expect(outages.map(\.extent.trait) == [.label("isp", "south")])
        #expect(outages.first?.extent.affected == 40)
    }

    @Test func `two sites that fail at the same time are two outages if their provider stays`() {
        let outages = find(away(20..<40, from: 4) + away(60..<80, from: 4.1), fleet(sites: 9))
        #expect(outages.count == 2)
        #expect(outages.allSatisfy { $0.extent.affected == 20 && $0.extent.trait.name == "gateway" })
    }

    @Test func `the engine's own failure is an outage of all hosts`() {
        #expect(find(away(0..<60, from: 4)).map(\.extent.trait) == [.fleet])
    }

    @Test(arguments: [(4, 0), (5, 0), (9, 0), (10, 1)])
    func `an outage takes at least five hosts, and half of those with the trait`(_ hosts: Int, _ count: Int) {
        #expect(find(away(0..<hosts, from: 4)).count == count)
        let unlabelled = fleet(sites: 3, hosts: 4).map {
            FleetMember(host: $0.host, gateway: $0.gateway, address: $0.address, linkClass: $0.linkClass)
        }
        #expect(find(away(0..<min(hosts, 4), from: 4), unlabelled).isEmpty)
    }

    @Test(arguments: [2, 3, 4])
    func `all hosts with a label are an outage, however few`(_ hosts: Int) {
        let members = fleet(sites: 6, hosts: hosts).map {
            FleetMember(host: $0.host, labels: ["site": $0.labels["site"]!])
        }
        #expect(
            find(away(0..<hosts, from: 4), members).map(\.line)
                == ["\(hosts) of \(hosts) hosts with site=s0 silent since 03:00:04, within 1 s"])
        // One that stays says that the site is there.
        #expect(find(away(0..<hosts - 1, from: 4), members).isEmpty)
    }

    /// Tills that lose power together renewed their leases up to two minutes before.
    @Test func `hosts whose leases ran out one after the other went together if they may have`() {
        let members = (0..<40).map { FleetMember(host: "h\($0)", labels: ["site": "s\($0 / 8)"]) }
        let vanished = (0..<8).map {
            Absence(member: $0, start: at(100 + Double($0) * 14), vagueness: .seconds(120))
        }
        #expect(find(vanished, members).map(\.members) == [Array(0..<8)])
        // Hosts that closed their connections did so when they did.
        let closed = (0..<8).map { Absence(member: $0, start: at(100 + Double($0) * 14)) }
        #expect(find(closed, members).isEmpty)
        // What was seen after the first one's next renewal was due went later.
        let later = vanished.dropLast() + [Absence(member: 7, start: at(230), vagueness: .seconds(120))]
        #expect(find(Array(later), members).map(\.members) == [Array(0..<7)])
    }

    @Test func `a power cut of several hosts began when the last of their last words came`() {
        let members = (0..<3).map { FleetMember(host: "h\($0)", labels: ["site": "s"]) }
        let vanished = [100.0, 108, 121].enumerated().map {
            Absence(member: $0, start: at($1), vagueness: .seconds(30))
        }
        #expect(find(vanished, members).map { [$0.first, $0.last, $0.firstBy] } == [[at(121), at(121), at(130)]])
        // What each said itself is exact.
        let said = [100.0, 102, 103].enumerated().map { Absence(member: $0, start: at($1), evidence: .confirmed) }
        #expect(find(said, members).map { [$0.first, $0.last, $0.firstBy] } == [[at(100), at(103), at(100)]])
    }

    @Test func `fewer hosts are an outage if the operator says so`() {
        var options = OutageOptions()
        options.leastHosts = 3
        let members = fleet(sites: 2, hosts: 6)
        #expect(find(away(0..<3, from: 4), members).isEmpty)
        #expect(OutageFinder.find(away(0..<3, from: 4), among: members, options).count == 1)
    }

    @Test func `hosts that were away before do not count among those that could be affected`() {
        let before = (0..<12).map { Absence(member: $0, start: nil) } + away([12, 13], from: 10)
        let outages = find(before + away(14..<20, from: 100))
        #expect(outages.map(\.extent.affected) == [6])
        #expect(outages.map(\.extent.known) == [6])
    }

    @Test func `a host that is back before an outage counts again`() {
        let outages = find(away(0..<5, from: 10, to: 40) + away(5..<20, from: 100))
        // The five of before are fewer than half.
        #expect(outages.map(\.extent.affected) == [15])
        #expect(outages.map(\.extent.known) == [20])
    }

    @Test func `a host that returned when an outage began, and left again, counts once among the known`() {
        let again = [Absence(member: 0, start: at(10), end: at(100)), Absence(member: 0, start: at(101))]
        let outages = find(again + away(1..<12, from: 100))
        #expect(outages.map(\.extent.affected) == [12])
        #expect(outages.map(\.extent.known) == [20])
    }

    @Test func `who may have gone later ends no time before which the others must have gone`() {
        let members = (0..<6).map { FleetMember(host: "h\($0)", labels: ["site": "s"]) }
        func vanished(_ times: [(Double, Double)]) -> [[Int]] {
            find(
                times.enumerated().map {
                    Absence(member: $0, start: at($1.0), vagueness: .seconds($1.1))
                }, members
            ).map(\.members)
        }
        // All may have gone at one moment, at 300 s.
        #expect(vanished([(0, 400), (100, 400), (200, 400), (290, 400), (300, 400), (300, 0)]) == [Array(0..<6)])
        // The second went by 110 s, so that those from 200 s on went later.
        #expect(vanished([(0, 400), (100, 10), (200, 400), (201, 400), (202, 400), (203, 400)]) == [[2, 3, 4, 5]])
    }

    @Test func `departures further apart than the limit are separate outages`() {
        let outages = find(away(0..<10, from: 10, to: 40) + away(0..<10, from: 60))
        #expect(outages.map(\.isOpen) == [false, true])
        #expect(outages.map(\.members) == [Array(0..<10), Array(0..<10)])
    }

    @Test func `a host that leaves twice during an outage counts once`() {
        let twice = [
            Absence(member: 0, start: at(10), end: at(10.5), evidence: .confirmed), Absence(member: 0, start: at(11)),
        ]
        let outages = find(twice + away(1..<12, from: 10.2))
        #expect(outages.first?.extent.affected == 12)
        #expect(outages.first?.extent.known == 20)
        #expect(outages.first?.back == 0)
    }

    @Test func `hosts that come and go all day are no outage, however many they are`() {
        let members = fleet(sites: 50, hosts: 100)
        var generator = SeededGenerator(seed: 7)
        // One a second on average, so never five seconds without one.
        let churn = (0..<86_400).map { second in
            let start = Double(second) + Double.random(in: 0..<1, using: &generator)
            // One of another site each time; a host's turn comes every 5000 s.
            return Absence(member: second * 1237 % members.count, start: at(start), end: at(start + 600))
        }
        #expect(find(churn, members).isEmpty)
        let outages = find(churn + away(600..<700, from: 50_000.5), members)
        #expect(outages.map(\.extent.trait.name) == ["gateway"])
    }

    @Test func `only the named traits are compared`() throws {
        var options = OutageOptions()
        options.by = try #require(TraitChoice("site,class"))
        let outages = OutageFinder.find(away(20..<60, from: 4), among: fleet(), options)
        #expect(Set(outages.map(\.extent.trait)) == [.label("site", "s1"), .label("site", "s2")])
        #expect(TraitChoice("gateway,") == nil)
        #expect(TraitChoice("") == nil)
    }

    @Test func `hosts of one autonomous system of the operator's file share it`() throws {
        let members = (0..<30).map { FleetMember(host: "h\($0)", address: IPAddress("203.0.\($0).1")) }
        let table = try ASNTable("203.0.0.0/20 64500 Example Telecom")
        let outages = OutageFinder.find(away(0..<16, from: 4), among: members, systems: table)
        #expect(outages.first?.line == "16 of 16 hosts in AS64500 (Example Telecom) silent since 03:00:04, within 1 s")
    }

    @Test func `no hosts and no absences are no outage`() {
        #expect(find([]).isEmpty)
        #expect(find([], []).isEmpty)
    }

    // MARK: - Against a plain reading of the rule

    @Test(arguments: 0..<60 as Range<UInt64>)
    func `outages obey the rule on random fleets, and every run that obeys it is named`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let members = (0..<Int.random(in: 5...60, using: &generator)).map { index in
            FleetMember(
                host: "h\(index)", address: IPAddress("203.0.113.\(generator.oneIn(2) ? 1 : 77)"),
                labels: ["site": "s\(Int.random(in: 0..<4, using: &generator))"],
                linkClass: generator.pick(["wifi", "wired"]))
        }
        var moves: [Move] = []
        for _ in 0..<Int.random(in: 0...200, using: &generator) {
            moves.append(
                (
                    Int.random(in: members.indices, using: &generator),
                    at(Double(Int.random(in: 0..<600, using: &generator))), generator.oneIn(2)
                ))
        }
        let absences = ReachFleetTests.absences(of: moves, evidence: .confirmed)
        let outages = OutageFinder.find(absences, among: members)
        for outage in outages {
            let (affected, known) = (outage.extent.affected, outage.extent.known)
            #expect(
                affected >= 5 && affected * 2 >= known
                    || affected >= 2 && affected == known && outage.extent.trait.name == "site")
            #expect(outage.members.count == outage.extent.affected && outage.first <= outage.last)
            #expect(outage.extent.known == self.known(outage.extent.trait, outage, absences, members))
            for member in outage.members {
                #expect(has(members[member], outage.extent.trait))
                #expect(
                    absences.contains { absence in
                        absence.member == member
                            && absence.start.map { (outage.first...outage.last).contains($0) } == true
                    })
            }
        }
        #expect(outages == OutageFinder.find(absences, among: members))
        let named = Set(outages.flatMap { [$0.extent.trait] + $0.others.map(\.trait) })
        #expect(plainTraits(absences, members).isSubset(of: named))
    }

    private func has(_ member: FleetMember, _ trait: SharedTrait) -> Bool {
        switch trait {
        case .network(let prefix): member.address.map(prefix.contains) ?? false
        case .label(let name, let value): member.labels[name] == value
        case .linkClass(let word): member.linkClass == word
        case .fleet: true
        default: false
        }
    }

    private func known(
        _ trait: SharedTrait, _ outage: Outage, _ absences: [Absence], _ members: [FleetMember]
    ) -> Int {
        members.indices.count { member in
            has(members[member], trait)
                && (outage.members.contains(member)
                    || !absences.contains { absence in
                        absence.member == member && (absence.start ?? at(-1)) < outage.first
                            && (absence.end ?? at(1e6)) > outage.first
                    })
        }
    }

    /// The traits of which at least five hosts and all the hosts that have it went away within five seconds of each
    /// other, none of them twice: they explain so much that an outage names them, whatever else it is called.
    private func plainTraits(_ absences: [Absence], _ members: [FleetMember]) -> Set<SharedTrait> {
        let traits: [SharedTrait] = (0..<4).map { .label("site", "s\($0)") }
        return Set(
            traits.filter { trait in
                let own = members.indices.filter { has(members[$0], trait) }
                let starts = absences.filter { own.contains($0.member) }.compactMap(\.start).sorted()
                return own.count >= 5 && starts.count == own.count
                    && Set(absences.filter { own.contains($0.member) }.map(\.member)).count == own.count
                    && zip(starts, starts.dropFirst()).allSatisfy {
                        $1.nanosecondsSince1970 - $0.nanosecondsSince1970 <= 5_000_000_000
                    }
            })
    }

    @Test func `of 100,000 departures among 10,000 hosts those that go together are found`() {
        let members = fleet(sites: 100, hosts: 100)
        var generator = SeededGenerator(seed: 3)
        var moves: [Move] = []
        for index in 0..<50_000 {
            let start = Double.random(in: 0..<600_000, using: &generator)
            moves += [(index % 10_000, at(start), false), (index % 10_000, at(start + 900), true)]
        }
        for member in 0..<300 { moves.append((member, at(700_000), false)) }
        #expect(OutageFinder.find(absences(of: moves), among: members).count == 3)
    }
}
