import Foundation
import ReachCore
import ReachKernel
import Testing

/// A directory that looks like /sys/class/net, removed with the value.
private struct FakeSysfs: ~Copyable {
    let root = FileManager.default.temporaryDirectory.appending(path: "reach-sysfs-\(UUID().uuidString)").path

    deinit { try? FileManager.default.removeItem(atPath: root) }

    var net: String { root + "/net" }

    func interface(_ name: String, index: InterfaceIndex, deviceType: String? = nil, address: String = "") throws {
        try FileManager.default.createDirectory(atPath: "\(net)/\(name)", withIntermediateDirectories: true)
        let type = deviceType.map { "DEVTYPE=\($0)\n" } ?? ""
        try write("\(type)INTERFACE=\(name)\nIFINDEX=\(index)\n", to: "net/\(name)/uevent")
        try write("\(address)\n", to: "net/\(name)/address")
    }

    func write(_ text: String, to path: String) throws {
        try text.write(toFile: "\(root)/\(path)", atomically: false, encoding: .utf8)
    }

    func directory(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: "\(net)/\(path)", withIntermediateDirectories: true)
    }

    func reader() -> LinkTraitsReader { LinkTraitsReader(sysfs: net, pppoeSessions: root + "/pppoe") }
}

@Suite struct LinkTraitsReaderTests {
    private func link(_ index: InterfaceIndex, _ name: String, address: [UInt8] = [], kind: String? = nil) -> Link {
        var link = Link(index: index, name: name)
        link.hardwareAddress = address
        link.kind = kind
        return link
    }

    // Far from any index of the machine itself, so that ioctls find no such link either.
    private let index: InterfaceIndex = 1_000_007
    private let address: [UInt8] = [2, 0, 0, 0xab, 0xcd, 0xef]

    @Test func `all traits of a Wi-Fi adapter are read`() throws {
        let sysfs = FakeSysfs()
        try sysfs.interface("fakewlan0", index: index, deviceType: "wlan", address: "02:00:00:ab:cd:ef")
        for entry in ["phy80211", "wireless", "device"] { try sysfs.directory("fakewlan0/\(entry)") }
        try FileManager.default.createSymbolicLink(
            atPath: sysfs.net + "/fakewlan0/device/driver", withDestinationPath: "../../../bus/usb/drivers/rt2800usb")

        var expected = LinkTraits()
        expected.deviceType = "wlan"
        expected.driver = "rt2800usb"
        expected.hasPHY80211 = true
        expected.hasWirelessExtensions = true
        expected.hasDevice = true
        #expect(sysfs.reader().traits(of: link(index, "fakewlan0", address: address)) == expected)
    }

    @Test func `a link that sysfs shows with another index or address belongs to another namespace`() throws {
        let sysfs = FakeSysfs()
        try sysfs.interface("fake0", index: index, deviceType: "wwan", address: "02:00:00:ab:cd:ef")
        let reader = sysfs.reader()
        #expect(reader.traits(of: link(index, "fake0", address: address)).deviceType == "wwan")
        #expect(reader.traits(of: link(index + 1, "fake0", address: address)) == LinkTraits())
        #expect(reader.traits(of: link(index, "fake0", address: [2, 0, 0, 1, 2, 3])) == LinkTraits())
        #expect(reader.traits(of: link(index, "fake0")) == LinkTraits())
        #expect(reader.traits(of: link(index, "fake1", address: address)) == LinkTraits())
    }

    @Test func `a link without an address is read, such as a raw-IP modem`() throws {
        let sysfs = FakeSysfs()
        try sysfs.interface("fake0", index: index, deviceType: "wwan")
        #expect(sysfs.reader().traits(of: link(index, "fake0")).deviceType == "wwan")
    }

    @Test func `an address changed since the notice is checked with the kernel`() throws {
        let sysfs = FakeSysfs()
        try sysfs.interface("lo", index: 1, deviceType: "wlan", address: "00:00:00:00:00:00")
        #expect(sysfs.reader().traits(of: link(1, "lo", address: address)).deviceType == "wlan")
    }

    @Test(arguments: ["", ".", "..", "../net/fake0", "fake0/", "fake0\0"])
    func `no name leads to another directory`(name: String) throws {
        let sysfs = FakeSysfs()
        try sysfs.interface("fake0", index: index, deviceType: "wlan")
        for place in ["uevent", "net/uevent"] { try sysfs.write("DEVTYPE=wlan\nIFINDEX=\(index)\n", to: place) }
        for place in ["address", "net/address"] { try sysfs.write("\n", to: place) }
        #expect(sysfs.reader().traits(of: link(index, name)) == LinkTraits())
    }

    @Test(arguments: ["wlän0", "a b", "\u{1}\u{7f}", "\"'$(x)"])
    func `unusual names are read`(name: String) throws {
        let sysfs = FakeSysfs()
        try sysfs.interface(name, index: index, deviceType: "wlan")
        #expect(sysfs.reader().traits(of: link(index, name)).deviceType == "wlan")
    }

    @Test func `a name that is not UTF-8 is looked up by index`() throws {
        let sysfs = FakeSysfs()
        try sysfs.interface("lo", index: 1, deviceType: "wlan")
        #expect(sysfs.reader().traits(of: link(1, "\u{FFFD}")).deviceType == "wlan")
    }

    @Test func `a link that netlink classifies is not read from sysfs`() throws {
        let sysfs = FakeSysfs()
        try sysfs.interface("fake0", index: index, deviceType: "wlan")
        #expect(sysfs.reader().traits(of: link(index, "fake0", kind: "veth")) == LinkTraits())
    }

    private static let headings = "Id       Address              Device\n"

    @Test(arguments: [
        (nil, nil), ("", nil), (headings, nil),
        (headings + "00000100 02:00:5e:00:53:01     eth0\n", "eth0"),
        (
            headings + "00000100 02:00:5e:00:53:01 enp3s0f1np1.7\n00000200 02:00:5e:00:53:01 enp3s0f1np1.7\n",
            "enp3s0f1np1.7"
        ),
        (headings + "00000100 02:00:5e:00:53:01     eth0\n00000200 02:00:5e:00:53:02     eth1\n", nil),
    ])
    func `the interface of PPPoE sessions is known if all sessions share it`(sessions: String?, interface: String?)
        throws
    {
        let sysfs = FakeSysfs()
        try sysfs.directory("")
        if let sessions { try sysfs.write(sessions, to: "pppoe") }
        #expect(sysfs.reader().traits(of: link(index, "ppp0", kind: "ppp")).pppoeInterface == interface)
        #expect(sysfs.reader().traits(of: link(index, "fake0")).pppoeInterface == nil)
    }

    @Test func `the loopback interface of the real kernel has no traits`() {
        let traits = LinkTraitsReader().traits(of: link(1, "lo", address: [UInt8](repeating: 0, count: 6)))
        #expect(traits == LinkTraits())
    }

    @Test func `without sysfs ethtool answers, and reports no device for the loopback interface`() {
        #expect(LinkTraitsReader(sysfs: "/nonexistent").traits(of: link(1, "lo")) == LinkTraits())
    }
}
