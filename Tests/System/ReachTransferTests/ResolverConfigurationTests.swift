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
}
