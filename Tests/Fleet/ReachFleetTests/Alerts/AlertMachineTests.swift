import ReachCore
import ReachFleet
import Testing

/// A fleet whose hosts go away and return by the minute, and what somebody is told of it.
private struct AlertStory {
    static let noon = Timestamp(secondsSince1970: 1_795_348_800, nanoseconds: 0)

    var machine: AlertMachine
    var roster = Roster()
    var now = Self.noon
    var quiet: Set<String> = []
    var absent: Set<String> = []
    var acknowledged: [String: Acknowledgement] = [:]
    var sent: [AlertMessage] = []
    /// When each host was away.
    private var away: [String: [(start: Timestamp, end: Timestamp?)]] = [:]

    /// Hosts `till-1` and so on, each at the site that its number gives.
    init(
        _ options: AlertOptions = AlertOptions(), hosts: Int = 8, lease: Duration = .seconds(120),
        site: (Int) -> String = { _ in "berlin-7" }
    ) {
        machine = AlertMachine(options)
        for number in 1...hosts {
            let id = "till-\(number)"
            var state = HostState(
                host: id, version: "1", written: Instant(wall: now, boot: BootTime(nanoseconds: 0)), boot: "b",
                lease: lease)
            state.labels = ["site": site(number)]
            roster.apply(state: state.bytes, of: id, storedAt: now)
        }
    }

    mutating func apply(_ number: Int, _ word: HostWord, since: Timestamp, why: String = "its lease ran out") {
        guard let host = roster["till-\(number)"] else { return }
        var times = away[host.id] ?? []
        let isAway = times.last.map { $0.end == nil } ?? false
        if word == .silent, !isAway { times.append((since, nil)) }
        if word != .silent, isAway { times[times.count - 1].end = now }
        away[host.id] = times
        machine.apply(host, HostPresence(word, since: since, why: why), at: now)
    }

    mutating func lose(_ numbers: ClosedRange<Int>, since ago: Duration = .zero) {
        for number in numbers { apply(number, .silent, since: now + (.zero - ago)) }
    }

    mutating func back(_ numbers: ClosedRange<Int>, as word: HostWord = .here) {
        for number in numbers { apply(number, word, since: now) }
    }

    mutating func begin() { sent += machine.begin(at: now, facts) }

    private var facts: AlertMachine.Facts {
        let (fleet, quiet, acknowledged) = (fleet, quiet, acknowledged)
        return AlertMachine.Facts(
            fleet: { fleet }, isQuiet: { quiet.contains($0) }, acknowledgement: { name, _ in acknowledged[name] })
    }

    private var fleet: AlertMachine.Fleet {
        let absences = roster.hosts.enumerated().flatMap { index, host in
            absent.contains(host.id)
                ? [Absence(member: index, start: nil, isSwitchedOff: true)]
                : (away[host.id] ?? []).map {
                    Absence(member: index, start: $0.start, end: $0.end, vagueness: host.report?.lease ?? .zero)
                }
        }
        return AlertMachine.Fleet(
            roster.hosts.map { FleetMember($0) },
            absences.sorted { ($0.start?.nanosecondsSince1970 ?? .min) < ($1.start?.nanosecondsSince1970 ?? .min) })
    }

    /// Lets time pass by seconds, as a watch does.
    mutating func pass(_ duration: Duration) {
        let (end, facts) = (now + duration, facts)
        while now < end {
            now = now + .seconds(1)
            sent += machine.tick(now, facts)
        }
    }

    var lines: [String] {
        sent.map { message in
            "\(message.event.rawValue) \(message.alert): "
                + message.sentence.text { String($0.description.dropFirst(11).prefix(5)) }
        }
    }
}

