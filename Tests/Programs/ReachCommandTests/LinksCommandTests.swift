internal import ReachTesting
internal import Testing

@Suite(.enabled(if: TestNamespace.isAvailable, "\(TestNamespace.whyNot)"))
struct LinksCommandTests {
    @Test func `the link of the path to the Internet is marked`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        let result = try BuiltProgram.reach.run(["links"], in: namespace.name)
        #expect(result.status == 0)
        #expect(
            result.lines == [
                "NAME  CLASS     STATE  INTERNET  ADDRESSES",
                "lo    loopback  up               127.0.0.1/8",
                "                                 ::1/128",
                "up0   virtual   up     IPv4      192.0.2.2/24",
                "                                 2001:db8::2/64",
            ])
    }

    @Test func `JSON has one object a line, with the link's properties`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "link", "property", "add", "dev", "up0", "altname", "uplink")
        let result = try BuiltProgram.reach.run(["links", "--json", "uplink"], in: namespace.name)
        #expect(result.lines.count == 1)
        let line = result.standardOutput
        for part in [
            #""v":1,"type":"link","#, #""interface":"up0","alternative_names":["uplink"],"class":"virtual","up":true"#,
            #""kind":"veth","controller":null,"lower":[],"trouble":null,"broken_lower":null,"metered":false,"received_bytes":"#,
            #","mtu":1500,"addresses":["#,
            #"{"address":"192.0.2.2","prefix_length":24,"family":"ipv4","ready":true,"duplicate":false,"preferred":true,"#,
            #""internet":{"ipv4":true,"ipv6":false}"#,
        ] { #expect(line.contains(part), "\(part) is not in \(line)") }
    }

    @Test func `a fault below a link is printed with the name of the broken link`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "link", "add", "br0", "type", "bridge")
        try namespace.run("ip", "link", "set", "up0", "master", "br0")
        try namespace.run("ip", "link", "set", "br0", "up")
        try namespace.run("ip", "link", "set", "up0", "down")
        let json = try BuiltProgram.reach.run(["links", "--json", "br0"], in: namespace.name)
        #expect(json.standardOutput.contains(#""trouble":"link-down""#))
        let text = try BuiltProgram.reach.run(["links", "br0"], in: namespace.name)
        #expect(text.standardOutput.contains("lower link down: up0"))
    }

    @Test func `virtual ports and idle links are printed with --all`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.run("ip", "link", "add", "b0", "type", "bridge")
        let some = try BuiltProgram.reach.run(["links"], in: namespace.name)
        #expect(!some.standardOutput.contains("b0"))
        #expect(some.lines.last == "(1 more with --all)")
        let all = try BuiltProgram.reach.run(["links", "--all"], in: namespace.name)
        #expect(all.standardOutput.contains("b0"))
        let named = try BuiltProgram.reach.run(["links", "b0"], in: namespace.name)
        #expect(named.standardOutput.contains("b0"))
    }

    @Test func `addresses that should not be used are marked, and come last`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.vethPair()
        try namespace.run("ip", "address", "change", "2001:db8::2/64", "dev", "up0", "preferred_lft", "0")
        try namespace.run("ip", "address", "add", "2001:db8::3/64", "dev", "up0", "nodad")
        let result = try BuiltProgram.reach.run(["links", "up0"], in: namespace.name)
        #expect(result.lines.last?.hasSuffix("2001:db8::2/64 deprecated") == true)
    }

    @Test func `an unknown name is reported, and the other links are printed`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        let result = try BuiltProgram.reach.run(["links", "lo", "nope", "eth\u{1b}9"], in: namespace.name)
        #expect(result.status == 1)
        #expect(result.standardOutput.contains("loopback"))
        #expect(result.standardError == "reach: no link is named 'nope', 'eth\\u{1b}9'\n")
    }

    @Test func `names that would rewrite a screen are made safe`() throws {
        let namespace = try TestNamespace()
        defer { namespace.remove() }
        try namespace.run("ip", "link", "add", "a\u{1b}[31mb", "type", "bridge")
        let text = try BuiltProgram.reach.run(["links", "--all"], in: namespace.name).standardOutput
        #expect(text.contains("a\\u{1b}[31mb"))
        #expect(!text.contains("\u{1b}"))
    }
}
