import ReachCore
import Testing

@testable import ReachKernel

/// Advertisements of routers with provisioning domains (RFC 8801), as bytes.
@Suite struct RouterAdvertisementTests {
    private static let header: [UInt8] = [134, 0, 0, 0, 64, 0, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0]
    private static let mtu: [UInt8] = [5, 1, 0, 0, 0, 0, 5, 220]

    private static func option(_ labels: [String], flags: UInt8 = 0x80, rest: [UInt8] = []) -> [UInt8] {
        option(name: labels.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0], flags: flags, rest: rest)
    }

    private static func option(name: [UInt8], flags: UInt8 = 0x80, rest: [UInt8] = []) -> [UInt8] {
        var bytes: [UInt8] = [21, 0, flags, 0, 0, 9] + name
        while bytes.count % 8 != 0 { bytes.append(0) }
        bytes += rest
        bytes[1] = UInt8(bytes.count / 8)
        return bytes
    }

    private func read(
        _ bytes: [UInt8], hopLimit: CInt = 255, from source: String = "fe80::1"
    ) throws -> RouterAdvertisement? {
        let source = try #require(IPAddress(source))
        return bytes.withUnsafeBytes { RouterAdvertisement($0, hopLimit: hopLimit, from: source) }
    }

    @Test(arguments: [
        [mtu, option(["office", "example", "com"])], [option(["Office", "EXAMPLE", "com"])],
        // With a header of its own and options in it, which are not read.
        [option(["office", "example", "com"], flags: 0xe0, rest: header + option(["inner", "example"])), mtu],
        [option(["office", "example", "com"]), option(["second", "example"])],
    ])
    func `the first domain is read, in lower case, among other options`(options: [[UInt8]]) throws {
        let found = try #require(try read(Self.header + options.joined()))
        #expect(found.domain == ProvisioningDomain("office.example.com") && found.isRouter)
    }

    @Test func `a router with no lifetime is no default router, and one without the option has no domain`() throws {
        var ending = Self.header + Self.option(["office", "example"])
        ending.replaceSubrange(6...7, with: [0, 0])
        #expect(try read(ending)?.isRouter == false)
        let plain = try #require(try read(Self.header + Self.mtu))
        #expect(plain.isRouter && plain.domain == nil)
    }

    @Test func `what a router or another network passed on, and what no host may accept, is discarded`() throws {
        let good = Self.header + Self.option(["office", "example"])
        #expect(try read(good) != nil)
        #expect(try read(good, hopLimit: 254) == nil && read(good, hopLimit: -1) == nil)
        #expect(try read(good, from: "2001:db8::1") == nil && read(good, from: "169.254.0.1") == nil)
        for (place, value) in [(0, 133), (1, 1), (16 + 1, 0), (16 + 1, 9)] as [(Int, UInt8)] {
            var bad = good
            bad[place] = value
            #expect(try read(bad) == nil, "\(place)")
        }
        #expect(try read(good + [3]) == nil)
    }

    @Test(
        arguments: [
            [0], [3, 97, 98, 99], [0xc0, 12, 0], [64, 97, 0], [3, 97, 46, 98, 0], [1, 0x1b, 0], [1, 0xe4, 0],
            [UInt8](repeating: 63, count: 64 * 4) + [0],
        ] as [[UInt8]])
    func `a name that is compressed, too long, cut off or no host name is no domain`(name: [UInt8]) throws {
        var bytes: [UInt8] = [21, 0, 0, 0, 0, 0] + name
        // Without an end in the padding.
        while bytes.count % 8 != 0 { bytes.append(0xff) }
        bytes[1] = UInt8(bytes.count / 8)
        #expect(try read(Self.header + bytes)?.domain == nil)
        #expect(try read(Self.header + bytes) != nil)
    }

    @Test func `no truncation is read beyond its end`() throws {
        let whole = Self.header + Self.mtu + Self.option(["office", "example", "com"])
        for length in 0..<whole.count {
            #expect(try read(Array(whole.prefix(length)))?.domain == nil)
        }
    }
}
