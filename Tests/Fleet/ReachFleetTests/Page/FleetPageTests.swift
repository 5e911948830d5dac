import ReachCore
import ReachPage
import ReachFleet
import Testing

@Suite struct FleetPageTests {
    private func data(of html: [UInt8]) throws -> JSONValue {
        let text = String(decoding: html, as: UTF8.self)
        let start = try #require(text.range(of: "id=\"data\">"))
        let end = try #require(text.range(of: "</script>", from: start.upperBound))
        return try JSONReader.read(Array(text[start.upperBound..<end.lowerBound].utf8))
    }

    @Test func `the page is one file, without references to others, and at most 60 kB besides its data`() throws {
        let html = FleetPage(asOf: at(0), written: at(0)).html(nonce: "n")
        #expect(html.count < 60_000)
        let text = String(decoding: html, as: UTF8.self)
        #expect(text.components("http:").count == 2 && text.contains("\"http://www.w3.org/2000/svg\""))
        #expect(!text.contains("src=") && !text.contains("https:"))
        #expect(!text.contains("innerHTML"))
    }

    @Test func `no host can put markup into the page`() throws {
        let attack = "</script><script>alert(1)</script><!--<script>\u{2028}\u{2029}\"'&"
        var host = PageHost(id: "h", HostPresence(.here, why: attack))
        host.name = attack
        host.labels = [attack: attack]
        host.note = attack
        host.timeline = [PageEvent(time: at(0), what: attack, why: attack)]
        var page = FleetPage(asOf: at(0), written: at(0))
        page.hosts = [host]
        page.engineTrouble = attack
        let html = page.html(nonce: "n")
        let text = String(decoding: html, as: UTF8.self)
        #expect(
            text.components("<script").count
                == FleetPage(asOf: at(0), written: at(0)).html(nonce: "n").text.components("<script").count)
        #expect(!text.contains("alert(1)</script>"))
        #expect(!text.unicodeScalars.contains("\u{2028}") && !text.unicodeScalars.contains("\u{2029}"))
        // What is read from it is what the host sent, but for characters that hide or reorder text.
        let read = try data(of: html)
        let shown = "</script><script>alert(1)</script><!--<script>\\u{2028}\\u{2029}\"'&"
        #expect(read["hosts"]?.array?.first?.array?[1] == .string(shown))
        #expect(read["strings"]?.array?.contains(.string(shown)) == true)
    }

    @Test func `the policy admits the page's own script and nothing else`() {
        let text = FleetPage(asOf: at(0), written: at(0)).html(nonce: "abc").text
        #expect(
            text.contains("content=\"default-src 'none'; script-src 'nonce-abc'; style-src 'nonce-abc'; img-src data:;")
        )
        #expect(text.contains("<script nonce=\"abc\">"))
        #expect(!text.contains("unsafe-inline"))
    }

    @Test func `a nonce has 128 random bits`() {
        var generator = SystemRandomNumberGenerator()
        let nonces = (0..<100).map { _ in HTMLPage.nonce(&generator) }
        #expect(Set(nonces).count == 100)
        #expect(nonces.allSatisfy { $0.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) } })
    }

    @Test func `a host's row has what the table shows`() throws {
        var page = FleetPage(asOf: at(10), written: at(11))
        var host = PageHost(
            id: "h1",
            HostPresence(.silent, since: at(5), why: "the lease ran out", isPresumed: true, lastSeen: at(4)))
        host.linkClass = .wwan
        host.labels = ["site": "a", "isp": "b"]
        host.behind = 3
        var event = PageEvent(time: at(5), word: .silent, what: "silent", why: "the lease ran out")
        event.hostTime = at(-100)
        host.timeline = [PageEvent(time: at(1), what: "woke"), event]
        page.hosts = [host]
        page.strips = ["2"]
        page.interval = .seconds(10)
        let read = try data(of: page.html(nonce: "n"))
        let strings = try #require(read["strings"]?.array)
        let row = try #require(read["hosts"]?.array?.first?.array)
        func text(_ value: JSONValue) -> String? { value.integer.flatMap { strings[Int($0)].string } }
        func time(_ seconds: Double) -> JSONValue { .integer(at(seconds).nanosecondsSince1970 / 1_000_000) }
        #expect(row[0] == .string("h1") && row[1] == .string("") && row[2] == .integer(2) && row[3] == time(5))
        #expect(text(row[4]) == "the lease ran out" && text(row[5]) == "wwan")
        #expect(row[6].array?.map(text) == ["isp=b", "site=a"])
        #expect(row[7] == time(4) && row[8] == .integer(3) && row[9] == .integer(1) && row[10] == .integer(0))
        #expect(text(row[11]) == "2")
        let timeline = try #require(read["timelines"]?.array?.first?.array?.map { $0.array ?? [] })
        // The newest first.
        #expect(timeline.map { text($0[2]) } == ["silent", "woke"])
        #expect(timeline.map { $0[1] } == [.integer(2), .integer(5)])
        #expect(timeline.map { $0[4] } == [time(-100), .integer(0)])
        #expect(read["interval"] == .integer(10))
    }

    @Test func `the page has the time since which events are shown, and whether older ones were left out`() throws {
        var page = FleetPage(asOf: at(10), written: at(11))
        #expect(try data(of: page.html(nonce: "n"))["known"] == .integer(0))
        (page.known, page.isCut) = (at(5), true)
        let read = try data(of: page.html(nonce: "n"))
        #expect(read["known"] == .integer(at(5).nanosecondsSince1970 / 1_000_000) && read["cut"] == .bool(true))
    }

    @Test func `a page of 10,000 hosts has a bounded number of events`() throws {
        var page = ExamplePage.page(hosts: 10_000)
        let events = (0..<100).map { PageEvent(time: at(Double($0)), word: .here, what: "event \($0)") }
        for index in page.hosts.indices { page.hosts[index].timeline = events }
        let timelines = try #require(try data(of: page.html(nonce: "n"))["timelines"]?.array)
        #expect(timelines.reduce(0) { $0 + ($1.array?.count ?? 0) } == 60_000)
    }
}

extension String {
    fileprivate func components(_ separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }

    fileprivate func range(of text: String, from start: Index? = nil) -> Range<Index>? {
        self[(start ?? startIndex)...].firstRange(of: text)
    }
}

extension [UInt8] {
    fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
