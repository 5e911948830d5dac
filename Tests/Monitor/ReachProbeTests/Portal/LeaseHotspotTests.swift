import Foundation
import ReachCore
import ReachTesting
import Testing

@testable import ReachProbe

/// The mark of Android's hotspots in leases as each client stores them.
@Suite struct LeaseHotspotTests {
    private let own = Set(["192.0.2.10"].compactMap { IPAddress($0) })
    private let others = Set(["198.51.100.10"].compactMap { IPAddress($0) })
    private static let mark = Array("ANDROID_METERED".utf8)

    private func packet(_ options: [UInt8]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 236)
        bytes.replaceSubrange(16..<20, with: [192, 0, 2, 10])
        return bytes + [0x63, 0x82, 0x53, 0x63, 53, 1, 5] + options
    }

    @Test func `a lease of systemd-networkd`() {
        let text = "# This is private data. Do not parse.\nADDRESS=192.0.2.10\nNETMASK=255.255.255.0\n"
        let marked = text + "VENDOR_SPECIFIC=414e44524f49445f4d455445524544\n"
        #expect(LeaseHotspot.networkd(marked, addresses: own) == true)
        #expect(LeaseHotspot.networkd(marked, addresses: others) == nil, "a lease of another network")
        #expect(LeaseHotspot.networkd(text, addresses: own) == false)
        for digits in ["", "4", "414e44", "zz", "414e44524f49445f4d45544552454"] {
            #expect(LeaseHotspot.networkd(text + "VENDOR_SPECIFIC=\(digits)\n", addresses: own) == false, "\(digits)")
        }
        #expect(
            LeaseHotspot.networkd("VENDOR_SPECIFIC=414e44524f49445f4d455445524544", addresses: own) == nil, "no address"
        )
    }

    @Test func `what NetworkManager says of a link, of which only a guess is about the lease`() {
        let answers = [-110, -2, 0, 1, 2, 3, 4].map { LeaseHotspot.networkManager($0) }
        #expect(answers == [nil, nil, nil, false, false, true, false])
    }

    @Test func `a lease of dhcpcd`() {
        let option = [43, UInt8(Self.mark.count)] + Self.mark
        #expect(LeaseHotspot.dhcpcd(packet(option + [255]), addresses: own) == true)
        #expect(LeaseHotspot.dhcpcd(packet(option + [255]), addresses: others) == nil)
        #expect(
            LeaseHotspot.dhcpcd(packet([60, UInt8(Self.mark.count)] + Self.mark), addresses: own) == false,
            "another option")
        #expect(
            LeaseHotspot.dhcpcd(packet([43, 19, 1, 2] + Self.mark + [9, 9]), addresses: own) == true,
            "within suboptions")
        for length in 0..<packet(option).count {
            _ = LeaseHotspot.dhcpcd(Array(packet(option).prefix(length)), addresses: own)
        }
    }

    @Test(arguments: [
        ("vendor-encapsulated-options 41:4e:44:52:4f:49:44:5f:4d:45:54:45:52:45:44", true),
        ("vendor-encapsulated-options \"ANDROID_METERED\"", true), ("unknown-43 \"ANDROID_METERED\"", true),
        ("vendor-encapsulated-options 41:4e", false), ("host-name \"ANDROID_METERED\"", false),
    ])
    func `a lease of dhclient`(option: String, isHotspot: Bool) {
        let text = """
            lease {
              interface "wlan0";
              fixed-address 192.0.2.10;
              option \(option);
            }
            """
        #expect(LeaseHotspot.dhclient(text, interface: "wlan0", addresses: own) == isHotspot)
        #expect(LeaseHotspot.dhclient(text, interface: "wlan1", addresses: own) == nil)
        #expect(LeaseHotspot.dhclient(text, interface: "wlan0", addresses: others) == nil)
    }

    /// The places of Debian, Fedora, RHEL, Arch and SUSE, of NetworkManager, and of what starts dhclient by itself.
    @Test(arguments: [
        "var/lib/dhcp/dhclient.leases", "var/lib/dhclient/dhclient.leases", "var/lib/dhclient/dhclient-uplink0.leases",
        "var/lib/dhclient/dhclient--uplink0.lease", "var/lib/dhclient/dhclient6-uplink0.leases",
        "var/lib/dhclient/dhclient-6ba7b810-9dad-11d1-80b4-00c04fd430c8-uplink0.lease",
        "var/lib/NetworkManager/dhclient-6ba7b810-9dad-11d1-80b4-00c04fd430c8-uplink0.lease",
        "run/NetworkManager/dhcp/dhclient-uplink0.lease", "run/dhclient.uplink0.leases",
    ])
    func `a lease of dhclient is found wherever a distribution keeps it`(place: String) throws {
        let files = try TemporaryDirectory()
        try ChildProcess.run([
            "mkdir", "-p", files.path + "/" + place.split(separator: "/").dropLast().joined(separator: "/"),
        ])
        let text = """
            lease {
              interface "uplink0";
              fixed-address 192.0.2.10;
              filename "http://192.0.2.1/boot?mac=${net0/mac}";
              option vendor-encapsulated-options "ANDROID_METERED";
            }
            """
        try files.file(place, text, mode: 0o644)
        let reader = LeaseReader(root: files.path + "/")
        func isHotspot(_ name: String) -> Bool? {
            reader.isAndroidHotspot(LeaseQuestion(interface: 7, name: name, gateways: [], addresses: own))
        }
        #expect(isHotspot("uplink0") == true)
        #expect(isHotspot("link0") == nil, "another link, whose name ends the same")
    }

    @Test(arguments: [
        "var/lib/dhcpcd/wlan3.lease", "var/lib/dhcpcd5/wlan3-café.lease", "var/db/dhcpcd/wlan3.lease",
        "var/lib/dhcpcd/dhcpcd-wlan3.lease", "var/lib/dhcpcd/var/lib/dhcpcd/wlan3.lease",
    ])
    func `a lease of dhcpcd is found wherever a version keeps it`(place: String) throws {
        let files = try TemporaryDirectory()
        let path = files.path + "/" + place
        try ChildProcess.run(["mkdir", "-p", URL(fileURLWithPath: path).deletingLastPathComponent().path])
        try Data(packet([43, UInt8(Self.mark.count)] + Self.mark + [255])).write(to: URL(fileURLWithPath: path))
        try ChildProcess.run(["chmod", "644", path])
        let question = LeaseQuestion(interface: 7, name: "wlan3", gateways: [], addresses: own)
        #expect(LeaseReader(root: files.path + "/").isAndroidHotspot(question) == true)
    }

    @Test func `the hook for udhcpc stores the options that reachd reads, and removes them with the lease`() throws {
        let files = try TemporaryDirectory()
        let script = ProjectFile.path("contrib/udhcpc/reach-portal")
        let run = { (event: String, vendor: String) in
            try ChildProcess.run([
                "env", "interface=eth0", "opt43=\(vendor)", "REACH_PORTAL_DIRECTORY=\(files.path)/run/reach-portal",
                "sh", script, event,
            ])
        }
        let reader = LeaseReader(root: files.path + "/")
        let question = LeaseQuestion(interface: 1, name: "eth0", gateways: [], addresses: own)
        _ = try run("bound", "414e44524f49445f4d455445524544")
        #expect(reader.isAndroidHotspot(question) == true)
        _ = try run("renew", "4142")
        #expect(reader.isAndroidHotspot(question) != true)
        _ = try run("renew", "$(touch /tmp/x)")
        #expect(reader.isAndroidHotspot(question) != true)
        _ = try run("bound", "414e44524f49445f4d455445524544")
        _ = try run("deconfig", "")
        #expect(reader.isAndroidHotspot(question) != true)
    }

    @Test func `a lease that another user may write is not read`() throws {
        let files = try TemporaryDirectory()
        try ChildProcess.run(["mkdir", "-p", files.path + "/run/systemd/netif/leases"])
        let text = "ADDRESS=192.0.2.10\nVENDOR_SPECIFIC=414e44524f49445f4d455445524544\n"
        let reader = LeaseReader(root: files.path + "/")
        let question = LeaseQuestion(interface: 7, name: "wlan0", gateways: [], addresses: own)
        for (mode, isHotspot) in [(mode_t(0o644), true), (0o664, false), (0o646, false)] {
            try files.file("run/systemd/netif/leases/7", text, mode: mode)
            #expect(reader.isAndroidHotspot(question) == (isHotspot ? true : nil), "\(mode)")
        }
    }
}
