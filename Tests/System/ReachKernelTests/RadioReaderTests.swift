import Foundation
import ReachCore
import ReachKernel
import Testing

/// A directory that looks like /sys and like the settings of IPv6, removed with the value.
private struct FakeSystem: ~Copyable {
    let root = FileManager.default.temporaryDirectory.appending(path: "reach-radio-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: root) }

    var reader: RadioReader { RadioReader(sysfs: root, settings: root + "/conf") }

    func write(_ text: String, to path: String) throws {
        let folder = (path as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: "\(root)/\(folder)", withIntermediateDirectories: true)
        try (text + "\n").write(toFile: "\(root)/\(path)", atomically: false, encoding: .utf8)
    }

    func radio(_ number: Int, _ type: String, name: String, soft: Bool = false, hard: Bool = false) throws {
        let folder = "class/rfkill/rfkill\(number)"
        try write(type, to: folder + "/type")
        try write(name, to: folder + "/name")
        try write(soft ? "1" : "0", to: folder + "/soft")
        try write(hard ? "1" : "0", to: folder + "/hard")
    }

    func wifi(_ interface: String, _ device: String) throws {
        try write(device, to: "class/net/\(interface)/phy80211/name")
    }
}

@Suite struct RadioReaderTests {
    private let wlan0 = Link(index: 3, name: "wlan0")

    @Test(
        arguments: [
            (false, false, nil), (true, false, .blockedBySoftware), (false, true, .blockedByHardware),
            (true, true, .blockedByHardware),
        ] as [(Bool, Bool, RootCauseFinder.Radio?)])
    func `a radio is switched off by software or by hardware`(soft: Bool, hard: Bool, block: RootCauseFinder.Radio?)
        throws
    {
        let system = FakeSystem()
        try system.wifi("wlan0", "phy0")
        try system.radio(0, "wlan", name: "phy0", soft: soft, hard: hard)
        #expect(system.reader.block(of: wlan0, .wifi) == block)
        #expect(system.reader.block(of: wlan0, .wwan) == nil, "a switch of another kind")
        #expect(system.reader.block(of: wlan0, .wired) == nil)
    }

    @Test func `a Wi-Fi adapter has a switch of its own, others have those of the machine`() throws {
        let system = FakeSystem()
        try system.wifi("wlan0", "phy0")
        try system.wifi("wlan1", "phy1")
        try system.radio(0, "wlan", name: "phy0")
        try system.radio(1, "wlan", name: "phy1", soft: true)
        try system.radio(7, "wwan", name: "tpacpi_wwan_sw", hard: true)
        #expect(system.reader.block(of: wlan0, .wifi) == nil)
        #expect(system.reader.block(of: Link(index: 4, name: "wlan1"), .wifi) == .blockedBySoftware)
        #expect(system.reader.block(of: Link(index: 5, name: "wwan0"), .wwan) == .blockedByHardware)
        #expect(system.reader.block(of: Link(index: 6, name: "bnep0"), .bluetooth) == nil)
    }

    @Test func `a machine without switches, and one that shows nothing, blocks no radio`() throws {
        let system = FakeSystem()
        #expect(system.reader.block(of: wlan0, .wifi) == nil)
        try system.write("", to: "class/rfkill/rfkill0/type")
        #expect(system.reader.block(of: wlan0, .wifi) == nil)
        #expect(!system.reader.disablesIPv6(on: wlan0))
    }

    @Test func `IPv6 is disabled by a setting, or where the link has no settings of it`() throws {
        let system = FakeSystem()
        try system.write("0", to: "conf/all/disable_ipv6")
        try system.write("0", to: "conf/eth0/disable_ipv6")
        try system.write("1", to: "conf/eth1/disable_ipv6")
        #expect(!system.reader.disablesIPv6(on: Link(index: 2, name: "eth0")))
        #expect(system.reader.disablesIPv6(on: Link(index: 3, name: "eth1")))
        #expect(system.reader.disablesIPv6(on: Link(index: 4, name: "slow0")), "an MTU below 1280")
        #expect(!system.reader.disablesIPv6(on: Link(index: 5, name: "../eth1")))
    }
}
