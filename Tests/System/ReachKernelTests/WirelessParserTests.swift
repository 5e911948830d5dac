import Foundation
import ReachCore
import ReachTesting
import Testing

@testable import ReachKernel

/// Messages of nl80211. Those of `contrib/fuzz/corpus` are from Linux 6.1 with mac80211_hwsim, hostapd and
/// wpa_supplicant.
@Suite struct WirelessParserTests {
    private typealias Kernel = KernelMessage

    private static func captured(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: ProjectFile.path("contrib/fuzz/corpus/wireless-" + name))))
    }

    /// A message with the header of generic netlink.
    private static func message(_ command: UInt8, type: UInt16 = 32, _ attributes: [UInt8]...) -> [UInt8] {
        Kernel.message(type, fixed: [command, 1, 0, 0], attributes)
    }

    private func notices(_ bytes: [UInt8]) -> [WirelessNotice] { bytes.withUnsafeBytes(WirelessParser.notices) }

    private func parse<T>(_ bytes: [UInt8], _ read: (Message) -> T?) -> T? {
        bytes.withUnsafeBytes { Messages($0).lazy.compactMap(read).first }
    }

    @Test func `what a kernel says of a link that has joined a network`() throws {
        let interface = try #require(try parse(Self.captured("interface"), WirelessParser.interface))
        #expect(interface.index == 2 && interface.isStation && interface.frequency == 2412)
        let peer = try #require(try parse(Self.captured("station"), WirelessParser.peer))
        #expect(peer.address.description == "02:00:00:00:01:00" && peer.signal == -30)
        #expect(peer.sendRate == 54_000 && peer.receiveRate == 1000)
        let network = try #require(try parse(Self.captured("scan"), WirelessParser.joinedNetwork))
        #expect(network.network.ssid?.description == "lab-wifi" && network.security == .wpa2)
        #expect(network.network.bssid?.description == "02:00:00:00:01:00")
    }

    @Test func `what a kernel says when a link joins and leaves`() throws {
        #expect(try notices(Self.captured("connect")) == [WirelessNotice(interface: 2, kind: .connected)])
        #expect(
            try notices(Self.captured("disconnect"))
                == [WirelessNotice(interface: 2, kind: .disconnected(mayReturn: true))])
    }

    @Test func `only leaving by itself and without a reason may be the way to another access point`() {
        let index = Kernel.attribute(3, UInt32(7))
        for (reason, byOther, mayReturn) in [
            (UInt16(1), false, true), (3, false, false), (4, false, false), (15, false, false), (1, true, false),
        ] {
            let parts = [index, Kernel.attribute(54, reason)] + (byOther ? [Kernel.attribute(71, [])] : [])
            let bytes = Kernel.message(32, fixed: [48, 1, 0, 0], parts)
            #expect(
                notices(bytes) == [WirelessNotice(interface: 7, kind: .disconnected(mayReturn: mayReturn))],
                "reason \(reason), by the access point: \(byOther)")
        }
    }

    @Test func `a refusal to connect, other commands and messages without an interface are no notices`() {
        let index = Kernel.attribute(3, UInt32(7))
        #expect(notices(Self.message(46, index, Kernel.attribute(72, UInt16(0)))).count == 1)
        #expect(notices(Self.message(46, index, Kernel.attribute(72, UInt16(1)))).isEmpty, "refused")
        #expect(notices(Self.message(47, index)) == [WirelessNotice(interface: 7, kind: .roamed)])
        #expect(notices(Self.message(37, index)).isEmpty, "an authentication")
        #expect(notices(Self.message(46)).isEmpty)
        #expect(notices(Self.message(46, Kernel.attribute(3, UInt32(0)))).isEmpty)
        #expect(notices(Self.message(46, type: 2, index)).isEmpty, "an error of netlink")
    }

    @Test func `an access point of this machine has joined no network`() {
        let bytes = Self.message(
            7, Kernel.attribute(3, UInt32(7)), Kernel.attribute(5, UInt32(3)), Kernel.attribute(52, Array("mine".utf8)))
        #expect(parse(bytes, WirelessParser.interface)?.isStation == false)
    }

    @Test func `the names of hostile access points are at most 32 bytes, whatever they are`() {
        for (name, expected) in [
            ([UInt8](repeating: 0x41, count: 33), nil), ([], nil), ([0, 0, 0], nil),
            ([0x1b, 0x5b, 0x32, 0x4a], "\\x1b[2J"), ([0xff, 0x41], "\\xffA"), ([0x41, 0x00], "A\\x00"),
        ] as [([UInt8], String?)] {
            let bytes = Self.message(
                7, Kernel.attribute(3, UInt32(7)), Kernel.attribute(5, UInt32(2)), Kernel.attribute(52, name))
            #expect(parse(bytes, WirelessParser.interface)?.ssid?.description == expected, "\(name)")
        }
    }

    @Test(arguments: ["interface", "station", "scan", "connect", "disconnect"])
    func `no truncation of a message is read beyond its end, and no damage crashes`(name: String) throws {
        let whole = try Self.captured(name)
        var random = SeededGenerator(seed: 7)
        for length in stride(from: 16, to: whole.count, by: 3) {
            var part = Array(whole.prefix(length))
            part.replaceSubrange(0..<4, with: Kernel.number(UInt32(length)))
            part[Int(random.next() % UInt64(length - 4)) + 4] = UInt8(truncatingIfNeeded: random.next())
            _ = notices(part)
            _ = parse(part, WirelessParser.interface)
            _ = parse(part, WirelessParser.peer)
            _ = parse(part, WirelessParser.joinedNetwork)
        }
    }

    @Test func `the kernel drops all notices but those of connections`() throws {
        let machine = try BPFMachine(SocketFilter.wireless)
        for command in UInt8.min ... .max {
            let bytes = Self.message(command, Kernel.attribute(3, UInt32(7)))
            #expect(try machine.passes(bytes) == [46, 47, 48].contains(command), "\(command)")
        }
    }
}
