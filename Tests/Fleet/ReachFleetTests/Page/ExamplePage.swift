import ReachCore
import ReachFleet
import ReachTesting

/// A page of a made-up fleet: sites with hosts that come and go, one provider of which is down.
struct ExamplePage {
    static let now = at(0)
    private var generator = SeededGenerator(seed: 11)
    private var page = FleetPage(asOf: now, written: now)
    private var moves: [Move] = []
    private var reported: [Move] = []
    private var members: [FleetMember] = []

    static func page(hosts: Int, asOf: Timestamp = now) -> FleetPage {
        var example = ExamplePage()
        for index in 0..<hosts { example.addHost(index, of: hosts) }
        example.addOutages(hosts)
        example.page.asOf = asOf
        example.page.written = asOf
        return example.page
    }

    private mutating func addHost(_ index: Int, of count: Int) {
        let site = index / 40
        let provider =
            site < 25 && site % 3 == 1 ? "coast-cable" : ["north-telecom", "harbour-fibre", "valley-mobile"][site % 3]
        let wifi = generator.oneIn(3)
        let linkClass: LinkClass = provider == "valley-mobile" ? .wwan : wifi ? .wifi : .wired
        let since = ago(Double.random(in: 3600...2_000_000, using: &generator))
        var host = PageHost(
            id: Self.identity(index),
            HostPresence(.here, since: since, lastSeen: ago(Double.random(in: 0...100, using: &generator))))
        host.name = "till-\(site + 1)-\(index % 40 + 1)"
        host.linkClass = linkClass
        host.labels = ["site": "store-\(site + 1)", "isp": provider, "kind": index % 40 == 0 ? "gateway" : "till"]
        host.timeline = [
            PageEvent(time: since, word: .here, what: "reachable over \(linkClass)", why: "cause: route-added")
        ]
        decide(&host, index, of: count)
        page.hosts.append(host)
        members.append(
            FleetMember(
                host: host.id, gateway: IPAddress("192.168.1.1"),
                address: IPAddress("203.\(site / 200).\(site % 200).\(index % 40 + 1)"),
                labels: host.labels, linkClass: linkClass.rawValue))
    }

    private mutating func decide(_ host: inout PageHost, _ index: Int, of count: Int) {
        switch Int.random(in: 0..<100, using: &generator) {
        case 0..<2: leave(&host, index, ago(Double.random(in: 300...80_000, using: &generator)))
        case 2..<5:
            let since = ago(Double.random(in: 60...9000, using: &generator))
            let why = generator.pick([
                "a captive portal requires a login", "till-server down",
                "there is a path, but the Internet does not answer",
            ])
            host.presence = HostPresence(.limited, since: since, why: why, lastSeen: host.presence.lastSeen)
            host.timeline.append(PageEvent(time: since, word: .limited, what: why))
        case 5:
            let since = ago(Double.random(in: 600...90_000, using: &generator))
            host.presence = HostPresence(.left, since: since, why: "said goodbye", lastSeen: since)
        case 6 where count > 100:
            host = PageHost(id: host.id, HostPresence(.unseen, why: "its key has never connected"))
        case 7:
            host.behind = UInt64.random(in: 1...4000, using: &generator)
        case 8 where count > 100:
            host.note = "two machines use this identity: 203.0.113.7 and 198.51.100.9"
        default: break
        }
    }

    private mutating func leave(_ host: inout PageHost, _ index: Int, _ time: Timestamp) {
        let why = generator.pick([
            "its lease ran out", "its connection ended: Stale Connection", "its connection ended: Read Error",
        ])
        host.presence = HostPresence(.silent, since: time, why: why, isPresumed: true, lastSeen: time)
        host.timeline.append(PageEvent(time: time, word: .silent, what: "connection ended", why: why))
        moves.append((index, time, false))
    }

    private mutating func addOutages(_ count: Int) {
        // A provider of several sites.
        for index in 0..<count
        where index >= 40 && index / 40 % 3 == 1 && index < 1000 && page.hosts[index].presence.word == .here {
            var host = page.hosts[index]
            leave(&host, index, ago(724 - Double(index % 40) * 0.1))
            page.hosts[index] = host
        }
        for index in 0..<count where index / 40 == 6 && page.hosts[index].presence.word == .here {
            let (from, to) = (ago(30_000), ago(26_000))
            reported += [(index, from, false), (index, to, true)]
            var event = PageEvent(time: from, word: .silent, what: "not reachable", why: "the gateway does not answer")
            event.hostTime = ago(30_000 + 86_400)
            page.hosts[index].timeline += [
                event, PageEvent(time: to, word: .here, what: "reachable over wired", why: "the gateway answers again"),
            ]
            page.hosts[index].presence = HostPresence(.here, since: to, lastSeen: Self.now)
        }
        let all =
            (absences(of: reported, evidence: .confirmed, reason: .gatewayUnreachable) + absences(of: moves)).sorted {
                ($0.start ?? at(-1e6), $0.member) < ($1.start ?? at(-1e6), $1.member)
            }
        page.outages = OutageFinder.find(all, among: members)
        var own = [[Absence]](repeating: [], count: count)
        for absence in all { own[absence.member].append(absence) }
        page.pasts = own.map { HostPast(absences: $0) }
        page.known = ago(200_000)
        page.strips = own.map { AbsenceStrip.text(HostPast(absences: $0), asOf: Self.now, known: ago(200_000)) }
        page.engineNotes = ["nats-server 2.9.10", "3 streams"]
    }

    private func ago(_ seconds: Double) -> Timestamp { at(-seconds) }

    private static func identity(_ index: Int) -> String {
        var numbers = SplitMix64(seed: UInt64(index))
        let text = String(numbers.next(), radix: 16) + String(numbers.next(), radix: 16)
        return String(repeating: "0", count: 32 - text.count) + text
    }
}
