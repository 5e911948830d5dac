import ReachCore
import Testing

@testable import ReachKernel

/// Options of router advertisements, as the kernel passes them on.
@Suite struct NoticeParserPortalTests {
    private typealias Kernel = KernelMessage

    private static let uri = "https://portal.example.net/api"
    private static let router: [UInt8] = [0xfe, 0x80] + [UInt8](repeating: 0, count: 13) + [1]

    private func announcement(_ uri: String) throws -> [Notice] {
        let address = try #require(IPAddress("fe80::1"))
        return [.portal(PortalAnnouncement(interface: 7, router: address, uri: uri))]
    }

    @Test(arguments: ["https://a.example/", uri, "https://a.example/12345", "https://a.example/1234567"])
    func `the URI of a portal is read without its padding`(uri: String) throws {
        let bytes = Kernel.routerOption(on: 7, Kernel.portalOption(uri), router: Self.router)
        #expect(bytes.notices == (try announcement(uri)))
    }

    @Test func `control characters and NULs within the URI stay, for others to refuse`() throws {
        let uri = "https://a.example/\u{1b}[2J\0x"
        let bytes = Kernel.routerOption(on: 7, Kernel.portalOption(uri), router: Self.router)
        #expect(bytes.notices == (try announcement(uri)))
        let invalid: [UInt8] = [37, 1, 0xff, 0xfe, 0x41, 0, 0, 0]
        #expect(
            Kernel.routerOption(on: 7, invalid, router: Self.router).notices == (try announcement("\u{fffd}\u{fffd}A")))
    }

    @Test func `other options, messages and lengths announce nothing`() {
        let option = Kernel.portalOption(Self.uri)
        var other = option
        other[0] = 25
        var empty = option
        empty[1] = 0
        var long = option
        long[1] += 1
        for (bytes, what) in [
            (Kernel.routerOption(on: 7, other, router: Self.router), "name servers"),
            (Kernel.routerOption(on: 7, empty, router: Self.router), "a length of nothing"),
            (Kernel.routerOption(on: 7, long, router: Self.router), "a length beyond the option"),
            (Kernel.routerOption(on: 7, option, icmpType: 136, router: Self.router), "a neighbour advertisement"),
            (Kernel.routerOption(on: 0, option, router: Self.router), "no interface"),
            (Kernel.routerOption(on: 7, option, router: [192, 0, 2, 1]), "a router of IPv4"),
            (Kernel.routerOption(on: 7, option, optionBytes: 600, router: Self.router), "options beyond the message"),
            (Kernel.routerOption(on: 7, option, optionBytes: 0, router: Self.router), "no options"),
            (Kernel.message(68, fixed: [10, 0, 8]), "a truncated header"),
            (Kernel.message(68, fixed: []), "nothing"),
        ] { #expect(bytes.notices == [], "\(what)") }
    }

    @Test func `no truncation of a message is read beyond its end`() {
        let whole = Kernel.routerOption(on: 7, Kernel.portalOption(Self.uri), router: Self.router)
        for length in 0..<whole.count {
            var part = Array(whole.prefix(length))
            if part.count >= 4 { part.replaceSubrange(0..<4, with: Kernel.number(UInt32(length))) }
            #expect(part.notices == [], "\(length) bytes")
        }
    }

    @Test func `the kernel's filter passes portals, and no other option of an advertisement`() throws {
        let filter = SocketFilter().program
        let portal = Kernel.routerOption(on: 7, Kernel.portalOption(Self.uri), router: Self.router)
        #expect(try BPFMachine(filter).passes(portal))
        for type: UInt8 in [25, 31, 38, 3] {
            var option = Kernel.portalOption(Self.uri)
            option[0] = type
            #expect(try !BPFMachine(filter).passes(Kernel.routerOption(on: 7, option, router: Self.router)))
        }
    }
}