@Suite struct AlertMachineTests {
    @Test func `one host that is away for long enough is told of, and its return`() {
        var story = AlertStory()
        story.lose(1...1)
        story.pass(.seconds(119))
        #expect(story.lines == [])
        story.pass(.seconds(601))
        story.back(1...1)
        story.pass(.seconds(120))
        #expect(
            story.lines == [
                "down till-1: till-1 is silent since 12:00: its lease ran out",
                "up till-1: till-1 is back after 12 min",
            ])
    }

    private static func escalating(hosts: Int = 8, site: @escaping (Int) -> String = { _ in "berlin-7" }) -> AlertStory
    {
        var options = AlertOptions()
        options.escalations = [.seconds(900), .seconds(3600)]
        return AlertStory(options, hosts: hosts, site: site)
    }

    @Test func `the next person is called if no one acknowledges, once, and hears of what follows`() {
        var story = Self.escalating()
        story.lose(1...1)
        story.pass(.seconds(120 + 899))
        #expect(story.sent.map(\.event) == [.down])
        story.pass(.seconds(10_000))
        #expect(story.sent.map(\.event) == [.down, .escalation, .escalation])
        #expect(
            story.lines[1] == "escalation till-1: till-1 is still away after 17 min, and no one has acknowledged it")
        story.back(1...1)
        story.pass(.seconds(120))
        #expect(
            story.sent.map { message in (0...2).filter(message.concerns) } == [[0], [1], [2], [0, 1, 2]])
    }

    @Test func `an acknowledged alert, one that is over and one of quiet hosts call nobody else`() {
        for number in 0..<3 {
            var story = Self.escalating()
            story.lose(1...1)
            story.pass(.seconds(600))
            switch number {
            case 0: story.acknowledged["till-1"] = Acknowledgement(alert: "till-1", stored: story.now)
            case 1: story.back(1...1)
            default: story.quiet = ["till-1"]
            }
            story.pass(.seconds(10_000))
            #expect(!story.sent.map(\.event).contains(.escalation), "\(number)")
        }
    }

    @Test func `an outage that grows, and a watch that starts again, call each person once`() {
        var story = Self.escalating()
        story.lose(1...1)
        story.pass(.seconds(1200))
        // Their leases were longer.
        story.lose(2...8, since: .seconds(1200))
        story.pass(.seconds(300))
        #expect(story.sent.map(\.event) == [.down, .escalation, .down])
        #expect(story.sent.map(\.level) == [0, 1, 1] && story.sent[2].alert == "site=berlin-7")
        var again = Self.escalating()
        let isRestored = again.machine.restore(story.machine.bytes)
        #expect(isRestored)
        again.now = story.now
        again.lose(1...8, since: .seconds(300))
        again.begin()
        again.pass(.seconds(2000))
        #expect(again.sent == [])
        again.pass(.seconds(2000))
        #expect(again.sent.map(\.event) == [.escalation] && again.sent.map(\.level) == [2])
    }

    @Test func `many hosts without anything in common are one call to the next person`() {
        var story = Self.escalating(hosts: 40) { "site-\($0)" }
        for number in 1...8 { story.lose(number * 5...number * 5) }
        story.pass(.seconds(2000))
        #expect(story.sent.map(\.event) == [.down, .escalation] && story.sent.map(\.alert) == ["several", "several"])
        #expect(story.sent[1].hosts.count == 8)
    }

    @Test
    func `who acknowledges a message about several hosts has acknowledged each of them, and none that goes later`() {
        var story = Self.escalating(hosts: 40) { "site-\($0)" }
        for number in 1...8 { story.lose(number * 5...number * 5) }
        story.pass(.seconds(300))
        story.acknowledged["several"] = Acknowledgement(alert: "several", stored: story.now)
        story.lose(1...1)
        story.pass(.seconds(300))
        var again = Self.escalating(hosts: 40) { "site-\($0)" }
        let isRestored = again.machine.restore(story.machine.bytes)
        #expect(isRestored)
        (again.now, again.acknowledged) = (story.now, story.acknowledged)
        for number in [1, 5, 10, 15, 20, 25, 30, 35, 40] { again.lose(number...number) }
        again.begin()
        again.pass(.seconds(10_000))
        #expect(story.sent.map(\.alert) == ["several", "till-1"])
        #expect(again.sent.map(\.event) == [.escalation, .escalation])
        #expect(again.sent.map(\.alert) == ["till-1", "till-1"])
    }

    @Test func `hosts that a call to the next person named together are acknowledged together`() {
        var story = Self.escalating(hosts: 40) { "site-\($0)" }
        for number in 1...8 {
            story.lose(number * 5...number * 5)
            story.pass(.seconds(1))
        }
        story.pass(.seconds(300))
        // They are all due when a time without alerts ends.
        story.quiet = Set(story.roster.hosts.map(\.id))
        story.pass(.seconds(1300))
        story.quiet = []
        story.pass(.seconds(1))
        #expect(story.sent.count == 9 && story.sent[8].alert == "several" && story.sent[8].level == 1)
        story.acknowledged["several"] = Acknowledgement(alert: "several", stored: story.now)
        story.pass(.seconds(10_000))
        #expect(!story.sent.contains { $0.level == 2 })
    }

    @Test func `who acknowledges what was away when the watch began is not called about it again`() {
        var story = Self.escalating()
        story.lose(1...3, since: .seconds(1000))
        story.begin()
        story.acknowledged["start"] = Acknowledgement(alert: "start", stored: story.now)
        story.pass(.seconds(10_000))
        #expect(story.sent.map(\.alert) == ["start"])
    }

    @Test func `the last hosts of an outage that was acknowledged call nobody when the others are back`() {
        var story = Self.escalating(hosts: 10)
        story.lose(1...10)
        story.pass(.seconds(300))
        story.acknowledged["site=berlin-7"] = Acknowledgement(alert: "site=berlin-7", stored: story.now)
        story.back(1...9)
        story.pass(.seconds(10_000))
        #expect(story.sent.map(\.event) == [.down, .up])
        story.back(10...10)
        story.pass(.seconds(120))
        #expect(story.sent.last?.acknowledged == "somebody")
    }

    @Test func `a host that is back in time is not told of`() {
        var story = AlertStory()
        for _ in 0..<20 {
            story.lose(1...1)
            story.pass(.seconds(100))
            story.back(1...1)
            story.pass(.seconds(100))
        }
        #expect(story.lines == [])
    }

    @Test func `a site that loses its power is one message, also if its leases run out one after the other`() {
        var story = AlertStory(hosts: 16) { $0 <= 8 ? "berlin-7" : "berlin-8" }
        for number in 1...8 {
            story.lose(number...number, since: .seconds(360))
            story.pass(.seconds(12))
        }
        story.pass(.seconds(600))
        for number in 1...8 {
            story.back(number...number)
            story.pass(.seconds(3))
        }
        story.pass(.seconds(120))
        #expect(story.sent.map(\.alert) == ["site=berlin-7", "site=berlin-7"])
        #expect(
            story.lines.first?.hasPrefix("down site=berlin-7: 8 of 8 hosts with site=berlin-7 silent since 11:55")
                == true)
        #expect(story.lines.last == "up site=berlin-7: 8 of 8 hosts with site=berlin-7 are back after 16 min")
        #expect(story.sent.first?.hosts.count == 8)
    }

    @Test func `with short leases a site is told of within two minutes, in one message`() {
        var story = AlertStory(hosts: 3, lease: .seconds(30))
        // The power goes at 0. The hosts renewed their leases up to 29 s before, and each is silent 91 s after that.
        for (number, renewed) in [(1, 29), (2, 15), (3, 1)] {
            let noticed = AlertStory.noon + .seconds(91 - renewed)
            story.pass(story.now.duration(to: noticed))
            story.lose(number...number, since: .seconds(91))
        }
        story.pass(story.now.duration(to: AlertStory.noon + .seconds(120)))
        #expect(story.sent.map(\.alert) == ["site=berlin-7"])
        #expect(story.sent.first?.hosts.count == 3)
    }

    @Test func `who is still away when the others are back is named, and told of when it returns`() {
        var story = AlertStory(hosts: 20)
        story.lose(1...20)
        story.pass(.seconds(300))
        story.back(1...19)
        story.pass(.seconds(300))
        story.back(20...20)
        story.pass(.seconds(120))
        #expect(
            story.lines.dropFirst() == [
                "up site=berlin-7: 19 of 20 hosts with site=berlin-7 are back after 5 min; till-20 is still away",
                "up till-20: till-20 is back after 10 min",
            ])
    }

    @Test(arguments: [(8, 1), (9, 2)])
    func `nine of ten hosts that are back end an alert, and fewer do not`(back: Int, messages: Int) {
        var story = AlertStory(hosts: 10)
        story.lose(1...10)
        story.pass(.seconds(300))
        story.back(1...back)
        story.pass(.seconds(120))
        #expect(story.sent.count == messages)
    }

    @Test(arguments: [(7, 1), (8, 2)])
    func `an outage that grows to twice its size is said again, and a smaller growth is not`(more: Int, messages: Int) {
        var story = AlertStory(hosts: 16)
        story.lose(1...8)
        story.pass(.seconds(300))
        story.lose(9...8 + more)
        story.pass(.seconds(300))
        #expect(story.sent.map(\.alert) == Array(repeating: "site=berlin-7", count: messages))
        #expect(story.sent.allSatisfy { $0.event == .down })
        story.back(1...8 + more)
        story.pass(.seconds(120))
        #expect(story.sent.last?.event == .up && story.sent.last?.hosts.count == 8 + more)
    }

    @Test func `hosts that said goodbye count neither as away nor as here`() {
        var story = AlertStory(hosts: 16)
        story.absent = Set((9...16).map { "till-\($0)" })
        story.lose(1...5)
        story.pass(.seconds(300))
        // Five of the eight that are left: half of sixteen would be more.
        #expect(story.sent.map(\.alert) == ["site=berlin-7"])
        #expect(story.sent.first?.shared?.known == 8 && story.sent.first?.shared?.affected == 5)
    }

    @Test func `a host with trouble is away only if the operator says so, and it is back with trouble`() {
        for includes in [false, true] {
            var options = AlertOptions()
            options.includesLimited = includes
            var story = AlertStory(options)
            story.back(1...1, as: .limited)
            story.pass(.seconds(300))
            #expect(story.sent.count == (includes ? 1 : 0))
        }
        var story = AlertStory()
        story.lose(1...2)
        story.pass(.seconds(300))
        story.back(1...1, as: .limited)
        story.back(2...2, as: .left)
        story.pass(.seconds(120))
        #expect(
            story.lines.suffix(2) == [
                "up till-1: till-1 is back after 5 min, with trouble", "up till-2: till-2 said goodbye after 5 min",
            ])
    }

    @Test func `what is kept of alerts is all that a watch needs to go on`() {
        var options = AlertOptions()
        options.reminder = .seconds(1800)
        var story = AlertStory(options, hosts: 16) { $0 <= 8 ? "berlin-7" : "site-\($0)" }
        story.lose(1...8)
        for _ in 0..<4 {
            story.lose(9...9)
            story.pass(.seconds(180))
            story.back(9...9)
            story.pass(.seconds(180))
        }
        #expect(story.machine.hasChanged)
        story.machine.noteWritten()
        #expect(!story.machine.hasChanged)
        var again = story
        again.machine = AlertMachine(options)
        let isRestored = again.machine.restore(story.machine.bytes)
        #expect(isRestored && again.machine.bytes == story.machine.bytes)
        again.lose(1...8, since: .seconds(1440))
        again.begin()
        for number in 0..<3 {
            story.pass(.seconds(1000))
            again.pass(.seconds(1000))
            #expect(story.sent == again.sent, "\(number)")
        }
        #expect(Set(story.sent.map(\.event)).isSuperset(of: [.steady, .reminder]))
    }

    @Test(
        arguments: [
            #"{"type":"fleet-alerts","open":[{"alert":"a","hosts":["a"],"since":"x"}]}"#,
            #"{"type":"fleet-alerts","open":[{"hosts":["a"]}]}"#,
            #"{"type":"fleet-alerts","flapping":[{"alert":"a"}]}"#,
            #"{"type":"fleet-alerts","raised":[{}]}"#, #"{"type":"other"}"#, "[]", "",
        ])
    func `what is no file of alerts is refused`(text: String) {
        var machine = AlertMachine()
        let isRestored = machine.restore(Array(text.utf8))
        #expect(!isRestored)
    }

    @Test func `an alert for programs is this, whole`() {
        let (since, over) = (AlertStory.noon, AlertStory.noon + .seconds(90))
        let share = AlertShare(by: "site", value: "b", phrase: " with site=b", affected: 5, known: 6)
        let messages = [
            AlertMessage(
                alert: "site=b", .steady, hosts: ["h1", "h2"], shared: share, since: since, over: over, changes: 4,
                acknowledged: "anna", sentence: []),
            AlertMessage(alert: "h1", .down, hosts: ["h1"], since: since, sentence: []),
        ]
        let texts = messages.map { message in
            var json = JSONWriter()
            json.alert(message, sentence: "S.")
            return String(decoding: json.bytes, as: UTF8.self)
        }
        #expect(
            texts[0] == """
                {"v":1,"type":"fleet-alert","alert":"site=b","event":"steady","sentence":"S.","hosts":["h1","h2"],\
                "shared":{"by":"site","value":"b","affected":5,"known":6},"since":"\(since)","over":"\(over)",\
                "lasted_ms":90000,"changes":4,"acknowledged":"anna","level":0}
                """)
        #expect(
            texts[1] == """
                {"v":1,"type":"fleet-alert","alert":"h1","event":"down","sentence":"S.","hosts":["h1"],"shared":null,\
                "since":"\(since)","over":null,"lasted_ms":null,"changes":null,"acknowledged":null,"level":0}
                """)
    }

    @Test func `a return that does not last is none`() {
        var story = AlertStory()
        story.lose(1...1)
        story.pass(.seconds(300))
        story.back(1...1)
        story.pass(.seconds(30))
        story.lose(1...1)
        story.pass(.seconds(300))
        story.back(1...1)
        story.pass(.seconds(120))
        #expect(story.lines.last == "up till-1: till-1 is back after 10 min")
        #expect(story.sent.count == 2)
    }

    @Test func `what comes again and again is joined, and in the end it is said how it stands`() {
        var story = AlertStory()
        for _ in 0..<6 {
            story.lose(1...1)
            story.pass(.seconds(180))
            story.back(1...1)
            story.pass(.seconds(180))
        }
        story.pass(.seconds(1800))
        #expect(story.sent.map(\.event) == [.down, .up, .down, .up, .flapping, .steady])
        #expect(story.sent.last?.changes == 6)
        #expect(story.lines.last?.contains("steady, online since 12:33, after going away 6 times") == true)
        // And after that it is told of as before.
        story.lose(1...1)
        story.pass(.seconds(180))
        story.back(1...1)
        story.pass(.seconds(180))
        #expect(story.sent.suffix(2).map(\.event) == [.down, .up])
    }

    @Test func `who flaps and stays away is told of as away, and its return too`() {
        var story = AlertStory()
        for _ in 0..<3 {
            story.lose(1...1)
            story.pass(.seconds(180))
            story.back(1...1)
            story.pass(.seconds(180))
        }
        story.lose(1...1)
        story.pass(.seconds(3000))
        #expect(story.lines.last?.contains("steady, away since") == true)
        story.back(1...1)
        story.pass(.seconds(120))
        #expect(story.sent.last?.event == .up)
    }

    @Test func `a quiet time says nothing, and at its end who is still away and was not told of`() {
        var story = AlertStory()
        // Away and told of before: no second message when the quiet time ends.
        story.lose(1...1)
        story.pass(.seconds(300))
        story.quiet = ["till-1", "till-2", "till-3"]
        story.lose(2...3)
        story.pass(.seconds(3600))
        story.back(2...2)
        story.pass(.seconds(120))
        #expect(story.sent.map(\.alert) == ["till-1"])
        story.quiet = []
        story.pass(.seconds(300))
        #expect(story.sent.map(\.alert) == ["till-1", "till-3"])
        story.back(1...3)
        story.pass(.seconds(120))
        // The return of a host whose absence was not told of is not told either.
        #expect(story.sent.filter { $0.event == .up }.map(\.alert) == ["till-1", "till-3"])
    }

    @Test func `an alert is repeated until somebody acknowledges it`() {
        var options = AlertOptions()
        options.reminder = .seconds(1800)
        var story = AlertStory(options)
        // Of an earlier trouble.
        story.acknowledged["till-1"] = Acknowledgement(
            alert: "till-1", author: "anna", stored: AlertStory.noon + .seconds(-60))
        story.lose(1...1)
        story.pass(.seconds(4000))
        #expect(story.sent.map(\.event) == [.down, .reminder, .reminder])
        #expect(story.lines[1] == "reminder till-1: till-1 is still away after 32 min")
        story.acknowledged["till-1"] = Acknowledgement(alert: "till-1", author: "anna", stored: story.now)
        story.pass(.seconds(4000))
        #expect(story.sent.count == 3)
        story.back(1...1)
        story.pass(.seconds(120))
        #expect(story.sent.last?.event == .up)
        #expect(story.sent.last?.acknowledged == "anna")
    }

    @Test func `many hosts that have nothing in common are one message`() {
        var options = AlertOptions()
        options.outage.leastPercent = 60
        var story = AlertStory(options, hosts: 100) { "site-\($0)" }
        for number in [3, 7, 20, 31, 44, 58, 71] { story.lose(number...number, since: .seconds(number * 100)) }
        story.pass(.seconds(300))
        #expect(story.sent.map(\.alert) == ["several"])
        #expect(story.lines.first?.contains("7 hosts (till-20, till-3, till-31 and 4 more) are away") == true)
    }

    @Test func `a host that was told of alone belongs to the outage that follows`() {
        var story = AlertStory()
        story.lose(1...1)
        story.pass(.seconds(160))
        #expect(story.sent.map(\.alert) == ["till-1"])
        story.lose(2...8, since: .seconds(160))
        story.pass(.seconds(300))
        story.back(1...8)
        story.pass(.seconds(120))
        #expect(story.sent.map(\.alert) == ["till-1", "site=berlin-7", "site=berlin-7"])
    }

    @Test func `a watch that begins again repeats nothing, and tells of what came back meanwhile`() throws {
        var first = AlertStory()
        first.lose(1...3)
        first.pass(.seconds(300))
        let kept = first.machine.bytes
        var again = AlertStory()
        again.now = first.now
        let isRestored = again.machine.restore(kept)
        #expect(isRestored)
        again.lose(1...2, since: .seconds(300))
        again.begin()
        again.pass(.seconds(600))
        #expect(again.sent.map(\.event) == first.sent.filter { $0.alert == "till-3" }.map { _ in .up })
        #expect(again.sent.map(\.alert) == ["till-3"])
        let isNonsense = !again.machine.restore(Array("{}".utf8))
        #expect(isNonsense)
        // Without what was kept, those that are away are one message.
        var fresh = AlertStory()
        fresh.lose(1...2, since: .seconds(300))
        fresh.begin()
        fresh.pass(.seconds(600))
        #expect(fresh.sent.map(\.alert) == ["start"])
        #expect(fresh.lines.first?.contains("till-1 and till-2 were away when this watch began") == true)
    }

    @Test func `an alert says what was last known of why a host is away`() {
        var story = AlertStory()
        story.lose(1...1)
        story.pass(.seconds(30))
        story.apply(1, .silent, since: story.now, why: "its connection ended")
        story.pass(.seconds(300))
        #expect(story.lines.count == 1 && story.lines[0].hasSuffix(": its connection ended"), "\(story.lines)")
    }

    @Test func `a host that is retired is forgotten, also in the file`() {
        var story = AlertStory()
        story.lose(1...1)
        story.pass(.seconds(300))
        story.machine.noteWritten()
        story.machine.forget("till-2")
        #expect(!story.machine.hasChanged)
        story.machine.forget("till-1")
        #expect(story.machine.hasChanged)
        story.back(1...1)
        story.pass(.seconds(300))
        #expect(story.sent.count == 1)
    }
}
