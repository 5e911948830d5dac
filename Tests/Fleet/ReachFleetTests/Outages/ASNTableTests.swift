import ReachCore
import ReachFleet
import Testing

@Suite struct ASNTableTests {
    private func number(_ table: ASNTable, _ address: String) -> UInt32? {
        IPAddress(address).flatMap(table.system(of:))?.number
    }

    @Test func `the longest prefix counts`() throws {
        let table = try ASNTable(
            """
            # provider
            203.0.113.0/24 64500 Example Telecom

            203.0.113.128/25\tAS64501
            2001:db8::/32 64502\r
            0.0.0.0/0 64503
            """)
        #expect(number(table, "203.0.113.1") == 64500)
        #expect(number(table, "203.0.113.200") == 64501)
        #expect(number(table, "2001:db8:1::1") == 64502)
        #expect(number(table, "198.51.100.1") == 64503)
        #expect(number(table, "2001:db9::1") == nil)
        #expect(table.system(of: IPAddress("203.0.113.1")!)?.description == "AS64500 (Example Telecom)")
        #expect(number(ASNTable(), "203.0.113.1") == nil)
    }

    @Test(arguments: [
        "203.0.113.0/33 1", "203.0.113.0/24", "203.0.113.0 1", "x/24 1", "203.0.113.0/24 -1",
        "203.0.113.0/24 4294967296",
    ])
    func `a line that is not a prefix with a number is an error that names it`(_ line: String) {
        #expect(throws: ASNTable.ParseError.line(2, line)) { try ASNTable("203.0.113.0/24 1\n" + line) }
    }

    @Test func `the error shows no control characters`() {
        #expect(
            ASNTable.ParseError.line(3, "\u{1b}[2J").description == "line 3: '\\u{1b}[2J' is not PREFIX NUMBER [NAME]")
    }
}
