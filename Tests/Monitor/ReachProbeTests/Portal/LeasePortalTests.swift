import Foundation
import ReachCore
import ReachTesting
import Testing

@testable import ReachProbe

/// Leases as each client stores them, with addresses of the documentation.
@Suite struct LeasePortalTests {
    private static let uri = "https://portal.example.net/api"
    private let own = Set(["192.0.2.10", "2001:db8::10"].compactMap { IPAddress($0) })
    private let others = Set(["198.51.100.10", "2001:db8:1::10"].compactMap { IPAddress($0) })

    @Test func `the file of a link of systemd-networkd`() {
        let text = """
            # This is private data. Do not parse.
            ADMIN_STATE=configured
            OPER_STATE=routable
            DNS=192.0.2.1
            CAPTIVE_PORTAL=https://portal.example.net/api
            DOMAINS=
            """
        #expect(LeasePortal.networkd(text) == Self.uri)
        #expect(LeasePortal.networkd("ADMIN_STATE=configured\nXCAPTIVE_PORTAL=x\n") == nil)
        #expect(LeasePortal.networkd("CAPTIVE_PORTAL=\n") == nil)
        #expect(LeasePortal.networkd("") == nil)
    }

    @Test func `the file of the hook for udhcpc`() {
        #expect(LeasePortal.hook("https://portal.example.net/api\n") == Self.uri)
        #expect(LeasePortal.hook("https://portal.example.net/api\0\n") == Self.uri)
        #expect(LeasePortal.hook("") == nil)
        #expect(LeasePortal.hook("\n") == nil)
    }

