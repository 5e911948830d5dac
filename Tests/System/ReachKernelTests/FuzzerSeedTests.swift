import Foundation
import ReachCore
import ReachTesting
import Testing

@testable import ReachKernel

/// The datagrams that the fuzzer starts with (contrib/fuzz/corpus). Those of nl80211 are in `WirelessParserTests`.
@Suite struct FuzzerSeedTests {
    private var seeds: [String: [UInt8]] {
        get throws {
            let folder = URL(filePath: ProjectFile.path("contrib/fuzz/corpus"))
            let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            return try files.reduce(into: [:]) { $0[$1.lastPathComponent] = Array(try Data(contentsOf: $1)) }
        }
    }

    @Test func `the seed of sockets has one that is stalled and one that has ended`() throws {
        let seed = try #require(try seeds["socket"])
        let sample = seed.withUnsafeBytes { SilenceSample(datagram: $0) }
        #expect(sample.stalled.count == 1 && sample.sinceReceived == .milliseconds(1400))
    }

    @Test func `the seed of advertisements names a domain`() throws {
        let seed = try #require(try seeds["advertisement"])
        let router = try #require(IPAddress("fe80::1"))
        let found = seed.withUnsafeBytes { RouterAdvertisement($0, hopLimit: 255, from: router) }
        #expect(found?.domain?.description == "office.example.com")
    }

    @Test func `every seed is parsed, and together they contain every kind of notice`() throws {
        var kinds: Set<String> = []
        let others = ["socket", "advertisement", "wireguard"]
        for (name, bytes) in try seeds where !others.contains(name) && !name.hasPrefix("wireless-") {
            #expect(!bytes.notices.isEmpty, "\(name)")
            kinds.formUnion(bytes.notices.map { "\($0)".prefix { $0 != "(" }.description })
        }
        #expect(
            kinds == [
                "link", "linkRemoved", "address", "addressRemoved", "neighbour", "neighbourRemoved", "route",
                "routeRemoved", "rule", "ruleRemoved", "nexthop", "nexthopRemoved", "setting",
            ])
    }
}
