package import ReachCore
import ReachTransfer
import Testing

extension IPAddress: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self = IPAddress(text) ?? IPAddress(ipv4: 0) }
}

struct ResolverConfigurationTests {
    @Test func `servers and hosts are read from the files' text`() {
        let configuration = ResolverConfiguration(
            resolv: """
                # comment
                search example
                nameserver 192.0.2.1 ; first
                nameserver fe80::1%eth0
                nameserver not-an-address
                \tnameserver\t2001:db8::1
                nameserver 192.0.2.4
                """,
            hosts: """
                127.0.0.1 localhost
                192.0.2.7 Seven seven.example # comment
                2001:db8::7 seven
                192.0.2.7 seven
                """)
        #expect(
            configuration.servers == [
                .init("192.0.2.1"), .init("fe80::1", zone: "eth0"),
                .init("2001:db8::1"),
            ])
        #expect(configuration.addresses(of: "SEVEN.") == ["192.0.2.7", "2001:db8::7"])
        #expect(configuration.addresses(of: "seven.example") == ["192.0.2.7"])
        #expect(configuration.addresses(of: "localhost") == ["127.0.0.1"])
        #expect(configuration.addresses(of: "a.localhost") == ["::1", "127.0.0.1"])
        #expect(configuration.addresses(of: "eight") == nil)
    }

    @Test func `without a server this machine is queried`() {
        #expect(ResolverConfiguration(resolv: "", hosts: "").servers == [.init("127.0.0.1")])
    }

    @Test(
        arguments: [
            ("", "", []), ("", "box.corp.example", ["corp.example"]), ("", "box", []),
            ("search a.example b.example.\ndomain c.example d.example", "box.corp.example", ["c.example"]),
            ("domain c.example\nsearch a.example b.example.", "", ["a.example", "b.example"]),
            // As systemd-resolved writes against the domain of the machine's name.
            ("search .", "box.corp.example", [""]),
        ] as [(String, String, [String])])
    func `the search list is the file's last, or the domain of the machine's name`(
        resolv: String, hostName: String, expected: [String]
    ) {
        #expect(ResolverConfiguration(resolv: resolv, hosts: "", hostName: hostName).searchList == expected)
    }

    @Test func `options have the C library's defaults and limits`() {
        func options(_ text: String) -> ResolverConfiguration.Options {
            ResolverConfiguration(resolv: text, hosts: "").options
        }
        #expect(options("") == .init())
        let many = options("options ndots:99 timeout:99\noptions attempts:99 rotate use-vc edns0 no-aaaa no-tld-query")
        var expected = ResolverConfiguration.Options()
        (expected.dots, expected.timeout, expected.attempts) = (15, .seconds(30), 5)
        (expected.rotates, expected.isByTCP, expected.hasExtensions) = (true, true, true)
        (expected.isWithoutIPv6, expected.completesPlainNames) = (true, true)
        #expect(many == expected)
        let few = options("options ndots:-1 timeout:0 attempts:x trust-ad")
        #expect((few.dots, few.timeout, few.attempts) == (0, .seconds(1), 2))
    }

    @Test(arguments: [
        (5, 2, 1000, 4), (1, 1, 1000, 1), (1, 2, 1000, 2), (30, 5, 1000, 8), (5, 2, 250, 6),
    ])
    func `a silent server has as much time as the C library gives it, in rounds that begin short`(
        timeout: Int, attempts: Int, longest: Int, count: Int
    ) {
        let text = "options timeout:\(timeout) attempts:\(attempts)"
        let options = ResolverConfiguration(resolv: text, hosts: "").options
        let rounds = options.rounds(longest: .milliseconds(longest))
        #expect(rounds.count == count && rounds.patience <= .milliseconds(longest))
        let rest = Duration.seconds(timeout * attempts) - rounds.patience * ((1 << count) - 1)
        #expect(rest < .milliseconds(1) && rest > .milliseconds(-1))
    }
}
