import ReachCore
import Testing

@testable import ReachTransfer

/// Which names stand for a host, and what is reported where none has an address.
struct NameSearchTests {
    @Test(
        arguments: [
            ("db.prod", "search a.example b.example", ["db.prod", "db.prod.a.example", "db.prod.b.example"]),
            (
                "db.prod", "search a.example b.example\noptions ndots:5",
                ["db.prod.a.example", "db.prod.b.example", "db.prod"]
            ),
            ("db", "search a.example", ["db.a.example", "db"]),
            ("db", "search a.example\noptions ndots:0", ["db", "db.a.example"]),
            ("db", "search a.example\noptions no-tld-query", ["db.a.example"]), ("db", "options no-tld-query", ["db"]),
            ("db.prod.", "search a.example\noptions ndots:5", ["db.prod"]), ("db.prod", "search .", ["db.prod"]),
            ("db", "search . a.example", ["db", "db.a.example"]),
        ] as [(String, String, [String])])
    func `the names that stand for a host follow the search list`(host: String, resolv: String, expected: [String]) {
        #expect(ResolverConfiguration(resolv: resolv, hosts: "").candidates(for: host) == expected)
    }

    private static let unknown = AddressLookupOutcome.answer(.noSuchName(seconds: 0))
    private static let empty = AddressLookupOutcome.answer(.none(seconds: 0))
    private static let failing = AddressLookupOutcome.answer(.failure(code: 2))
    private static let refused = AddressLookupOutcome.answer(.failure(code: 5))

    /// The names that are asked for, and what is reported.
    private func search(
        _ host: String, _ names: [String], _ answers: [String: AddressLookupOutcome]
    ) -> (names: [String], text: String) {
        var search = NameSearch(host, names: names)
        var asked: [String] = []
        repeat {
            asked.append(search.name)
        } while search.advance(
            after: [FamilyOutcome(family: .ipv4, outcome: answers[search.name] ?? Self.unknown)])
        return (asked, "\(search.outcomes)")
    }

    @Test func `all names are tried where none exists`() {
        let found = search("h", ["h.a", "h.b", "h"], [:])
        #expect(found.names == ["h.a", "h.b", "h"] && found.text == "\([Self.unknown])")
    }

    @Test func `the name as written decides what is reported where it comes first`() {
        let found = search("h", ["h", "h.a", "h.b"], ["h": Self.unknown, "h.a": Self.empty, "h.b": Self.failing])
        #expect(found.names.count == 3 && found.text == "\([Self.unknown])")
    }

    @Test func `otherwise a name without addresses counts more than a failure, and that more than none`() {
        let names = ["h.a", "h.b", "h"]
        #expect(search("h", names, ["h.a": Self.empty, "h.b": Self.failing]).text == "\([Self.empty])")
        #expect(search("h", names, ["h.a": Self.failing]).text == "\([Self.failing])")
    }

    @Test(arguments: [AddressLookupOutcome.silent, .notAsked(101), refused])
    func `where no server answers about a domain, only the name as written is tried`(outcome: AddressLookupOutcome) {
        #expect(search("h", ["h.a", "h.b", "h"], ["h.a": outcome]).names == ["h.a", "h"])
        #expect(search("h", ["h", "h.a", "h.b"], ["h": outcome, "h.a": outcome]).names == ["h", "h.a"])
    }

    @Test func `an answer in one family outweighs failures in the other, and silence about IPv6`() {
        func reported(_ ipv4: AddressLookupOutcome, _ ipv6: AddressLookupOutcome) -> String {
            var search = NameSearch("h", names: ["h"])
            _ = search.advance(after: [.init(family: .ipv6, outcome: ipv6), .init(family: .ipv4, outcome: ipv4)])
            return "\(search.outcomes)"
        }
        #expect(reported(Self.unknown, Self.failing) == "\([Self.unknown])")
        #expect(reported(Self.failing, Self.empty) == "\([Self.empty])")
        #expect(reported(Self.unknown, .silent) == "\([Self.unknown])")
        #expect(reported(.silent, Self.empty) == "\([Self.empty, .silent])")
        #expect(reported(.silent, Self.failing) == "\([Self.failing, .silent])")
    }

    @Test func `servers that drop EDNS are remembered for a while`() {
        let key = PlainServers.Key(server: .init("192.0.2.53"), interface: nil)
        var servers = PlainServers()
        let now = BootTime(nanoseconds: 0)
        servers.note(key, at: now)
        let found = [now + .seconds(1), now + PlainServers.lifetime].map { servers.contains(key, at: $0) }
        #expect(found == [true, false])
        let other = PlainServers.Key(server: .init("192.0.2.53"), interface: .init(name: "eth0"))
        let isKnownThere = servers.contains(other, at: now)
        #expect(!isKnownThere)
    }
}
