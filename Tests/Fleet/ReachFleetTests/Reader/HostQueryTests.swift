import ReachCore
import ReachFleet
import Testing

@Suite struct HostQueryTests {
    private static func host() throws -> (RosterHost, HostPresence) {
        var roster = Roster()
        let now = Timestamp(nanosecondsSince1970: 1_000_000_000_000)
        var state = HostState(
            host: "till-1", version: "0.1.0", written: Instant(wall: now, boot: BootTime(nanoseconds: 0)), boot: "b",
            lease: .seconds(120))
        state.labels = ["site": "berlin-7", "city": "Bad Homburg", "class": "premium"]
        state.groups = ["tills"]
        state.status = HostStatus(.reachable, linkClass: .wifi, connectivity: .full)
        roster.apply(state: state.bytes, of: "till-1", storedAt: now)
        let lease = HostLease(boot: "b", n: 0, since: now, behind: 0)
        roster.apply(lease: lease.bytes, of: "till-1", storedAt: now)
        let host = try #require(roster["till-1"])
        return (host, host.presence(EngineFacts(now: now)))
    }

    @Test(arguments: [
        ("site=berlin-7", true), ("site=berlin-*", true), ("site=berlin-?", true), ("site=berlin", false),
        ("site", true), ("floor", false),
        ("site!=berlin-7", false), ("floor!=2", true), ("not site=x", true), ("not not site", true),
        ("site=x or site=berlin-7", true), ("site=x or site=y and site", false), ("(site=x or site) and site", true),
        ("site=berlin-7 and not (class=wwan or state=silent)", true), ("class=wifi", true),
        ("label:class=premium", true), ("class=premium", false),
        ("state=online", true), ("state=here", true), ("group=tills", true), ("version=0.*", true),
        ("host=till-?", true),
        ("city=Bad Homburg", true), ("city=Bad Homburg and site=x", false), ("city=\"Bad Homburg\"", true),
        ("city = Bad Homburg", true),
        ("city=\"Bad Homburg\" and site", true), ("not(site=x)", true), ("notes", false), ("order=1", false),
        ("android or site", true),
    ])
    func `a query means these hosts`(_ text: String, _ includes: Bool) throws {
        let (host, presence) = try Self.host()
        #expect(try HostQuery(text).includes(host, presence) == includes)
    }

    @Test(arguments: [
        ("", "missing at the end"), ("and", "'and' does not belong"), ("site=a and", "missing at the end"),
        ("(site", "')' is missing"), ("site)", "')' does not"),
        ("=a", "no name"), ("site=\"a", "not closed"), ("class", "needs a value"), ("site=\"a\" floor", "'floor'"),
        ("not", "missing"),
        (String(repeating: "(", count: 100), "deep"), (String(repeating: "a", count: 2000), "longer"),
        (String(repeating: "not ", count: 100) + "a", "deep"),
    ])
    func `a query that is wrong says what is wrong`(_ text: String, _ part: String) {
        #expect {
            try HostQuery(text)
        } throws: { "\($0)".contains(part) }
    }

    @Test(
        arguments: [
            ("site=berlin-8", "no host has site=berlin-8; did you mean 'site=berlin-7'?"),
            ("sit=berlin-7", "no host has a label 'sit'; did you mean 'site'?"), ("site=berlin-7", nil),
            ("group=tils", "no host has group=tils; did you mean 'group=tills'?"),
            ("host=till-11 and site=berlin-7", "no host has host=till-11; did you mean 'host=till-1'?"),
            ("host=till-11 or site=berlin-7", nil), ("not group=tils", nil), ("state=silent", nil),
            ("state=onlin", "no state is 'onlin'; did you mean 'online'?"), ("state=here", nil), ("class=wi*", nil),
            ("class=wlan", "no class is 'wlan'; did you mean 'wwan'?"),
            ("host=zzzzzz*", "no host has host=zzzzzz*"),
        ] as [(String, String?)])
    func `a word that fits no host is named`(_ text: String, _ hint: String?) throws {
        var roster = Roster()
        let entry = HostList.Entry(host: "till-1", key: "K", groups: ["tills"], labels: ["site": "berlin-7"])
        roster.apply(listed: "till-1", entry)
        #expect(try HostQuery(text).hint(among: roster.hosts) == hint)
    }
}