    private func packet(_ options: [UInt8], magic: [UInt8] = [0x63, 0x82, 0x53, 0x63]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 236)
        bytes[0] = 2
        bytes.replaceSubrange(16..<20, with: [192, 0, 2, 10])
        return bytes + magic + [53, 1, 5] + options
    }

    private func option(_ code: UInt8 = 114, _ text: String = uri) -> [UInt8] {
        [code, UInt8(text.utf8.count)] + Array(text.utf8)
    }

    @Test func `a lease of dhcpcd is the message that was received`() {
        #expect(LeasePortal.dhcpcd(packet(option() + [255]), addresses: own) == Self.uri)
        #expect(LeasePortal.dhcpcd(packet([0, 0] + option() + [255]), addresses: own) == Self.uri)
        let parts = option(114, "https://portal.") + [3, 4, 192, 0, 2, 1] + option(114, "example.net/api")
        #expect(LeasePortal.dhcpcd(packet(parts), addresses: own) == Self.uri, "RFC 3396")
        #expect(LeasePortal.dhcpcd(packet(option(114, Self.uri + "\0")), addresses: own) == Self.uri)
    }

    @Test func `dhcpcd keeps a lease for each Wi-Fi network, and the present one's counts`() throws {
        let files = try TemporaryDirectory()
        try ChildProcess.run(["mkdir", "-p", files.path + "/var/lib/dhcpcd"])
        func write(_ name: String, _ address: [UInt8], _ uri: String) throws {
            var bytes = packet(option(114, uri))
            bytes.replaceSubrange(16..<20, with: address)
            let path = files.path + "/var/lib/dhcpcd/" + name
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            try ChildProcess.run(["chmod", "644", path])
        }
        try write("wlan0-a cafe.lease", [192, 0, 2, 10], Self.uri)
        try write("wlan0-home.lease", [198, 51, 100, 10], "https://home.example.net/")
        try write("wlan1-home.lease", [192, 0, 2, 10], "https://other.example.net/")
        let reader = LeaseReader(root: files.path + "/")
        #expect(reader.portal(of: "wlan0", 3, addresses: own) == Self.uri)
        #expect(reader.portal(of: "wlan0", 3, addresses: others) == "https://home.example.net/")
        #expect(reader.portal(of: "wlan", 4, addresses: own) == nil)
    }

    @Test func `a lease for another address is that of another network`() {
        #expect(LeasePortal.dhcpcd(packet(option() + [255]), addresses: others) == nil)
        #expect(LeasePortal.dhcpcd6(message(), addresses: others) == nil)
        #expect(LeasePortal.dhclient(Self.leases, interface: "eth0", addresses: others) == nil)
    }

    @Test func `damaged messages announce nothing, and are not read beyond their end`() {
        let whole = packet(option())
        for length in 0..<whole.count {
            #expect(LeasePortal.dhcpcd(Array(whole.prefix(length)), addresses: own) == nil, "\(length) bytes")
        }
        #expect(LeasePortal.dhcpcd(packet([255] + option()), addresses: own) == nil)
        #expect(LeasePortal.dhcpcd(packet(option(), magic: [1, 2, 3, 4]), addresses: own) == nil)
        #expect(LeasePortal.dhcpcd(packet([114, 0, 255]), addresses: own) == nil)
        let message = message()
        for length in 0..<message.count {
            #expect(LeasePortal.dhcpcd6(Array(message.prefix(length)), addresses: own) == nil, "\(length) bytes")
        }
    }

    /// A reply of DHCPv6: an address, then the portal.
    private func message() -> [UInt8] {
        let address: [UInt8] = [0x20, 1, 0xd, 0xb8] + [UInt8](repeating: 0, count: 11) + [0x10]
        let inner: [UInt8] = [0, 5, 0, 24] + address + [0, 0, 1, 0, 0, 0, 2, 0]
        let association: [UInt8] = [0, 3, 0, 40, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0] + inner
        return [7, 1, 2, 3] + association + [0, 103, 0, UInt8(Self.uri.utf8.count)] + Array(Self.uri.utf8)
    }

    @Test func `a lease of dhcpcd for IPv6 is a message, too`() {
        #expect(LeasePortal.dhcpcd6(message(), addresses: own) == Self.uri)
    }

    private static let leases = """
        lease {
          interface "eth0";
          fixed-address 192.0.2.10;
          option subnet-mask 255.255.255.0;
          option default-url "https://old.example.net/";
          renew 1 2026/11/23 00:10:00;
        }
        lease {
          interface "eth0";
          fixed-address 192.0.2.10;
          option default-url "https://portal.example.net/api";
          expire 1 2026/11/23 01:10:00;
        }
        lease {
          interface "eth1";
          fixed-address 192.0.2.10;
          option default-url "https://other.example.net/";
        }
        """

    @Test func `of dhclient's leases the last one for the interface counts`() {
        #expect(LeasePortal.dhclient(Self.leases, interface: "eth0", addresses: own) == Self.uri)
        #expect(
            LeasePortal.dhclient(Self.leases, interface: "eth1", addresses: own) == "https://other.example.net/")
        #expect(LeasePortal.dhclient(Self.leases, interface: "eth2", addresses: own) == nil)
    }

    @Test(arguments: [
        #"option unknown-114 "https://portal.example.net/api";"#,
        #"option v4-captive-portal "https://portal.example.net/api";"#,
        "option unknown-114 68:74:74:70:73:3a:2f:2f:70:6f:72:74:61:6c:2e:65:78:61:6d:70:6c:65:2e:6e:65:74:2f:61:70:69;",
    ])
    func `dhclient calls the option by several names, and quotes it or not`(line: String) {
        let text = "lease {\n  interface \"eth0\";\n  fixed-address 192.0.2.10;\n  \(line)\n}\n"
        #expect(LeasePortal.dhclient(text, interface: "eth0", addresses: own) == Self.uri)
    }

    @Test func `a lease of dhclient for IPv6 has its address within blocks`() {
        let text = """
            lease6 {
              interface "eth0";
              ia-na 00:00:00:01 {
                starts 1795392000;
                iaaddr 2001:db8::10 {
                  preferred-life 600;
                }
              }
              option dhcp6.v6-captive-portal "https://portal.example.net/api";
            }
            """
        #expect(LeasePortal.dhclient(text, interface: "eth0", addresses: own) == Self.uri)
        #expect(LeasePortal.dhclient(text, interface: "eth0", addresses: others) == nil)
    }

    @Test func `a truncated file of dhclient gives an earlier lease or none`() {
        for length in 0..<Self.leases.utf8.count {
            let text = String(decoding: Self.leases.utf8.prefix(length), as: UTF8.self)
            let found = LeasePortal.dhclient(text, interface: "eth0", addresses: own)
            #expect([nil, "https://old.example.net/", Self.uri].contains(found), "\(length) bytes")
        }
    }
}
